// Watches of goals: told once when a set that was complete is so no longer, whatever happens to nodes, collections and sets.
import { beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { followChanges } from '#watches/follow-changes.ts'
import { tellGoals } from '#watches/tell-goals.ts'
import { merge, undo } from '../identity/kit.ts'
import { DAY_MS, operator, plus } from '../market/kit.ts'
import { importText, type TestNode } from '../support/node.ts'
import { below, newItem, twoNodes, watching } from './kit.ts'

interface GoalWatch {
  id: number
  kind: string
  collection_id: number
  collection_name: string
  category_id: number
  category_name: string
  goal: string
  language: string
  complete: boolean | null
  told_on: string | null
  created_at: string
  updated_at: string
}

interface Reopened {
  watch_id: number
  kind: string
  of: number
  missing_count: number
  missing: { item_id: number; name: string; number: string | null }[]
}

let node: TestNode
let other: TestNode

const { nodes, advance } = twoNodes()
beforeAll(() => {
  ;[node, other] = nodes()
})

const nextDay = () => advance(DAY_MS)
const mine = () => node.keys.enterprise

function compare({ ctx, catalogue, listings, config }: TestNode = node): Promise<void> {
  return tellGoals({ ...ctx, catalogue, listings, currencies: config.sourceCurrencies })
}

const ITEM = { type: 'item', market: 'service', genre: 'single', game: 'pokemon', groups: ['ungraded', 'graded'], prices: [] }
const NOTHING = { images: [], attributes: [], details: {}, foreign_ids: [] }
let count = 0

interface OwnedSet {
  ref: string
  set: number
  collection: number
  /** in the order of the numbers of their cards */
  items: number[]
  records: number[]
}

async function addCards(of: { ref: string }, numbers: readonly number[]): Promise<void> {
  const set = { type: 'category', market: 'service', ref: of.ref, name: `Set ${of.ref}`, game: 'pokemon', parent: null, image: null }
  const cards = numbers.map((n) => ({ ...ITEM, ...NOTHING, ref: `${of.ref}-${n}`, name: `Card ${n}`, code: String(n), category: of.ref }))
  const report = await importText(node, 'mintmark-ndjson', [set, ...cards].map((line) => JSON.stringify(line)).join('\n'))
  expect(report.counts.rejected, JSON.stringify(report.errors)).toBe(0)
}

async function addRecord(collection: number, item: number, key = mine()): Promise<number> {
  const { status, body } = await plus<{ id: number }>(node, 'POST', `/collections/${collection}/items`, { item_id: item, quantity: 1 }, { key })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.data.id
}

async function newCollection(account: number = node.accounts.enterprise): Promise<number> {
  return (await operator<{ id: number }>(node, 'POST', '/collections', { account_id: account, name: 'Binder' })).body.data.id
}

/** A new set and a new collection that has all its cards. */
async function ownedSet(cards = 2): Promise<OwnedSet> {
  const ref = `goal-${(count += 1)}`
  await addCards(
    { ref },
    Array.from({ length: cards }, (_, i) => i + 1),
  )
  const rows = await node.db.kysely.selectFrom('items').select(['id', 'category_id']).where('ref', 'like', `${ref}-%`).orderBy('id').execute()
  const items = rows.map(({ id }) => id)
  const collection = await newCollection()
  const records: number[] = []
  for (const item of items) records.push(await addRecord(collection, item))
  return { ref, set: rows[0]!.category_id, collection, items, records }
}

async function watched(of: Pick<OwnedSet, 'collection' | 'set'>, fields: object = {}): Promise<GoalWatch> {
  const body = { kind: 'goal_reopened', collection_id: of.collection, category_id: of.set, ...fields }
  const answer = await watching<GoalWatch[]>(node, 'PUT', '', body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.data[0]!
}

const read = async ({ id }: { id: number }) => (await watching<GoalWatch>(node, 'GET', `/${id}`)).body.data

const remove = (of: OwnedSet, record: number) =>
  plus(node, 'DELETE', `/collections/${of.collection}/items/${record}`, undefined, { key: mine() }).then(({ status }) => expect(status).toBe(200))

/** The events of a watch, oldest first. */
async function told({ id }: { id: number }, key = mine()): Promise<Reopened[]> {
  const { body } = await plus<{ event: string; data: Reopened; delivered: boolean }[]>(node, 'GET', '/events?limit=1000', undefined, { key })
  return body.data.filter(({ event, data }) => event === 'watch' && data.watch_id === id).map(({ data }) => data)
}

describe('a goal is told', () => {
  test('when a copy leaves a complete set, with what is missing, and only in the feed', async () => {
    const of = await ownedSet(7)
    const watch = await watched(of)
    expect(watch).toEqual({
      id: expect.any(Number),
      kind: 'goal_reopened',
      collection_id: of.collection,
      collection_name: 'Binder',
      category_id: of.set,
      category_name: `Set ${of.ref}`,
      goal: 'complete',
      language: 'any',
      complete: null,
      told_on: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    await compare()
    expect(await read(watch)).toEqual({ ...watch, complete: true })
    for (const record of of.records.slice(0, 6)) await remove(of, record)
    await compare()
    expect(await told(watch)).toEqual([])
    nextDay()
    await compare()
    expect(await told(watch)).toEqual([
      {
        watch_id: watch.id,
        kind: 'goal_reopened',
        collection_id: of.collection,
        collection_name: 'Binder',
        category_id: of.set,
        category_name: `Set ${of.ref}`,
        goal: 'complete',
        language: 'any',
        of: 7,
        missing_count: 6,
        missing: [1, 2, 3, 4, 5].map((n) => ({ item_id: of.items[n - 1], name: `Card ${n}`, number: String(n) })),
      },
    ])
    expect(await read(watch)).toMatchObject({ complete: false, told_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) })
    const stored = await node.db.kysely.selectFrom('webhook_events').select(['state', 'attempts']).where('kind', '=', 'watch').execute()
    expect(stored.every(({ state, attempts }) => state === 'cancelled' && attempts === 0)).toBe(true)
  })

  test('when a new card comes into the set; once until it is complete again, then again', async () => {
    const of = await ownedSet()
    const watch = await watched(of)
    await compare()
    await addCards(of, [1, 2, 3])
    for (let day = 0; day < 3; day += 1) {
      nextDay()
      await compare()
    }
    expect((await told(watch)).map(({ missing }) => missing.map(({ name }) => name))).toEqual([['Card 3']])
    const { id } = await node.db.kysely.selectFrom('items').select('id').where('ref', '=', `${of.ref}-3`).executeTakeFirstOrThrow()
    const record = await addRecord(of.collection, id)
    nextDay()
    await compare()
    expect([(await told(watch)).length, (await read(watch)).complete]).toEqual([1, true])
    await remove(of, record)
    nextDay()
    await compare()
    expect((await told(watch)).length).toBe(2)
  })

  test('not while it never was complete, and not at its first comparison', async () => {
    const of = await ownedSet()
    await remove(of, of.records[0]!)
    const watch = await watched(of)
    await compare()
    nextDay()
    await compare()
    expect([await told(watch), (await read(watch)).complete]).toEqual([[], false])
  })

  test('for its own rule and language', async () => {
    const of = await ownedSet()
    const base = await watched(of, { goal: 'base' })
    const english = await watched(of, { language: 'EN' })
    expect(english.language).toBe('en')
    await compare()
    // No item of the set states a language, so there is nothing to compare.
    expect([(await read(base)).complete, (await read(english)).complete]).toEqual([true, null])
    await remove(of, of.records[1]!)
    nextDay()
    await compare()
    expect([(await told(base)).length, (await told(english)).length]).toEqual([1, 0])
  })

  test('once by two nodes', { tags: 'slow' }, async () => {
    const sets = [await ownedSet(), await ownedSet(), await ownedSet()]
    const watches: GoalWatch[] = []
    for (const of of sets) watches.push(await watched(of))
    await compare(other)
    for (const of of sets) await remove(of, of.records[0]!)
    nextDay()
    await Promise.all([node, other, node, other].map(compare))
    for (const watch of watches) expect((await told(watch)).length).toBe(1)
  })

  test('when a merge that completed it is undone', { tags: 'slow' }, async () => {
    const of = await ownedSet(1)
    await addCards(of, [1, 2])
    const { id } = await node.db.kysely.selectFrom('items').select('id').where('ref', '=', `${of.ref}-2`).executeTakeFirstOrThrow()
    const merging = await merge(node, id, of.items[0]!)
    expect(merging.status, JSON.stringify(merging.body)).toBe(200)
    const watch = await watched(of)
    await compare()
    expect((await read(watch)).complete).toBe(true)
    expect((await undo(node, merging.body.data.batch_id)).status).toBe(200)
    nextDay()
    await compare()
    expect((await told(watch)).map(({ missing }) => missing.map(({ item_id: item }) => item))).toEqual([[id]])
  })

  test('not to a suspended account or one on a smaller plan, but after that', async () => {
    const of = await ownedSet()
    const watch = await watched(of)
    await compare()
    await remove(of, of.records[0]!)
    const account = `/accounts/${node.accounts.enterprise}`
    for (const [changed, back] of [
      [{ suspended: true }, { suspended: false }],
      [{ plan: 'professional' }, { plan: 'enterprise' }],
    ]) {
      await operator(node, 'PATCH', account, changed)
      nextDay()
      await compare()
      await followChanges(node.ctx)
      await operator(node, 'PATCH', account, back)
      expect(await told(watch)).toEqual([])
    }
    nextDay()
    await compare()
    expect((await told(watch)).length).toBe(1)
  })
})

describe('a watch of a goal', () => {
  test('is created once, beside those of items, and never by an amount', async () => {
    const of = await ownedSet()
    const item = await newItem(node)
    const goal = { kind: 'goal_reopened', collection_id: of.collection, category_id: of.set }
    const row = { kind: 'offer_below', item_id: item, amount: 5 }
    const rows = [goal, row, { ...goal, goal: 'complete', language: 'any' }, { ...goal, goal: 'master', language: null }]
    const { body } = await watching<GoalWatch[]>(node, 'PUT', '', rows)
    const [first, second, same, master] = body.data
    expect([same, master!.goal, second]).toEqual([first, 'master', expect.objectContaining({ item_id: item, currency: 'TRY' })])
    expect(Object.keys(second!)).not.toContain('goal')
    expect((await watched(of)).id).toBe(first!.id)
    const list = async (query: string) => (await watching<GoalWatch[]>(node, 'GET', `?${query}`)).body.data.map(({ id }) => id)
    expect(await list(`collection_id=${of.collection}`)).toEqual([master!.id, first!.id])
    expect(await list(`kind=goal_reopened&collection_id=${of.collection}`)).toEqual([master!.id, first!.id])
    expect(await list(`kind=offer_below&collection_id=${of.collection}`)).toEqual([])
    expect(await list('collection_id=99999999999')).toEqual([])
    const changed = await watching(node, 'PUT', `/${first!.id}`, { amount: 5 })
    expect([changed.status, changed.body.error?.details?.[0]]).toMatchObject([422, { field: 'amount', rule: 'not_for_kind' }])
    await followChanges(node.ctx)
    expect((await watching(node, 'DELETE', `/${first!.id}`)).status).toBe(200)
    expect(await list(`collection_id=${of.collection}`)).toEqual([master!.id])
  })

  test('that is deleted and created again on the day of its event is not told again', async () => {
    const of = await ownedSet()
    const watch = await watched(of)
    await compare()
    await remove(of, of.records[0]!)
    nextDay()
    await compare()
    expect((await told(watch)).length).toBe(1)
    await watching(node, 'DELETE', `/${watch.id}`)
    const again = await watched(of)
    const record = await addRecord(of.collection, of.items[0]!)
    await compare()
    await remove(of, record)
    await compare()
    expect([await told(again), (await read(again)).complete]).toEqual([[], true])
  })

  test('is deleted with its collection, and with its set', async () => {
    const of = await ownedSet()
    const line = { type: 'category', market: 'service', ref: 'gone', name: 'Gone', game: 'pokemon', parent: null, image: null }
    const { id: imported } = await importText(node, 'mintmark-ndjson', JSON.stringify(line))
    const { id: set } = await node.db.kysely.selectFrom('categories').select('id').where('ref', '=', 'gone').executeTakeFirstOrThrow()
    const empty = { collection: of.collection, set }
    const watches = [await watched(of), await watched(empty)]
    await compare()
    expect((await read(watches[1]!)).complete).toBeNull()
    expect((await operator(node, 'POST', `/imports/${imported}/revert`)).status).toBeLessThan(300)
    expect((await watching(node, 'GET', `/${watches[1]!.id}`)).status).toBe(404)
    expect((await watching(node, 'PUT', '', { kind: 'goal_reopened', collection_id: of.collection, category_id: set })).status).toBe(422)
    expect((await operator(node, 'DELETE', `/collections/${of.collection}`)).status).toBeLessThan(300)
    expect((await watching(node, 'GET', `/${watches[0]!.id}`)).status).toBe(404)
    nextDay()
    await compare()
  })

  test('for the collection of another account, or one that does not exist, is 404', async () => {
    const of = await ownedSet()
    const foreign = await newCollection(node.accounts.plus)
    for (const id of [foreign, 2_147_483_647]) {
      const { status, body } = await watching(node, 'PUT', '', { kind: 'goal_reopened', collection_id: id, category_id: of.set })
      expect([status, body.error]).toMatchObject([404, { code: 'NOT_FOUND', params: { thing: 'collection', id } }])
    }
  })

  test('is refused by field', async () => {
    const of = await ownedSet()
    const item = await newItem(node)
    const good = { kind: 'goal_reopened', collection_id: of.collection, category_id: of.set }
    const bad: [object, string, string][] = [
      ...[0, -1, 2_147_483_648, 1.5, 'x', null, true, [], {}].flatMap((value): [object, string, string][] => [
        [{ ...good, collection_id: value }, 'collection_id', 'integer'],
        [{ ...good, category_id: value }, 'category_id', 'integer'],
      ]),
      [{ ...good, collection_id: undefined }, 'collection_id', 'required'],
      [{ ...good, category_id: undefined }, 'category_id', 'required'],
      [{ ...good, category_id: 2_147_483_647 }, 'category_id', 'unknown_id'],
      ...['all', '', null, 5, '\0'].map((goal): [object, string, string] => [{ ...good, goal }, 'goal', 'one_of']),
      ...['', '\0', 'x'.repeat(36), '\ud800', 'e n '].map((language): [object, string, string] => [{ ...good, language }, 'language', 'or_null']),
      [{ ...good, item_id: item }, 'item_id', 'not_for_kind'],
      [{ ...good, label: 'Near Mint' }, 'label', 'not_for_kind'],
      [{ ...good, amount: 5 }, 'amount', 'not_for_kind'],
      [{ ...good, currency: 'TRY' }, 'currency', 'not_for_kind'],
      [{ ...good, query: 'name:x' }, 'query', 'unknown_field'],
      [{ kind: 'offer_below', item_id: item, amount: 5, collection_id: of.collection }, 'collection_id', 'only_for_kind'],
      [{ kind: 'offer_below', item_id: item, amount: 5, category_id: of.set }, 'category_id', 'only_for_kind'],
      [{ kind: 'offer_below', item_id: item, amount: 5, goal: 'base' }, 'goal', 'only_for_kind'],
      [{ kind: 'offer_below', amount: 5 }, 'item_id', 'required'],
      [{ kind: 'offer_below', item_id: item }, 'amount', 'required'],
    ]
    for (const [fields, field, rule] of bad) {
      const { status, body } = await watching(node, 'PUT', '', fields)
      expect([status, body.error?.details?.[0]], JSON.stringify(fields)).toMatchObject([422, { field: `watches.${field}`, rule }])
    }
    expect((await watching<GoalWatch[]>(node, 'GET', `?collection_id=${of.collection}`)).body.data).toEqual([])
  })

  test('needs Plus, and a key that writes', async () => {
    const of = await ownedSet()
    const body = { kind: 'goal_reopened', collection_id: of.collection, category_id: of.set }
    for (const key of [node.keys.starter, node.keys.professional]) {
      expect((await watching(node, 'PUT', '', body, key)).body.error?.code).toBe('PLAN_UPGRADE_REQUIRED')
    }
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.enterprise, read_only: true })
    expect((await watching(node, 'PUT', '', body, key)).body.error?.code).toBe('READ_ONLY_KEY')
    expect((await watching(node, 'GET', `?collection_id=${of.collection}`, undefined, key)).status).toBe(200)
  })

  test('is one of at most 100 of an account, also for two nodes at once', async () => {
    const of = await ownedSet(1)
    await watching(node, 'DELETE', '')
    const row = (i: number) => ({ kind: 'goal_reopened', collection_id: of.collection, category_id: of.set, language: `l${i}` })
    const rows = Array.from({ length: 101 }, (_, i) => row(i))
    expect((await watching(node, 'PUT', '', rows)).body.error?.details).toMatchObject([{ field: 'watches', rule: 'too_many_goals' }])
    expect((await watching(node, 'PUT', '', rows.slice(0, 99))).status).toBe(200)
    expect((await watching(node, 'PUT', '', rows.slice(99))).body.error?.details).toMatchObject([{ rule: 'too_many_goals' }])
    const racing = await Promise.all([99, 100, 101, 102].map((i) => watching(i % 2 ? node : other, 'PUT', '', row(i), mine())))
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422])
    await compare()
    expect((await watching(node, 'DELETE', '')).body.message).toBe('Watches deleted')
  })

  test('is the same over GraphQL, and so is its event', async () => {
    const of = await ownedSet()
    const { id: itemWatch } = await below(node, of.items[0]!, 5)
    const ask = async (query: string) => {
      const headers = { authorization: `Bearer ${mine()}`, 'content-type': 'application/json' }
      const response = await fetch(`${node.publicUrl}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
      return (await response.json()) as { data: Record<string, unknown>; errors?: object[] }
    }
    const fields = 'id kind itemId amount currency collectionId collectionName categoryId categoryName goal language complete'
    const input = `{kind: "goal_reopened", collectionId: ${of.collection}, categoryId: ${of.set}, goal: "official"}`
    const put = await ask(`mutation { putWatches(watches: [${input}]) { ${fields} } }`)
    expect(put.errors).toBeUndefined()
    const [stored] = (await watching<GoalWatch[]>(node, 'GET', `?collection_id=${of.collection}`)).body.data
    const expected = {
      id: String(stored!.id),
      kind: 'goal_reopened',
      itemId: null,
      amount: null,
      currency: null,
      collectionId: String(of.collection),
      collectionName: 'Binder',
      categoryId: String(of.set),
      categoryName: `Set ${of.ref}`,
      goal: 'official',
      language: 'any',
      complete: null,
    }
    expect(put.data).toEqual({ putWatches: [expected] })
    const list = await ask(`{ watches(collectionId: ${of.collection}) { watches { ${fields} } } watch(id: ${itemWatch}) { goal complete amount } }`)
    expect(list.data).toEqual({ watches: { watches: [expected] }, watch: { goal: null, complete: null, amount: 5 } })
    await compare()
    await remove(of, of.records[1]!)
    nextDay()
    await compare()
    const feed = await ask('{ events(limit: 1000) { events { data { watchId kind listingId of missingCount missing { itemId name number } } } } }')
    expect(feed.errors).toBeUndefined()
    const { events: all } = feed.data.events as { events: { data: { watchId: string | null } }[] }
    expect(all.find(({ data }) => data.watchId === String(stored!.id))?.data).toEqual({
      watchId: String(stored!.id),
      kind: 'goal_reopened',
      listingId: 0,
      of: 2,
      missingCount: 1,
      missing: [{ itemId: String(of.items[1]), name: 'Card 2', number: '2' }],
    })
  })
})
