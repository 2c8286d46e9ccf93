// Files of certificates by the command line: loaded in parts by the operator's verb, with the errors of each row and what is looked up afterwards.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register } from '#cli/certificates.ts'
import type { StoredCertificateAnswer } from '#market/certificates/get-certificate.ts'
import { runCommand } from '../support/command-line.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { makeCatalogue, operator } from './kit.ts'

let node: TestNode
let items: Record<string, number>
let folder: string

beforeAll(async () => {
  node = await startTestNode()
  ;({ items } = await makeCatalogue(node))
  folder = mkdtempSync(join(tmpdir(), 'mintmark-certificates-'))
})
afterAll(async () => {
  await node.close()
  rmSync(folder, { recursive: true, force: true })
})

const mintmark = (...args: string[]) => runCommand(node, [register], args)

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const show = async (cert: string) => (await operator<StoredCertificateAnswer>(node, 'GET', `/certificates?grader=PSA&cert=${cert}`)).body.data
const anItem = () => Object.values(items)[0]!

test('a file is loaded, its bad rows are named by line and column and do not affect the others', async () => {
  const path = file(
    'some.csv',
    [
      'Grader;Cert;Grade;Item_ID;Label;Qualifier;Kutu',
      `psa;0012 345-678;10;${anItem()};PSA 10;;"raf ""3"""`,
      `PSA;87654321;9;${anItem()};;OC;`,
      `PSA;!;9;${anItem()};;;`,
      `XYZ;5555555;9;x;Foxed;;`,
      `PSA;7777777;9;999999;;;`,
      `PSA;12345678;8;${anItem()};;;`,
      `PSA;A1;9;${anItem()};;;`,
      'PSA;1',
      '',
    ].join('\n'),
  )
  const { text, exitCode } = await mintmark('certificates', 'import', path)
  const [summary, ...lines] = text.split('\n')
  expect([summary, exitCode]).toEqual(['Loaded 3 new and 0 known certificates; 5 rows refused', undefined])
  expect(lines.map((line) => line.trim().split(/[ ;]/).slice(0, 5).join(' '))).toEqual([
    '4: refused  cert must',
    '5: refused  grader must',
    '6: refused  item_id must',
    '7: refused  cert is',
    '8: created  A1 does',
    '9: refused  the row',
  ])
  expect(await show('12345678')).toMatchObject({ known: { item_id: anItem(), grade: '10', label: 'PSA 10' } })
  expect((await mintmark('certificates', 'show', 'psa', '0012-345-678')).text).toContain(`PSA 12345678: item ${anItem()}, grade 10; 0 listings`)
  const again = JSON.parse((await mintmark('certificates', 'import', path, '--json')).text) as { rows: object[] }
  expect(again).toMatchObject({ created: 0, updated: 3, refused: 5 })
  expect(again.rows).toHaveLength(6)
})

test('a compressed file of more than one part is loaded whole', async () => {
  const rows = Array.from({ length: 10_002 }, (_, i) => `PSA,${30_000_000 + i},9,${i === 10_000 ? 'none' : anItem()}`)
  const path = file('many.csv.gz', gzipSync(['grader,cert,grade,item_id', ...rows, ''].join('\n')))
  const { text } = await mintmark('certificates', 'import', path, '--json')
  expect(JSON.parse(text)).toMatchObject({
    created: 10_001,
    updated: 0,
    refused: 1,
    rows: [{ line: 10_002, outcome: 'refused', refused: [{ field: 'item_id', rule: 'integer' }] }],
  })
  expect(await show('30010001')).toMatchObject({ known: { grade: '9' } })
})

test('a file that is damaged after its first part says how many certificates were loaded', async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `PSA,${40_000_000 + i},9,${anItem()},${'x'.repeat(60)}`)
  const text = Buffer.from(['grader,cert,grade,item_id,shelf', ...rows, ''].join('\n'))
  const path = file('damaged.csv', Buffer.concat([text, Buffer.from([0xff, 0xfe])]))
  await expect(mintmark('certificates', 'import', path)).rejects.toThrow(/UTF-8.*; 10000 certificates of the rows before were loaded$/)
  expect(await show('40009999')).toMatchObject({ known: { grade: '9' } })
})

test('a file without a column, without rows or without a valid row loads nothing, and the command fails', async () => {
  await expect(mintmark('certificates', 'import', file('short.csv', 'grader,cert,item_id\nPSA,1,1\n'))).rejects.toThrow(/grade/)
  await expect(mintmark('certificates', 'import', file('empty.csv', ''))).rejects.toThrow(/empty/)
  await expect(mintmark('certificates', 'import', file('header.csv', 'grader,cert,grade,item_id\n'))).rejects.toThrow(/rows must be a list/)
  await expect(mintmark('certificates', 'import', join(folder, 'missing.csv'))).rejects.toThrow(/missing\.csv cannot be read/)
  const bad = await mintmark('certificates', 'import', file('bad.csv', 'grader,cert,grade,item_id\nPSA,1,9,0\n'))
  expect([bad.text.split('\n')[0], bad.exitCode]).toEqual(['Loaded 0 new and 0 known certificates; 1 rows refused', 1])
})
