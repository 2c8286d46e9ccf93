// The commands for prices under review and for decisions about them: human-readable text, or one JSON value for programs.
import { CommanderError } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { register } from '#cli/prices/price-reviews.ts'
import { call } from '#core/verb.ts'
import type { PriceDecision } from '#prices/reviews/price-decisions.ts'
import type { PriceReview } from '#prices/reviews/review-schemas.ts'
import { runCommand } from '../support/command-line.ts'
import { importText, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
const items = new Map<string, number>()

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  const category = await call(createCategory, node.ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })
  for (const ref of ['a', 'b', 'c', 'd']) {
    const item = await call(createItem, node.ctx, { ref, name: `Card ${ref}`, market: 'source_c', category_id: category.id })
    items.set(ref, item.id)
  }
  const csv = (rows: string[]) => ['item_ref,market,label,price,updated_at', ...rows].join('\n')
  await importText(node, 'mintmark-prices-csv', csv(['a', 'b', 'c', 'd'].map((ref) => `${ref},source_c,Near Mint,2.00,2026-01-01T00:00:00Z`)))
  const wrong = ['a,source_c,Near Mint,20.00', 'b,source_c,Near Mint,40.00', 'c,source_c,Near Mint,30.00']
  await importText(node, 'mintmark-prices-csv', csv(wrong.map((row) => `${row},2026-01-02T00:00:00Z`)))
})
afterAll(() => node.close())

const mintmark = async (...args: string[]) => (await runCommand(node, [register], args)).text

const refsInQuestion = async () => (JSON.parse(await mintmark('price-reviews', 'list', '--json')) as PriceReview[]).map(({ item }) => item.ref)

test('prices under review are listed, decided and undone', async () => {
  expect(await refsInQuestion()).toEqual(['b', 'c', 'a'])
  expect(await mintmark('price-reviews', 'list', '--item', String(items.get('b')))).toMatch(
    /^STATE +CAUSE +ITEM +LABEL +MARKET +PRICE +PRICE STATE +HELD ID +FLAGS\nheld +jump +\d+ Card b +Near Mint +source_c +40 USD +held +\d+\nheld +jump +\d+ Card b +Near Mint +source_c +2 USD +trusted +-$/,
  )
  const [first] = JSON.parse(await mintmark('price-reviews', 'list', '--json')) as PriceReview[]
  const accepted = JSON.parse(await mintmark('price-reviews', 'accept', String(first!.prices[0]!.held_id), '--json')) as PriceDecision
  expect(accepted).toMatchObject({ decision: 'accept', prices: 1, author: 'operator:test' })
  expect(await mintmark('price-reviews', 'discard', '--cause', 'jump', '--expect', '2')).toBe(`Decision ${accepted.id + 1}: 2 prices discarded`)
  expect(await refsInQuestion()).toEqual([])
  expect(await mintmark('price-decisions', 'undo', String(accepted.id + 1))).toBe(`Decision ${accepted.id + 1} undone; 2 prices restored`)
  expect(await mintmark('price-decisions', 'list', '--state', 'in_effect')).toMatch(
    /^ID +DECISION .*\n\d+ +accept +1 +1 +Card b +operator:test +\S+ +-$/,
  )
})

test('a price is withdrawn only at the amount that was seen', async () => {
  const one = ['--item', String(items.get('d')), '--market', 'source_c', '--label', 'NM']
  await expect(mintmark('price-reviews', 'withdraw', ...one, '--price', '3')).rejects.toThrow('1 of these prices changed since you saw them')
  expect(await mintmark('price-reviews', 'withdraw', ...one, '--price', '2')).toMatch(/^Decision \d+: 1 price withdrawn$/)
})

test('wrong usage is reported', async () => {
  for (const args of [
    ['price-reviews', 'accept'],
    ['price-reviews', 'accept', '1', '--cause', 'jump'],
    ['price-reviews', 'accept', '--cause', 'jump'],
    ['price-reviews', 'confirm', '--price', '3'],
    ['price-reviews', 'list', '--cause', 'none'],
  ]) {
    await expect(mintmark(...args)).rejects.toThrow(CommanderError)
  }
  await expect(mintmark('price-reviews', 'discard', '--cause', 'jump', '--expect', '99')).rejects.toThrow('The filter finds 2 prices, not 99')
})
