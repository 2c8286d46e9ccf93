// Price indices by CSV, over the operator API and the command line: all rows or none, and each problem names its line and column.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { register } from '#cli/indices.ts'
import { runCommand } from '../support/command-line.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'

let node: TestNode
let folder: string

beforeAll(async () => {
  node = await startTestNode()
  folder = mkdtempSync(join(tmpdir(), 'mintmark-indices-'))
})
beforeEach(async () => {
  await node.db.kysely.deleteFrom('price_indices').execute()
})
afterAll(async () => {
  await node.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Month {
  index: string
  month: string
  value: number
}

const post = (body: string | Uint8Array<ArrayBuffer>) =>
  send<{ indices: number }>(`${node.operatorUrl}/operator/v1/indices`, OPERATOR_TOKEN, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/csv' },
  })
const months = async () => {
  const { body } = await send<Month[]>(`${node.operatorUrl}/operator/v1/indices?per_page=100`, OPERATOR_TOKEN)
  return body.data.map(({ index, month, value }) => `${index} ${month} ${value}`)
}

const mintmark = (...args: string[]) => runCommand(node, [register], args)

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const GOOD =
  '\uFEFFmonth;index;value;Not\r\n2026-09;TRY_CPI;3440.12;"kaynak: ""TÜİK"""\r\n\r\n2026-10;TRY_CPI;3512.180000;\r\n2026-09;TRY_CPI;3440.12;\r\n'
const BAD = [
  'index,month,value',
  'TRY_CPI,2026-08,3400',
  'TRY_CPI,2026-13,3512.18',
  '',
  'try,2026-10,"3512,18"',
  'TRY_CPI,2026-08,3401',
  'TRY_CPI,9000-01,1',
  'TRY_CPI,2026-07,0.0000001',
  'TRY_CPI,2026-06',
].join('\n')
const PROBLEMS = [
  'line_3.month date',
  'line_5.index index_name',
  'line_5.value number',
  'line_6.value index_again',
  'line_7.month not_in_future',
  'line_8.value number',
  'line_9.row row_cells',
]

test('a CSV in any order of columns is loaded, a repeated row once, and a later file replaces its months', async () => {
  const { status, body } = await post(GOOD)
  expect([status, body.data]).toEqual([200, { indices: 2 }])
  expect(await months()).toEqual(['TRY_CPI 2026-10 3512.18', 'TRY_CPI 2026-09 3440.12'])
  expect((await post('index,month,value\nTRY_CPI,2026-10,3513\nOTHER,2026-10,1\n')).body.data).toEqual({ indices: 2 })
  expect(await months()).toEqual(['OTHER 2026-10 1', 'TRY_CPI 2026-10 3513', 'TRY_CPI 2026-09 3440.12'])
})

test('if a row is bad, nothing is loaded, and every problem has its line and column', async () => {
  const { status, body } = await post(BAD)
  expect([status, body.error?.code]).toEqual([422, 'VALIDATION_ERROR'])
  expect(body.error!.details!.map(({ field, rule }) => `${field} ${rule}`)).toEqual(PROBLEMS)
  expect(body.error!.details!.find(({ rule }) => rule === 'index_again')!.message).toContain('as in line 2')
  expect(await months()).toEqual([])
  const { text, exitCode } = await mintmark('indices', 'import', file('bad.csv', BAD))
  expect(text.split('\n').map((line) => line.trim().split(' ')[0])).toEqual(['No', ...PROBLEMS.map((problem) => problem.split(' ')[0])])
  expect(exitCode).toBe(1)
  expect(JSON.parse((await mintmark('indices', 'import', file('bad.csv', BAD), '--json')).text)).toMatchObject({
    indices: 0,
    refused: PROBLEMS.map((problem) => ({ field: problem.split(' ')[0] })),
  })
  expect(await months()).toEqual([])
})

test('the command loads the same file, compressed or not', async () => {
  expect(await mintmark('indices', 'import', file('good.csv', GOOD))).toEqual({ text: 'Loaded 2 months', exitCode: undefined })
  const stored = await months()
  await node.db.kysely.deleteFrom('price_indices').execute()
  expect((await mintmark('indices', 'import', file('good.csv.gz', gzipSync(GOOD)))).text).toBe('Loaded 2 months')
  expect(await months()).toEqual(stored)
})

test('files without a column, without rows, too long or of another encoding are refused as a whole', async () => {
  const ruleOf = async (body: string | Uint8Array<ArrayBuffer>) => {
    const reply = await post(body)
    const [detail] = reply.body.error!.details!
    return [reply.status, detail!.field, (detail!.params as { must?: { rule: string } }).must?.rule ?? detail!.rule]
  }
  expect(await ruleOf('index,month\nTRY_CPI,2026-10\n')).toEqual([422, 'body', 'header'])
  expect(await ruleOf('\n')).toEqual([422, 'body', 'file_empty'])
  expect(await ruleOf('index,month,value\n')).toEqual([422, 'body', 'file_empty'])
  expect(await ruleOf(new Uint8Array([0x69, 0xff, 0xfe]))).toEqual([422, 'body', 'utf8'])
  const rows = Array.from({ length: 10_001 }, (_, i) => `I_${i},2026-10,1`)
  expect(await ruleOf(['index,month,value', ...rows].join('\n'))).toEqual([422, 'body', 'at_most'])
  expect(await months()).toEqual([])
})

test('generated cells never cause an error of the server', async () => {
  const cells = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('TRY_CPI', '2026-10', '3512.18', '1e9', '-1', '"', "'=1", '\u0000'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cells, cells, cells), { maxLength: 6 }), async (rows) => {
      const { status } = await post(['index,month,value', ...rows.map((row) => row.join(','))].join('\n'))
      expect([200, 422]).toContain(status)
    }),
    { numRuns: runs(40) },
  )
})
