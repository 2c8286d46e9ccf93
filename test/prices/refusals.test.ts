// Rejected rows of one kind have the same reason, whatever values they name.
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type Problem, problem, type Reason, reason, combineProblems } from '#core/problems.ts'
import { MAX_STORED_ERRORS, reasonsOf, Refusals } from '#prices/imports/refusals.ts'
import { RefusedRowsCsv } from '#prices/imports/refused-rows-csv.ts'

const KINDS: [kind: string, all: (Reason | Problem)[]][] = [
  ['no item has the ref …', [reason('no_ref', { ref: 'nobody' }), reason('no_ref', { ref: '"x": y' })]],
  [
    'no item has the tcgplayer id …',
    [reason('no_foreign_id', { source: 'tcgplayer', id: '7' }), reason('no_foreign_id', { source: 'tcgplayer', id: '8 id 9' })],
  ],
  ['no item with the tcgdex id … has the finish …', [reason('no_finish', { source: 'tcgdex', id: 'base1-4', finish: 'holo' })]],
  [
    'item_ref no item has the ref …',
    [
      { field: 'item_ref', ...reason('no_ref', { ref: 'x' }) },
      { field: 'item_ref', ...reason('no_ref', { ref: 'y' }) },
    ],
  ],
  ['price must be a number of at most 99, not "…"', ['12,x', 'a" b'].map((value) => problem('price', 'number', { max: 99, value }))],
  [
    'prices.….price must be a number above 0',
    [problem('prices.0.price', 'number', { above: 0 }), problem('prices.17.price', 'number', { above: 0 })],
  ],
  ['the item … (…) is a duplicate of line …', [reason('row_again', { thing: 'item', ref: 'a:1', name: 'Charizard', line: 3 })]],
  ['the category … is not in the catalogue; import it first', [reason('no_category', { ref: 'the set' }), reason('no_category', { ref: 'x' })]],
  ['the card … has no name', [reason('lacks', { thing: 'card', id: 'base1-4', field: 'name' })]],
  ['product … has the category "…", which has no cards or sealed products', [reason('product_category', { id: 5, value: 'Coins' })]],
  ['the row has … cells, the header …', [reason('row_cells', { count: 3, other: 5 }), reason('row_cells', { count: 8, other: 5 })]],
  [
    'prices.….price must be a number above 0; code must be text',
    [0, 1].map((i) => combineProblems([problem(`prices.${i}.price`, 'number', { above: 0 }), problem('code', 'text')])),
  ],
]

test.each(KINDS)('%s', (kind, all) => {
  const refusals = new Refusals()
  for (const [row, why] of all.entries()) refusals.add({ row }, why)
  expect(refusals.reasons).toMatchObject([{ reason: kind, rule: all[0]!.rule, count: all.length }])
  expect(refusals.rows.map(({ rule, params }) => ({ rule, params }))).toEqual(all.map(({ rule, params }) => ({ rule, params })))
})

test('all rows are counted, the most frequent reason first, with a few samples', () => {
  const refusals = new Refusals()
  refusals.add({ row: 1, file: 'a' }, reason('json', { part: 'line' }))
  for (let row = 2; row <= MAX_STORED_ERRORS + 500; row += 1) refusals.add({ row, file: 'b' }, reason('no_ref', { ref: String(row) }))
  expect(refusals.rows).toHaveLength(MAX_STORED_ERRORS)
  const [first, second] = refusals.reasons
  expect(first).toMatchObject({ rule: 'no_ref', params: { ref: '…' }, count: MAX_STORED_ERRORS + 499 })
  expect(first!.samples.map(({ row, file, params }) => [row, file, params])).toEqual([2, 3, 4].map((row) => [row, 'b', { ref: String(row) }]))
  expect(second).toMatchObject({ rule: 'json', params: { part: 'line' }, count: 1, samples: [refusals.rows[0]] })
})

test('long reasons and values take bounded space', () => {
  const refusals = new Refusals()
  for (let row = 0; row < 5_000; row += 1) refusals.add({ row }, problem(`column ${row}`, 'id', { value: 'x'.repeat(2_000) }))
  expect(refusals.reasons).toHaveLength(101)
  expect(refusals.reasons[0]).toMatchObject({ rule: 'other', count: 4_900 })
  expect(JSON.stringify(refusals.reasons).length).toBeLessThan(500_000)
})

test('the CSV of all rows takes bounded space, and says what it omits', () => {
  const csv = new RefusedRowsCsv(500_000)
  for (let line = 0; line < 5_000; line += 1) csv.add({ file: null, line, rule: 'no_ref', reason: randomBytes(300).toString('base64') })
  const parts = csv.finish()
  expect(parts.reduce((sum, part) => sum + part.length, 0)).toBeLessThan(1_000_000)
  const lines = parts.flatMap((part) => gunzipSync(part).toString().trimEnd().split('\n'))
  expect(lines.length).toBeGreaterThan(1_000)
  expect(lines.at(-1)).toBe(`,,,${5_000 - (lines.length - 1)} more rows were refused`)
})

test('characters that the database cannot store are replaced', () => {
  const row = new Refusals().add({ row: 1 }, reason('no_ref', { ref: 'a\0b\ud800' }))
  expect(row.params).toEqual({ ref: 'a\ufffdb\ufffd' })
})

test('rows stored by an earlier version are grouped by their message', () => {
  const rows = [1, 2, 3].map((row) => ({ row, message: row === 1 ? 'one' : 'other' }))
  expect(reasonsOf(rows)).toEqual([
    { reason: 'other', count: 2, samples: rows.slice(1) },
    { reason: 'one', count: 1, samples: rows.slice(0, 1) },
  ])
})
