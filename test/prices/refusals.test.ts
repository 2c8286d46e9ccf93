// Refused rows of one kind have one reason, whatever they name.
import { expect, test } from 'vitest'
import { turkishReport } from '../../console/src/words/reports-tr.ts'
import { KEPT_ERRORS, kindOf, OTHER_REASONS, Refusals } from '#prices/refusals.ts'

const KINDS: [messages: string[], kind: string][] = [
  [['no item has the ref nobody', 'no item has the ref "x": y'], 'no item has the ref …'],
  [['no item has the tcgplayer id 7', 'no item has the cardmarket id 8 id 9'], 'no item has the … id …'],
  [['no item of the tcgdex id base1-4 has the finish holo'], 'no item of the … id … has the finish …'],
  [['item_ref: no item has the ref x', 'item_ref: no item has the ref y: z'], 'item_ref: no item has the ref …'],
  [['item_id: there is no item with the id 5'], 'item_id: there is no item with the id …'],
  [['price: "12,x" is no amount up to 9,999,999,999.99', 'price: "a" b" is no amount up to 9,999,999,999.99'], 'price: "…" is no amount up to 9,999,999,999.99'],
  [['prices.0.price must be above 0', 'prices.17.price must be above 0'], 'prices.….price must be above 0'],
  [['the item a:1 (Charizard) came before, in line 3'], 'the item … came before, in line …'],
  [['the parent category x is not in the catalogue: import it first'], 'the parent category … is not in the catalogue: import it first'],
  [['the category the set is not in the catalogue: import it first'], 'the category … is not in the catalogue: import it first'],
  [['the card base1-4 has no name'], 'the card … has no name'],
  [['the card has no id'], 'the card has no id'],
  [['the product 5 is of no known category ("Coins")'], 'the product … is of no known category (…)'],
  [['the pack p of the card c is of no known language'], 'the pack … of the card … is of no known language'],
  [['the row has 3 cells, the header 5', 'the row has 8 cells, the header 5'], 'the row has … cells, the header …'],
  [['name is required: it must be text; code must be text'], 'name is required: it must be text; code must be text'],
]

test.each(KINDS)('%j', (messages, kind) => {
  for (const message of messages) expect(kindOf(message)).toBe(kind)
})

test.each(KINDS.map(([, kind]) => kind).filter((kind) => kind.includes('…')))('%s is said in Turkish', (kind) => {
  expect(turkishReport(kind)).not.toBe(kind)
})

test('all rows are counted, the most frequent reason first, with a few samples', () => {
  const refusals = new Refusals()
  refusals.add({ row: 1, message: 'the line is no valid JSON', file: 'a' })
  for (let row = 2; row <= KEPT_ERRORS + 500; row += 1) refusals.add({ row, message: `no item has the ref ${row}`, file: 'b' })
  expect(refusals.rows).toHaveLength(KEPT_ERRORS)
  const [first, second] = refusals.reasons
  expect(first).toMatchObject({ reason: 'no item has the ref …', count: KEPT_ERRORS + 499 })
  expect(first!.samples).toEqual([2, 3, 4].map((row) => ({ row, message: `no item has the ref ${row}`, file: 'b' })))
  expect(second).toEqual({ reason: 'the line is no valid JSON', count: 1, samples: [refusals.rows[0]] })
})

test('reasons and messages without end take bounded space', () => {
  const refusals = new Refusals()
  for (let row = 0; row < 5_000; row += 1) refusals.add({ row, message: `never heard of ${row} ${'x'.repeat(2_000)}` })
  expect(refusals.reasons).toHaveLength(101)
  expect(refusals.reasons[0]).toMatchObject({ reason: OTHER_REASONS, count: 4_900 })
  expect(JSON.stringify(refusals.reasons).length).toBeLessThan(200_000)
})
