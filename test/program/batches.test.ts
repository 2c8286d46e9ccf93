// The commands `imports`, `revert`, `rates`, `indices` and `certificates`, which call the same verbs as the operator API.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CommanderError } from 'commander'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { register as registerBatches } from '#cli/batches.ts'
import { register as registerCertificates } from '#cli/certificates.ts'
import { register as registerIndices } from '#cli/indices.ts'
import { register as registerRates } from '#cli/rates.ts'
import { call } from '#core/verb.ts'
import { runCommand } from '../support/command-line.ts'
import { importText, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  const category = await call(createCategory, node.ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })
  await call(createItem, node.ctx, { ref: 'a', name: 'Card', market: 'source_c', category_id: category.id })
})

afterAll(() => node.close())

const mintmark = async (...args: string[]) =>
  (await runCommand(node, [registerBatches, registerRates, registerIndices, registerCertificates], args)).text

test('a batch is listed and reverted, and so is the revert', async () => {
  const row = (price: number, day: number) => `item_ref,market,label,price,updated_at\na,source_c,Near Mint,${price},2026-01-0${day}T00:00:00Z\n`
  await importText(node, 'mintmark-prices-csv', row(2, 1))
  const { id } = await importText(node, 'mintmark-prices-csv', row(3, 2))
  const price = async () => (await node.db.kysely.selectFrom('prices').select('price').where('market', '=', 3).executeTakeFirstOrThrow()).price
  expect(await price()).toBe('3.00')
  expect(await mintmark('imports', '--format', 'mintmark-prices-csv')).toMatch(
    new RegExp(`^ID +FORMAT +FILE .*\\n${id} +mintmark-prices-csv +test +done`),
  )
  expect(await mintmark('revert', String(id))).toMatch(new RegExp(`^Reverted import ${id} by import \\d+; 1 prices restored$`))
  expect(await price()).toBe('2.00')
  const [revert] = JSON.parse(await mintmark('imports', '--format', 'revert', '--json')) as { id: number; reverts_import_id: number }[]
  expect(revert!.reverts_import_id).toBe(id)
  await expect(mintmark('revert', String(id))).rejects.toThrow('is already reverted')
  expect(JSON.parse(await mintmark('revert', String(revert!.id), '--json'))).toMatchObject({ reverts_import_id: revert!.id })
  expect(await price()).toBe('3.00')
})

test('months of an index are loaded and listed', async () => {
  expect(await mintmark('indices', 'set', 'TRY_CPI', '2026-09=3440.12', '2026-10=3512.18')).toBe('Loaded 2 months')
  expect(await mintmark('indices', 'list', '--index', 'TRY_CPI')).toBe(
    'MONTH    INDEX    VALUE\n2026-10  TRY_CPI  3512.18\n2026-09  TRY_CPI  3440.12',
  )
  expect(JSON.parse(await mintmark('indices', 'list', '--index', 'OTHER', '--json'))).toEqual([])
  await expect(mintmark('indices', 'set', 'TRY_CPI', '2062-09=1')).rejects.toThrow('month must')
  for (const args of [
    ['set', 'TRY_CPI'],
    ['set', 'TRY_CPI', '2026-9=1'],
    ['set', 'TRY_CPI', '2026-09=-1'],
  ]) {
    await expect(mintmark('indices', ...args), args.join(' ')).rejects.toBeInstanceOf(CommanderError)
  }
})

test('a certificate is shown as the operator API does, also an unknown one', async () => {
  expect(await mintmark('certificates', 'show', 'psa', '0012-345')).toBe('PSA 12345: not in the file of certificates; 0 listings, 0 sales, 0 records')
  expect(JSON.parse(await mintmark('certificates', 'show', 'PSA', '12345', '--json'))).toMatchObject({ known: null, history: [] })
  await expect(mintmark('certificates', 'show', 'XYZ', '1')).rejects.toThrow('grader')
})

test('rates are loaded and listed', async () => {
  expect(await mintmark('rates', 'set', 'USD=41.87', 'EUR=48.31', '--day', '2026-11-20')).toBe('Loaded 2 rates')
  expect(await mintmark('rates', 'list')).toBe('DAY         CURRENCY  TRY\n2026-11-20  EUR       48.31\n2026-11-20  USD       41.87')
  expect(await mintmark('rates', 'set', 'USD=41.88', '--date', '2026-11-20')).toBe('Loaded 1 rates')
  expect(JSON.parse(await mintmark('rates', 'list', '--currency', 'USD', '--json'))).toEqual([
    { currency: 'USD', day: '2026-11-20', rate: 41.88, TRY: 41.88 },
  ])
  await expect(mintmark('rates', 'set', 'USD=41.88', '--date', '2062-11-20')).rejects.toThrow('day must be a date')
  for (const args of [
    ['set'],
    ['set', 'usd=1'],
    ['set', 'USD'],
    ['list', 'all'],
    ['import'],
    ['set', 'USD=1', '--date', '2026-11-01', '--day', '2026-11-02'],
  ]) {
    await expect(mintmark('rates', ...args), args.join(' ')).rejects.toBeInstanceOf(CommanderError)
  }
})

test('rates are imported from a file, and invalid rows are reported by line', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'mintmark-rates-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'rates.csv')
  const rows = [
    'currency,day,rate,source',
    'USD,2026-11-21,41.9,bank',
    'EUR,2026-11-21,48.4,bank',
    'usd,2026-11-22,41.9,bank',
    'TRY,2026-11-22,1,bank',
    'USD,2026-11-31,41.9,bank',
    'USD,2062-11-22,41.9,bank',
    'USD,2026-11-22,0,bank',
    'USD,2026-11-22,"41,9",bank',
    'USD,2026-11-22,-3,bank',
    'USD,2026-11-21,42,bank',
    'USD,2026-11-21,41.90,bank',
    'EUR,2026-11-22',
  ]
  writeFileSync(file, `${rows.join('\r\n')}\r\n`)
  const report = JSON.parse(await mintmark('rates', 'import', file, '--json')) as { rates: number; refused: { line: number; message: string }[] }
  expect(report).toMatchObject({ rates: 2 })
  expect(report.refused.map(({ line, message }) => `${line} ${message.split(' ')[0]}`)).toEqual([
    '4 currency',
    '5 currency',
    '6 day',
    '7 day',
    '8 rate',
    '9 rate',
    '10 rate',
    '11 rate',
    '13 the',
  ])
  expect(report.refused[7]!.message).toBe('rate must be the same as in line 2, which is of the same currency and day')
  // The same file again changes nothing; .gz is decompressed.
  writeFileSync(`${file}.gz`, gzipSync(`${rows.slice(0, 3).join('\n')}\n`))
  expect(await mintmark('rates', 'import', `${file}.gz`)).toBe('Loaded 2 rates; 0 rows refused')
  expect((await mintmark('rates', 'list')).split('\n').slice(1, 3)).toEqual(['2026-11-21  EUR       48.4', '2026-11-21  USD       41.9'])
  writeFileSync(file, 'currency;date;rate\n')
  await expect(mintmark('rates', 'import', file)).rejects.toThrow('the header must have the columns day')
  await expect(mintmark('rates', 'import', join(dir, 'none.csv'))).rejects.toThrow('none.csv cannot be read')
})
