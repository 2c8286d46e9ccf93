// Refused rows of one kind have one reason, whatever they name.
import { expect, test } from 'vitest'
import { type Problem, problem, type Reason, reason, together } from '#core/problems.ts'
import { KEPT_ERRORS, reasonsOf, Refusals } from '#prices/refusals.ts'

const KINDS: [kind: string, all: (Reason | Problem)[]][] = [
  ['no item has the ref …', [reason('no_ref', { ref: 'nobody' }), reason('no_ref', { ref: '"x": y' })]],
  ['no item has the tcgplayer id …', [reason('no_foreign_id', { source: 'tcgplayer', id: '7' }), reason('no_foreign_id', { source: 'tcgplayer', id: '8 id 9' })]],
  ['no item with the tcgdex id … has the finish …', [reason('no_finish', { source: 'tcgdex', id: 'base1-4', finish: 'holo' })]],
  ['item_ref no item has the ref …', [{ field: 'item_ref', ...reason('no_ref', { ref: 'x' }) }, { field: 'item_ref', ...reason('no_ref', { ref: 'y' }) }]],
  ['price must be an amount up to 9,999,999,999.99, not "…"', ['12,x', 'a" b'].map((value) => problem('price', 'not_amount', { value }))],
  ['prices.….price must be above 0', [problem('prices.0.price', 'above_zero'), problem('prices.17.price', 'above_zero')]],
  ['the item … (…) is a duplicate of line …', [reason('row_again', { thing: 'item', ref: 'a:1', name: 'Charizard', line: 3 })]],
  ['the category … is not in the catalogue; import it first', [reason('no_category', { ref: 'the set' }), reason('no_category', { ref: 'x' })]],
  ['the card … has no name', [reason('lacks_of', { thing: 'card', id: 'base1-4', field: 'name' })]],
  ['the product … has an unknown category: "…"', [reason('category_unknown', { id: 5, value: 'Coins' })]],
  ['the row has … cells, the header …', [reason('row_cells', { count: 3, other: 5 }), reason('row_cells', { count: 8, other: 5 })]],
  [
    'prices.….price must be above 0; code must be text',
    [0, 1].map((i) => together([problem(`prices.${i}.price`, 'above_zero'), problem('code', 'text')])),
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
  refusals.add({ row: 1, file: 'a' }, reason('row_json'))
  for (let row = 2; row <= KEPT_ERRORS + 500; row += 1) refusals.add({ row, file: 'b' }, reason('no_ref', { ref: String(row) }))
  expect(refusals.rows).toHaveLength(KEPT_ERRORS)
  const [first, second] = refusals.reasons
  expect(first).toMatchObject({ rule: 'no_ref', params: { ref: '…' }, count: KEPT_ERRORS + 499 })
  expect(first!.samples.map(({ row, file, params }) => [row, file, params])).toEqual([2, 3, 4].map((row) => [row, 'b', { ref: String(row) }]))
  expect(second).toMatchObject({ rule: 'row_json', params: {}, count: 1, samples: [refusals.rows[0]] })
})

test('reasons and values without end take bounded space', () => {
  const refusals = new Refusals()
  for (let row = 0; row < 5_000; row += 1) refusals.add({ row }, problem(`column ${row}`, 'not_id', { value: 'x'.repeat(2_000) }))
  expect(refusals.reasons).toHaveLength(101)
  expect(refusals.reasons[0]).toMatchObject({ rule: 'other', count: 4_900 })
  expect(JSON.stringify(refusals.reasons).length).toBeLessThan(500_000)
})

test('what the database cannot hold is replaced', () => {
  const row = new Refusals().add({ row: 1 }, reason('no_ref', { ref: 'a\0b\ud800' }))
  expect(row.params).toEqual({ ref: 'a\ufffdb\ufffd' })
})

test('rows that an earlier program stored are grouped by their message', () => {
  const rows = [1, 2, 3].map((row) => ({ row, message: row === 1 ? 'one' : 'other' }))
  expect(reasonsOf(rows)).toEqual([
    { reason: 'other', count: 2, samples: rows.slice(1) },
    { reason: 'one', count: 1, samples: rows.slice(0, 1) },
  ])
})
