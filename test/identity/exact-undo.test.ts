// Merges of items of any origin, in any chain, reverted in reverse order: tables and responses are the same as before.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFiles, send, startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { hangOn, makeTwins, merged, operator, postPrices, stateOf, undo } from './kit.ts'

let node: TestNode
let category: number
let cases = 0

beforeAll(async () => {
  node = await startTestNode()
  await makeTwins(node, [{ ref: 'first:a', market: 'source_a' }])
  category = (await node.db.kysely.selectFrom('categories').select('id').executeTakeFirstOrThrow()).id
})
afterAll(() => node.close())

/** Where an item comes from: `exported` items state their slugs, as catalogues exported by another service do. */
const origin = fc.constantFrom('imported', 'exported', 'exported tcgdex', 'exported pokemontcg', 'operator', 'operator with slug', 'changed')
const card = fc.record({
  origin,
  market: fc.constantFrom('source_a', 'source_b', 'source_c'),
  /** ids shared with other cards of the run */
  ids: fc.uniqueArray(fc.constantFrom('one', 'two', 'three'), { maxLength: 2 }),
  price: fc.constantFrom(null, 10, 10, 11, 300),
  used: fc.boolean(),
})
type Card = typeof card extends fc.Arbitrary<infer T> ? T : never

const chain = fc.array(fc.record({ from: fc.nat(), into: fc.nat() }), { minLength: 1, maxLength: 4 })

async function make({ origin, market, ids, price, used }: Card, n: number): Promise<number> {
  const name = `${cases}-${n}`
  const foreignIds = ids.map((id) => ({ source: 'cardmarket', id: `${cases}-${id}` }))
  const id = await created(origin, market, name, foreignIds)
  if (price !== null) {
    for (const [of, day] of [
      ['source_a', '2026-10-01'],
      ['source_b', `2026-10-0${n + 1}`],
    ] as const)
      await postPrices(node, [{ item_id: id, market: of, price, updated_at: `${day}T00:00:00Z` }])
  }
  if (used) await hangOn(node, id, 100 * (n + 1))
  return id
}

async function created(origin: Card['origin'], market: string, name: string, foreignIds: { source: string; id: string }[]): Promise<number> {
  if (origin.startsWith('operator')) {
    const slug = origin === 'operator' ? {} : { slug: `of-an-operator-${name}` }
    const { body } = await operator<{ id: number }>(node, 'POST', '/items', {
      name: `Card ${name}`,
      market: 'source_a',
      category_id: category,
      foreign_ids: foreignIds,
      ...slug,
    })
    if (!body.success) throw new Error(JSON.stringify(body))
    return body.data.id
  }
  const source = origin.split(' ')[1] ?? 'test'
  const ref = `${source}:${name}`
  const id = (
    await makeTwins(node, [{ ref, market, name: `Card ${name}`, foreignIds, ...(origin.startsWith('exported') && { slug: `exported-${name}` }) }])
  )[ref]!
  if (origin === 'changed') {
    const { status } = await operator(node, 'PATCH', `/items/${id}`, { name: `Changed ${name}`, slug: `changed-${name}`, code: null })
    expect(status).toBe(200)
  }
  return id
}

/** The digests of all tables, and the responses about the items. */
async function everything(ids: readonly number[]) {
  const { tables, answers } = { tables: await stateOf(node), answers: [] as unknown[] }
  for (const id of ids) {
    const stored = await operator<object>(node, 'GET', `/items/${id}`)
    const sources = await operator<object[]>(node, 'GET', `/items/${id}/sources`)
    const shown = await send<object>(`${node.publicUrl}/api/v1/items/${id}?with_stats=1`, node.keys.professional)
    const history = await operator<object[]>(node, 'GET', `/items/${id}/price-history`)
    // Reverting changes the item, too.
    if (stored.body.success) Object.assign(stored.body.data, { updated_at: null })
    answers.push([stored.body, sources.body, shown.body, history.body])
  }
  return { tables, answers }
}

/** The operator's item took the slug that the catalogue states for the other one. */
const INTO_AN_OPERATORS_ITEM: [Card[], { from: number; into: number }[]] = [
  (['exported', 'operator'] as const).map((origin) => ({ origin, market: 'source_a', ids: [], price: null, used: false })),
  [{ from: 0, into: 0 }],
]

test('merges in any chain of items of any origin are reverted exactly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(card, { minLength: 2, maxLength: 4 }), chain, async (cards: Card[], steps) => {
      cases += 1
      const ids: number[] = []
      for (const [n, each] of cards.entries()) ids.push(await make(each, n))
      const left = [...ids]
      const undone: { batch: number; before: unknown }[] = []
      for (const step of steps) {
        if (left.length < 2) break
        const [from] = left.splice(step.from % left.length, 1)
        const before = await everything(ids)
        undone.push({ batch: await merged(node, from!, left[step.into % left.length]!), before })
      }
      for (const { batch, before } of undone.reverse()) {
        expect((await undo(node, batch)).body).toMatchObject({ success: true })
        expect(await everything(ids)).toEqual(before)
      }
    }),
    { numRuns: runs(12), endOnFailure: true, examples: [INTO_AN_OPERATORS_ITEM] },
  )
})

test.each(['source_a', 'source_b', 'the same'])('a survivor that cannot have its stated ref gets its own back: merged item of %s', async (market) => {
  const card = `refs-${market.replace(' ', '-')}`
  const ref = `pokemontcg:${card}-1`
  const create = { name: 'Made by an operator', market: 'source_a', category_id: category, ref }
  const createdId = (await operator<{ id: number }>(node, 'POST', '/items', create)).body.data.id
  await importFiles(node, 'pokemontcg', [
    { name: 'sets', text: JSON.stringify([{ id: card, name: card, series: 'Refs', printedTotal: 1 }]) },
    { name: 'cards', text: JSON.stringify({ id: `${card}-1`, name: card, supertype: 'Pokémon', number: '1' }) },
  ])
  const { id: survivor } = await node.db.kysely.selectFrom('items').select('id').where('ref', '=', `${ref}:other`).executeTakeFirstOrThrow()
  const name = `test:${card}`
  const other = market === 'the same' ? createdId : (await makeTwins(node, [{ ref: name, market }]))[name]!
  const ids = [survivor, createdId, other]
  const before = await everything(ids)
  const batch = await merged(node, other, survivor)
  expect((await operator(node, 'GET', `/items/${survivor}`)).body.data).toMatchObject({ ref: market === 'the same' ? ref : name })
  expect((await undo(node, batch)).body).toMatchObject({ success: true })
  expect(await everything(ids)).toEqual(before)
})
