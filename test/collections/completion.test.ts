// Completion of sets: goals counted by hand on a small catalogue, what missing cards cost, and copies to spare.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { published } from '../market/kit.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'
import { collector, makeCollection, operator } from './kit.ts'
import { runs } from '../support/runs.ts'

interface Missing {
  item_id: number
  name: string
  number: string | null
  slug: string
  finish: string | null
  price: { market: string; label: string; currency: string; amount: number; state: string } | null
  offer: { listing_id: number; item_id: number; label: string; currency: string; amount: number } | null
}
interface Completion {
  owned: number
  of: number
  percent: number | null
  missing: Missing[]
  cards: { item_id: number; name: string; finish: string | null; image: string | null; copies: number }[] | null
  cost_to_finish: {
    market: { currencies: { currency: string; amount: number }[]; priced: number; unpriced: number }
    listings: { currency: string; amount: number; offered: number; not_offered: number }
  }
  duplicates: {
    items: number
    copies: number
    unpriced: number
    currencies: { currency: string; amount: number }[]
    most: { item_id: number; copies: number }[]
  }
}
interface SetRow {
  category_id: number
  name: string
  owned: number
  of: number
  percent: number | null
}

let node: TestNode
let ids: Record<string, number>
let sets: Record<string, number>
let plus: ReturnType<typeof collector>
let collection: number

const category = { type: 'category', market: 'service', parent: null, image: null, game: 'pokemon' }

function line(ref: string, of: string, code: string | null, more: object = {}) {
  const common = { type: 'item', market: 'service', genre: 'single', game: 'pokemon', images: [], attributes: [], details: {}, foreign_ids: [] }
  return { ...common, ref, name: ref.split('-')[0], code, category: of, groups: ['ungraded', 'graded'], prices: [], ...more }
}

function attributes(finish: string | null, language?: string) {
  return [...(finish === null ? [] : [{ name: 'Finish', value: finish }]), ...(language ? [{ name: 'Languages', value: language }] : [])]
}

function price(market: string, label: string, amount: string) {
  return { market, label, price: amount, updated_at: '2026-11-01T00:00:00Z' }
}

/** A set of 3 cards with a secret card, a subset and a promo; one without a printed count; and a sealed product. */
const CATALOGUE = [
  { ...category, ref: 'base', name: 'Base', printed_total: 3 },
  { ...category, ref: 'op', name: 'Romance', game: 'onepiece' },
  { ...category, ref: 'twins', name: 'Twins' },
  line('Twin-plain', 'twins', '1/1', { attributes: attributes('normal') }),
  line('Twin-holo', 'twins', '1/1', { attributes: attributes('holo') }),
  line('Ant-plain', 'base', '1/3', { attributes: attributes('normal', 'en, ja'), prices: [price('service', 'Near Mint', '10.00')] }),
  line('Ant-holo', 'base', '1/3', {
    images: [{ url: 'https://cards.example/ant.png', order: 0 }],
    attributes: attributes('holo', 'en'),
    prices: [price('service', 'Near Mint', '50.10')],
  }),
  line('Bee', 'base', '2/3', { attributes: attributes('normal', 'en'), prices: [price('source_a', 'Near Mint', '2.50')] }),
  line('Cat', 'base', '003/3', {
    attributes: attributes('normal', 'en'),
    prices: [price('service', 'Near Mint', '7.05'), price('service', 'PSA 10', '100.00')],
  }),
  line('Secret', 'base', '4/3', { attributes: attributes('holo', 'en') }),
  line('Gallery', 'base', 'TG1/TG2', { attributes: attributes('holo', 'en') }),
  line('Beyond', 'base', 'TG3/TG2', { attributes: attributes('holo', 'en') }),
  line('Promo', 'base', null),
  line('Box', 'base', null, { genre: 'sealed', groups: [] }),
  line('Luffy', 'op', 'OP01-001', { game: 'onepiece' }),
  line('Zoro', 'op', 'OP01-002', { game: 'onepiece' }),
]

beforeAll(async () => {
  node = await startTestNode()
  const report = await importText(node, 'mintmark-ndjson', CATALOGUE.map((one) => JSON.stringify(one)).join('\n'))
  expect(report.counts.rejected).toBe(0)
  const items = await node.db.kysely.selectFrom('items').select(['id', 'ref']).execute()
  ids = Object.fromEntries(items.map((row) => [row.ref, row.id]))
  const categories = await node.db.kysely.selectFrom('categories').select(['id', 'ref']).execute()
  sets = Object.fromEntries(categories.map((row) => [row.ref, row.id]))
  plus = collector(node, node.keys.plus)
  collection = await makeCollection(node, node.accounts.plus)
  await add('Ant-holo', { quantity: 2 })
  await add('Ant-holo')
  await add('Cat', { quantity: 1 })
  await add('Cat', { item_group_type_id: await grade('PSA 10') })
  await add('Gallery')
  await add('Box', { quantity: 5 })
  await add('Luffy')
})

afterAll(() => node.close())

function add(ref: string, more: object = {}) {
  return plus.add(collection, { item_id: ids[ref], ...more })
}

async function grade(name: string): Promise<number> {
  const groups = node.db.kysely.selectFrom('groups').select('id').where('name', '=', name).where('parent_id', 'is not', null)
  return (await groups.executeTakeFirstOrThrow()).id
}

async function completion(query: string, of = collection): Promise<Completion> {
  const { status, body } = await plus.ask<Completion>('GET', `/${of}/completion?${query}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}

const namesOf = ({ missing }: Completion) => missing.map(({ name, finish }) => (finish ? `${name} ${finish}` : name))
const inBase = (query: string) => completion(`category_id=${sets.base}&${query}`)

describe('goals', () => {
  test('base: numbers up to the printed count', async () => {
    const base = await inBase('goal=base')
    expect([base.owned, base.of, base.percent, namesOf(base)]).toEqual([2, 3, 66.6, ['Bee normal']])
  })

  test('official: also subsets, up to their own counts', async () => {
    const official = await inBase('goal=official')
    expect([official.owned, official.of, official.percent, namesOf(official)]).toEqual([3, 4, 75, ['Bee normal']])
  })

  test('complete: every card once, by number, those without one last; sealed products never', async () => {
    const complete = await inBase('goal=complete')
    expect([complete.owned, complete.of, namesOf(complete)]).toEqual([3, 7, ['Bee normal', 'Secret holo', 'Beyond holo', 'Promo']])
    expect(await inBase('')).toEqual(complete)
  })

  test('master: every finish', async () => {
    const master = await inBase('goal=master')
    expect([master.owned, master.of, namesOf(master)]).toEqual([3, 8, ['Ant normal', 'Bee normal', 'Secret holo', 'Beyond holo', 'Promo']])
  })

  test('with_owned adds all cards in order, with their copies over all printings and their pictures; the pages are those of all cards', async () => {
    const plain = await inBase('goal=base')
    expect(plain.cards).toBeNull()
    const all = await inBase('goal=base&with_owned=1')
    expect(all.cards!.map(({ name, finish, copies }) => [name, finish, copies])).toEqual([
      ['Ant', 'holo', 3],
      ['Bee', 'normal', 0],
      ['Cat', 'normal', 2],
    ])
    expect(all.cards![0]!.image).toBe('https://cards.example/ant.png')
    expect({ ...all, cards: null }).toEqual(plain)
    const { status, body } = await plus.ask<Completion>(
      'GET',
      `/${collection}/completion?category_id=${sets.base}&goal=base&with_owned=1&per_page=2&page=2`,
    )
    expect([status, body.data.cards!.map(({ name }) => name), body.data.missing]).toEqual([200, ['Cat'], []])
    expect(body.pagination).toMatchObject({ total: 3, last_page: 2 })
  })

  test('a set is found by words of its name and by its id', async () => {
    const found = async (query: string) =>
      (await send<{ id: number; name: string }[]>(`${node.publicUrl}/api/v1/categories?${query}`, node.keys.plus)).body.data.map(({ name }) => name)
    expect(await found('search=BÁSE')).toEqual(['Base'])
    expect(await found('search=win%20t')).toEqual(['Twins'])
    expect(await found(`id=${sets.op}`)).toEqual(['Romance'])
    expect(await found(`id=${sets.op}&search=base`)).toEqual([])
    expect(await found('search=%26')).toHaveLength(3)
  })

  test('a set that prints no count: all its numbered cards', async () => {
    for (const goal of ['base', 'official', 'complete']) {
      const op = await completion(`category_id=${sets.op}&goal=${goal}`)
      expect([op.owned, op.of, op.percent, namesOf(op)]).toEqual([1, 2, 50, ['Zoro']])
    }
  })

  test('a language: only items that the catalogue has in it', async () => {
    const japanese = await inBase('language=ja')
    // The holo card that is owned exists in English only.
    expect([japanese.owned, japanese.of, namesOf(japanese)]).toEqual([0, 1, ['Ant normal']])
    expect(await inBase('language=Japanese')).toEqual({ ...japanese, language: 'Japanese' })
    const none = await inBase('language=xx')
    expect([none.owned, none.of, none.percent]).toEqual([0, 0, null])
  })

  test('a field query, alone or within a set', async () => {
    const cats = await completion(`query=${encodeURIComponent('name:cat or name:zoro')}`)
    expect([cats.owned, cats.of, namesOf(cats)]).toEqual([1, 2, ['Zoro']])
    const inSet = await inBase(`query=${encodeURIComponent('name:cat or name:zoro')}`)
    expect([inSet.owned, inSet.of, inSet.percent]).toEqual([1, 1, 100])
  })
})

test('what missing cards cost: trusted prices by currency, and the cheapest offers of others', async () => {
  const seller = { seller_id: node.accounts.enterprise }
  await published(node, ids.Secret!, { ...seller, price: 300, language: 'en' })
  const cheapest = await published(node, ids.Secret!, { ...seller, price: 250.5, language: 'ja' })
  // The caller's own listings do not count.
  await published(node, ids.Secret!, { price: 10 })
  // Of a card in several finishes, the offer may be another finish.
  const ant = await published(node, ids['Ant-holo']!, { ...seller, price: 4 })
  const complete = await inBase('goal=complete')
  expect(complete.cost_to_finish).toEqual({
    market: { currencies: [{ currency: 'USD', amount: 2.5 }], priced: 1, unpriced: 3 },
    listings: { currency: 'TRY', amount: 250.5, offered: 1, not_offered: 3 },
  })
  const [bee, secret] = complete.missing
  expect(bee!.price).toEqual({ market: 'source_a', label: 'Near Mint', currency: 'USD', amount: 2.5, state: 'trusted' })
  expect([bee!.offer, bee!.number, bee!.item_id]).toEqual([null, '2/3', ids.Bee])
  expect(secret!.price).toBe(null)
  expect(secret!.offer).toMatchObject({ listing_id: cheapest.id, item_id: ids.Secret, currency: 'TRY', amount: 250.5 })
  // Only offers that state the language.
  const english = await inBase('goal=complete&language=en')
  expect(english.cost_to_finish.listings).toMatchObject({ amount: 300, offered: 1 })
  const none = await makeCollection(node, node.accounts.plus, 'Nothing yet')
  const empty = await completion(`category_id=${sets.base}&goal=base`, none)
  expect(empty.cost_to_finish.market).toEqual({
    currencies: [
      { currency: 'TRY', amount: 17.05 },
      { currency: 'USD', amount: 2.5 },
    ],
    priced: 3,
    unpriced: 0,
  })
  expect(empty.missing[0]).toMatchObject({ item_id: ids['Ant-plain'], offer: { listing_id: ant.id, item_id: ids['Ant-holo'], amount: 4 } })
  await operator(node, 'POST', `/accounts/${node.accounts.enterprise}/suspend`)
})

test('a disputed price is shown with its state and does not count as a cost', async () => {
  const empty = await makeCollection(node, node.accounts.plus, 'Doubts')
  await node.db.kysely
    .updateTable('prices')
    .set({ state: STATES.indexOf('disputed') })
    .where('item_id', '=', ids.Bee!)
    .execute()
  await node.catalogue.reload()
  const base = await completion(`category_id=${sets.base}&goal=base`, empty)
  expect(base.missing.find(({ item_id: id }) => id === ids.Bee)!.price).toMatchObject({ amount: 2.5, state: 'disputed' })
  expect(base.cost_to_finish.market).toEqual({ currencies: [{ currency: 'TRY', amount: 17.05 }], priced: 2, unpriced: 1 })
  await node.db.kysely
    .updateTable('prices')
    .set({ state: STATES.indexOf('trusted') })
    .where('item_id', '=', ids.Bee!)
    .execute()
  await node.catalogue.reload()
})

test('duplicates: copies beyond the first of each item, the most valuable copy kept', async () => {
  const { duplicates } = await inBase('goal=complete')
  // Three holo ants at 50.10, of which two are spare; a PSA 10 cat is kept, and the ungraded one at 7.05 is spare.
  expect(duplicates).toMatchObject({ items: 2, copies: 3, unpriced: 0, currencies: [{ currency: 'TRY', amount: 107.25 }] })
  expect(duplicates.most.map(({ item_id: id, copies }) => [id, copies])).toEqual([
    [ids['Ant-holo'], 2],
    [ids.Cat, 1],
  ])
})

test('all sets at once, the fullest first', async () => {
  const { body } = await plus.ask<SetRow[]>('GET', `/${collection}/completion?goal=official`)
  expect(body.data.map(({ category_id: id, name, owned, of, percent }) => [id, name, owned, of, percent])).toEqual([
    [sets.base, 'Base', 3, 4, 75],
    [sets.op, 'Romance', 1, 2, 50],
  ])
  expect(body.pagination).toMatchObject({ total: 2, current_page: 1 })
  const second = await plus.ask<SetRow[]>('GET', `/${collection}/completion?goal=official&per_page=1&page=2`)
  expect(second.body.data.map(({ name }) => name)).toEqual(['Romance'])
})

test('missing cards are read page by page, and costs are those of all pages', async () => {
  const all = await inBase('goal=master')
  const first = await plus.ask<Completion>('GET', `/${collection}/completion?category_id=${sets.base}&goal=master&per_page=2&page=2`)
  expect(first.body.data.missing).toEqual(all.missing.slice(2, 4))
  expect(first.body.data.cost_to_finish).toEqual(all.cost_to_finish)
  expect(first.body.pagination).toMatchObject({ total: 5, last_page: 3, has_more: true })
})

test('over GraphQL, the same', async () => {
  const ask = async (query: string) => {
    const { body } = await send<Record<string, unknown>>(`${node.publicUrl}/graphql`, node.keys.plus, { json: { query } })
    return body as unknown as { data: Record<string, unknown>; errors?: { extensions: { code: string } }[] }
  }
  const rest = await inBase('goal=official')
  const fields =
    'owned of percent missing { itemId name number price { amount state } } costToFinish { market { priced unpriced currencies { currency amount } } listings { amount offered } } duplicates { items copies }'
  const { data } = await ask(`{ collectionCompletion(collectionId: ${collection}, categoryId: ${sets.base}, goal: "official") { ${fields} } }`)
  const shown = data.collectionCompletion as { owned: number; percent: number; missing: { itemId: string; price: { amount: number } }[] }
  expect([shown.owned, shown.percent, shown.missing.map(({ itemId }) => Number(itemId))]).toEqual([
    rest.owned,
    rest.percent,
    rest.missing.map(({ item_id: id }) => id),
  ])
  const sets_ = await ask(`{ collectionSets(collectionId: ${collection}) { sets { name owned of percent } pagination { total } } }`)
  expect((sets_.data.collectionSets as { pagination: { total: number } }).pagination.total).toBe(2)
  const neither = await ask(`{ collectionCompletion(collectionId: ${collection}) { owned } }`)
  expect(neither.errors?.[0]?.extensions.code).toBe('VALIDATION_ERROR')
})

test('items that are merged count as the card that remains', async () => {
  const other = await makeCollection(node, node.accounts.plus, 'Merged')
  await plus.add(other, { item_id: ids['Twin-plain'] })
  const before = await completion(`category_id=${sets.twins}&goal=master`, other)
  expect([before.owned, before.of]).toEqual([1, 2])
  const merged = await operator(node, 'POST', `/items/${ids['Twin-plain']}/merge`, { into: ids['Twin-holo'] })
  expect([merged.status, merged.body.error]).toEqual([200, undefined])
  const after = await completion(`category_id=${sets.twins}&goal=master`, other)
  expect([after.owned, after.of, after.percent, after.missing]).toEqual([1, 1, 100, []])
  const bySet = await plus.ask<SetRow[]>('GET', `/${other}/completion?goal=master`)
  expect(bySet.body.data).toMatchObject([{ category_id: sets.twins, owned: 1, of: 1, percent: 100 }])
})

describe('who may ask, and what', () => {
  test('lower plans, other accounts, operators keys that only read', async () => {
    const path = `/${collection}/completion?category_id=${sets.base}`
    for (const plan of ['starter', 'professional'] as const) {
      const refused = await collector(node, node.keys[plan]).ask('GET', path)
      expect([refused.status, refused.body.error?.code]).toEqual([403, 'PLAN_UPGRADE_REQUIRED'])
    }
    const foreign = await collector(node, node.keys.enterprise).ask('GET', path)
    expect([foreign.status, foreign.body.error?.code]).toEqual([422, 'PLUS_COLLECTION_ERROR'])
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    expect((await collector(node, key).ask('GET', path)).status).toBe(200)
  })

  test('an unknown category, collection or field', async () => {
    for (const path of [
      `/${collection}/completion?category_id=999999`,
      `/${collection}/completion?category_id=${sets.base}&goal=everything`,
      `/${collection}/completion?query=${encodeURIComponent('nofield:x')}`,
      '/999999/completion',
      '/99999999999/completion',
    ]) {
      const refused = await plus.ask('GET', path)
      expect([path, refused.status, refused.body.error?.code]).toEqual([path, 422, 'PLUS_COLLECTION_ERROR'])
    }
  })

  test('never fails on generated input', async () => {
    const anything = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.integer().map(String),
      fc.constantFrom('1e3', '-1', '2147483648', 'NaN', '%00', '('),
    )
    const fields = fc.record(
      { category_id: anything, query: anything, goal: anything, language: anything, page: anything, per_page: anything },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fields, async (sent) => {
        const { status } = await plus.ask('GET', `/${collection}/completion?${new URLSearchParams(sent as Record<string, string>).toString()}`)
        expect([200, 422]).toContain(status)
      }),
      { numRuns: runs(80) },
    )
  })
})
