// Writing many prices at once: what they are compared with, and existing history that conflicts with them.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { minorToText } from '#core/money.ts'
import { call } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { importFiles } from '#imports/import-files.ts'
import { openImport } from '#prices/imports/imports.ts'
import { PriceBatch } from '#prices/records/price-batch.ts'
import type { PriceCounts, PriceWrite } from '#prices/records/price-types.ts'
import { PriceWriter } from '#prices/writing/writer.ts'
import { startTestNode, type TestNode } from '../support/node.ts'

const PRICES = 800
const SOURCE_C = 3
const DAY_MS = 86_400_000
const FIRST_MS = Date.UTC(2026, 5, 1)

let node: TestNode
let categoryId: number
let itemId: number
let importId: number

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  const category = await call(createCategory, node.ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })
  categoryId = category.id
  itemId = (await call(createItem, node.ctx, { name: 'Card', market: 'source_c', category_id: category.id })).id
})
afterAll(() => node.close())

/** A separate batch of prices, each under a different label. */
async function write(atMs: number, minorOf: (label: number) => number): Promise<PriceCounts> {
  return change(node.ctx, async (tx, note) => {
    importId = await openImport(tx, { format: 'post', market: 'source_c', fileName: null, author: 'test', dryRun: false }, note.at)
    const rules = { ...node.config.priceRules, only: ['jump' as const] }
    const writer = new PriceWriter({ db: node.db, tx, note, importId, rules, nowMs: FIRST_MS })
    const prices = Array.from({ length: PRICES }, (_, i): PriceWrite => {
      const labelId = PRICES - i
      return { row: i + 1, itemId, market: SOURCE_C, labelId, minor: minorOf(labelId), updatedAtMs: atMs }
    })
    return writer.write(PriceBatch.of(prices))
  })
}

const stored = async (table: 'prices' | 'price_points') =>
  (
    await sql<{ label_id: number; price: string; import_id: number }>`
    select label_id, price, import_id from ${sql.table(table)} where item_id = ${itemId} order by label_id, updated_at`.execute(node.db.kysely)
  ).rows

test('each price is compared with the previous one', async () => {
  const none = { accepted: 0, created: 0, held: 0, unchanged: 0 }
  expect(await write(FIRST_MS, (label) => label * 100)).toEqual({ ...none, accepted: PRICES, created: PRICES })
  expect(await write(FIRST_MS + DAY_MS, (label) => label * 100)).toEqual({ ...none, unchanged: PRICES })
  const raised = await write(FIRST_MS + DAY_MS, (label) => (label === 7 ? label * 100_000 : label * 100 + 1))
  expect(raised).toEqual({ ...none, accepted: PRICES - 1, held: 1 })
  const current = await stored('prices')
  const expected = current.map(({ label_id: label }) => (label === 7 ? '7.00' : minorToText(label * 100 + 1)))
  expect(current.map((row) => row.price)).toEqual(expected)
  expect(await stored('price_points')).toHaveLength(2 * PRICES - 1)
})

test('history points later than the current prices are replaced without an error', async () => {
  const atMs = FIRST_MS + 2 * DAY_MS
  await write(atMs, (label) => label * 100 + 2)
  await sql`update prices set updated_at = updated_at - interval '1 hour' where item_id = ${itemId}`.execute(node.db.kysely)
  const before = await stored('price_points')
  expect(await write(atMs, (label) => label * 100 + 3)).toEqual({ accepted: PRICES, created: 0, held: 0, unchanged: 0 })
  const points = await stored('price_points')
  expect(points).toHaveLength(before.length)
  expect(points.filter((row) => row.label_id === 5).at(-1)).toEqual({ label_id: 5, price: '5.03', import_id: importId })
  expect(new Set((await stored('prices')).map((row) => row.import_id))).toEqual(new Set([importId]))
})

test('a current price that another writer has moved since it was read is found by its key', async () => {
  const { kysely } = node.db
  // Simulates another writer: moves a row after it was read and before it is written.
  await sql`
    create function move_price() returns trigger language plpgsql as $$
    begin
      update prices set import_id = import_id where item_id = new.item_id and label_id = new.label_id and new.label_id in (5, 9);
      return new;
    end $$`.execute(kysely)
  await sql`create trigger moves before insert on price_points for each row execute function move_price()`.execute(kysely)
  const atMs = FIRST_MS + 3 * DAY_MS
  expect(await write(atMs, (label) => label * 100 + 4)).toEqual({ accepted: PRICES, created: 0, held: 0, unchanged: 0 })
  await sql`drop trigger moves on price_points`.execute(kysely)
  const current = await stored('prices')
  expect(current.map((row) => row.price)).toEqual(current.map(({ label_id: label }) => minorToText(label * 100 + 4)))
  expect(new Set(current.map((row) => row.import_id))).toEqual(new Set([importId]))
})

test('a file that fails while a batch is written leaves no rows', async () => {
  const { id, ref } = await call(createItem, node.ctx, { name: 'Other card', market: 'source_c', category_id: categoryId })
  const rowsOf = (count: number) =>
    Array.from(
      { length: count },
      (_, i) => `${ref},source_c,Near Mint,${(100 + (i % 7)).toFixed(2)},${new Date(FIRST_MS + i * 1_000).toISOString()}\n`,
    ).join('')
  const bytes = Buffer.concat([Buffer.from(`item_ref,market,label,price,updated_at\n${rowsOf(21_000)}`), Buffer.of(0xff, 0xfe)])
  const files = [
    {
      name: 'prices.csv',
      size: bytes.length,
      open: async function* () {
        yield bytes.subarray(0, -2)
        yield bytes.subarray(-2)
      },
    },
  ]
  const report = await call(importFiles, { ...node.ctx, rules: node.config.priceRules }, { format: 'mintmark-prices-csv', files })
  expect(report).toMatchObject({ status: 'failed', why: { rule: 'utf8' }, counts: { accepted: 0 } })
  for (const table of ['prices', 'price_points'] as const) {
    const { rows } = await sql`select from ${sql.table(table)} where item_id = ${id}`.execute(node.db.kysely)
    expect(rows).toHaveLength(0)
  }
})
