// Cursors over HTTP: pages stay correct while items are added, deleted and repriced, under every sort.
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { SORT_DIRECTIONS, SORT_FIELDS, type SortDirection, type SortField } from '#catalogue/index/sort-keys.ts'
import { MARKETS } from '#core/markets.ts'
import { call } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { packPrices } from '#prices/records/price-payload.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { ask, type GraphqlReply } from '../graphql/client.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { rowsOf, runs } from '../support/runs.ts'

/** Most items are of source_a; some have only a source_b price, in another currency. */
const PRICED = [MARKETS.indexOf('source_a'), MARKETS.indexOf('source_b')]

let node: TestNode
let categoryId: number
let nearMint: number

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
  const category = { market: 'source_a', ref: 'test:paging', name: 'Paging', game: 'pokemon' }
  categoryId = (await call(createCategory, node.ctx, category)).id
  const day = '2026-01-01'
  await call(setRates, node.ctx, {
    rates: [
      { day, currency: 'USD', TRY: 40 },
      { day, currency: 'EUR', TRY: 100 },
    ],
  })
  const label = await sql<{ id: number }>`select id from groups where name = 'Near Mint'`.execute(node.db.kysely)
  nearMint = label.rows[0]!.id
})

afterAll(() => node.close())

async function addItem(name: string, code: string | null): Promise<number> {
  return (await call(createItem, node.ctx, { market: 'source_a', name, code, category_id: categoryId })).id
}

async function removeItem(id: number): Promise<void> {
  await change(node.ctx, async (tx, note) => {
    await sql`delete from prices where item_id = ${id}`.execute(tx)
    await sql`delete from items where id = ${id}`.execute(tx)
    note.changed('items', [id])
  })
}

/** Sets the Near Mint price, as a price import does. */
async function reprice(itemId: number, { minor, market }: { minor: number; market: number }): Promise<void> {
  await change(node.ctx, async (tx, note) => {
    const updatedAtMs = Date.now()
    await sql`insert into prices (item_id, market, label_id, price, updated_at, import_id)
      values (${itemId}, ${market}, ${nearMint}, ${minor}::numeric / 100, ${new Date(updatedAtMs)}, 0)
      on conflict (item_id, market, label_id) do update set price = excluded.price, updated_at = excluded.updated_at`.execute(tx)
    await note.changedPrices(packPrices([{ itemId, market, labelId: nearMint, minor, updatedAtMs }]))
  })
}

interface ItemPage {
  nodes: { id: string }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

async function page(sortBy: string, sortOrder: string, first: number, after: string | null): Promise<ItemPage> {
  const query = `query ($sortBy: String, $sortOrder: String, $first: Int, $after: String, $categoryId: ID) {
    items(sortBy: $sortBy, sortOrder: $sortOrder, first: $first, after: $after, categoryId: $categoryId) {
      nodes { id } pageInfo { hasNextPage endCursor } } }`
  const reply = await ask<{ items: ItemPage }>(node, query, { variables: { sortBy, sortOrder, first, after, categoryId } })
  expect(reply.errors).toBeUndefined()
  return reply.data.items
}

// Few distinct names, codes and prices, so that many items tie.
const name = fc.constantFrom('Abra', 'abra', 'Élan', 'Mew', 'Zubat')
const code = fc.constantFrom(null, '1/102', '10', 'SV1')
const price = fc.record({ minor: fc.constantFrom(100, 250, 99_999), market: fc.constantFrom(...PRICED) })
const pick = fc.nat({ max: 1_000 })
const step = fc.oneof(fc.record({ add: name, code, price: fc.option(price) }), fc.record({ remove: pick }), fc.record({ reprice: pick, price }))
const starting = fc.array(fc.record({ name, code, price: fc.option(price) }), { minLength: 6, maxLength: 14 })

const SORTS = SORT_FIELDS.flatMap((field) => SORT_DIRECTIONS.map((direction) => ({ field, direction })))

describe.each(rowsOf(SORTS, 3))('sorted by $field $direction', ({ field, direction }: { field: SortField; direction: SortDirection }) => {
  test('every item present throughout is returned exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(starting, fc.array(step, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (items, steps, first) => {
        const live: number[] = []
        const add = async (item: { name: string; code: string | null; price: { minor: number; market: number } | null }) => {
          const id = await addItem(item.name, item.code)
          live.push(id)
          if (item.price !== null) await reprice(id, item.price)
          return id
        }
        for (const item of items) await add(item)
        const throughout = new Set(live)
        // A price moves an item only if the list is sorted by price or by time; the item may then appear again at its new position.
        const moved = new Set<number>()
        const seen: number[] = []
        const waiting = [...steps]
        let after: string | null = null
        for (;;) {
          const found: ItemPage = await page(field, direction, first, after)
          expect(found.nodes.length).toBeLessThanOrEqual(first)
          seen.push(...found.nodes.map((item) => Number(item.id)))
          if (!found.pageInfo.hasNextPage) break
          after = found.pageInfo.endCursor
          for (const change of waiting.splice(0, 2)) {
            if ('add' in change) {
              const id = await add({ ...change, name: change.add })
              moved.add(id)
            } else if ('remove' in change) {
              const [id] = live.splice(change.remove % live.length, 1)
              if (id === undefined) continue
              throughout.delete(id)
              await removeItem(id)
            } else if (live.length > 0) {
              const id = live[change.reprice % live.length]!
              if (field === 'price' || field === 'updated_at') moved.add(id)
              await reprice(id, change.price)
            }
          }
        }
        const times = (id: number) => seen.filter((other) => other === id).length
        for (const id of throughout) if (!moved.has(id)) expect(times(id)).toBe(1)
        for (const id of seen) if (!moved.has(id)) expect(times(id)).toBe(1)
        for (const id of live) await removeItem(id)
      }),
      { numRuns: runs(6) },
    )
  })
})

/** Names, and searches that each find items of several tiers: whole name, beginning, word, part and typo. */
const matching = fc.constantFrom('Charizard', 'Charizard ex', 'Dark Charizard', 'Mecharizardo', 'Charizzard', 'Pikachu', 'charizard')

describe('a search without a sort', () => {
  const QUERY = `query ($search: String, $first: Int, $after: String, $categoryId: ID) {
    items(search: $search, first: $first, after: $after, categoryId: $categoryId) { nodes { id } pageInfo { hasNextPage endCursor } } }`
  const found = async (search: string, first: number, after: string | null) => {
    const reply = await ask<{ items: ItemPage }>(node, QUERY, { variables: { search, first, after, categoryId } })
    expect(reply.errors).toBeUndefined()
    return reply.data.items
  }

  test('is in the order of items/search, and every item present throughout is returned exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(matching, { minLength: 5, maxLength: 14 }),
        fc.array(fc.option(matching), { maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        async (names, steps, first) => {
          const ids: number[] = []
          for (const each of names) ids.push(await addItem(each, null))
          const url = `${node.publicUrl}/api/v1/items/search?q=charizard&category_id=${categoryId}&per_page=100`
          const expected = (await send<{ id: number }[]>(url, node.keys.professional)).body.data.map(({ id }) => id)
          expect((await found('charizard', 100, null)).nodes.map(({ id }) => Number(id))).toEqual(expected)
          const removed = new Set<number>()
          const seen: number[] = []
          const waiting = [...steps]
          for (let after: string | null = null; ; ) {
            const { nodes, pageInfo } = await found('charizard', first, after)
            seen.push(...nodes.map(({ id }) => Number(id)))
            if (!pageInfo.hasNextPage) break
            after = pageInfo.endCursor
            const next = waiting.shift()
            if (next === undefined) continue
            if (next !== null) ids.push(await addItem(next, null))
            else {
              const gone = expected.find((id) => !removed.has(id))
              if (gone === undefined) continue
              removed.add(gone)
              await removeItem(gone)
            }
          }
          expect(new Set(seen).size).toBe(seen.length)
          expect(seen.filter((id) => expected.includes(id) && !removed.has(id))).toEqual(expected.filter((id) => !removed.has(id)))
          for (const id of ids) if (!removed.has(id)) await removeItem(id)
        },
      ),
      { numRuns: runs(8) },
    )
  })

  test('uses a given sort or order', async () => {
    const ids: number[] = []
    for (const each of ['Zz charizard', 'Charizard', 'Aa charizard']) ids.push(await addItem(each, null))
    const order = async (args: string) => {
      const reply = await ask<{ items: ItemPage }>(node, `{ items(search: "charizard", categoryId: ${categoryId}${args}) { nodes { id } } }`)
      return reply.data.items.nodes.map(({ id }) => ids.indexOf(Number(id)))
    }
    expect(await order('')).toEqual([1, 2, 0])
    expect(await order(', sortBy: "name"')).toEqual([2, 1, 0])
    expect(await order(', sortOrder: "desc"')).toEqual([0, 1, 2])
    for (const id of ids) await removeItem(id)
  })
})

describe('a cursor', () => {
  const cursorOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')

  test('of another sort, another list or of no list is rejected by name', async () => {
    for (let i = 0; i < 3; i += 1) await addItem(`Item ${i}`, null)
    const { pageInfo } = await page('name', 'asc', 1, null)
    const categories = await ask<{ categories: ItemPage }>(node, '{ categories(first: 1) { pageInfo { endCursor } } }')
    const refused: [string, string, string][] = [
      [pageInfo.endCursor!, 'name', 'desc'],
      [pageInfo.endCursor!, 'price', 'asc'],
      [categories.data.categories.pageInfo.endCursor!, 'name', 'asc'],
      ['', 'name', 'asc'],
      ['%%%', 'name', 'asc'],
      [`${pageInfo.endCursor}x`, 'name', 'asc'],
      [cursorOf(2, 'items', 'name', 'asc', 'a', 1), 'name', 'asc'],
      [cursorOf(1, 'items', 'name', 'asc', 5, 1), 'name', 'asc'],
      [cursorOf(1, 'items', 'name', 'asc', null, 1), 'name', 'asc'],
      [cursorOf(1, 'items', 'price', 'asc', 'a', 1), 'price', 'asc'],
      [cursorOf(1, 'items', 'price', 'asc', 100, 1), 'price', 'asc'],
      [cursorOf(1, 'items', 'price', 'asc', [100], 1), 'price', 'asc'],
      [cursorOf(1, 'items', 'price', 'asc', [100, 'source_d'], 1), 'price', 'asc'],
      [cursorOf(1, 'items', 'price', 'asc', ['100', 'source_a'], 1), 'price', 'asc'],
      [cursorOf(1, 'items', 'price', 'asc', [1.5, 'source_a'], 1), 'price', 'asc'],
      [cursorOf(1, 'items', 'price', 'asc', [100, 'source_a', 1], 1), 'price', 'asc'],
      [cursorOf(1, 'items', 'name', 'asc', [100, 'source_a'], 1), 'name', 'asc'],
      [cursorOf(1, 'items', 'id', 'asc', 1, 1.5), 'id', 'asc'],
      [cursorOf(1, 'items', 'id', 'asc', 1, 1, 1), 'id', 'asc'],
      [cursorOf(1, 'items', 'hp', 'asc', 1, 1), 'id', 'asc'],
      [cursorOf(1), 'id', 'asc'],
      [cursorOf(1, 'items', 'relevance', 'asc', [0, 'a'], 1), 'name', 'asc'],
      ['bnVsbA', 'id', 'asc'],
      ['x'.repeat(10_000), 'name', 'asc'],
    ]
    for (const [after, sortBy, sortOrder] of refused) {
      const query =
        'query ($after: String, $sortBy: String, $sortOrder: String) { items(after: $after, sortBy: $sortBy, sortOrder: $sortOrder) { nodes { id } } }'
      const reply: GraphqlReply<unknown> = await ask(node, query, { variables: { after, sortBy, sortOrder } })
      expect(reply.errors, `${after} ${sortBy} ${sortOrder}`).toMatchObject([
        { extensions: { code: 'VALIDATION_ERROR', status: 422, details: [{ field: 'after' }] } },
      ])
    }
    for (const after of [
      pageInfo.endCursor,
      cursorOf(1, 'items', 'relevance', 'asc', [1_000_000, 'a'], 1),
      cursorOf(1, 'items', 'relevance', 'asc', 'a', 1),
      cursorOf(1),
    ]) {
      const reply = await ask(node, 'query ($after: String) { items(search: "item", after: $after) { nodes { id } } }', { variables: { after } })
      expect(reply.errors, String(after)).toMatchObject([{ extensions: { code: 'VALIDATION_ERROR', details: [{ field: 'after' }] } }])
    }
    const ofItems = await ask(node, 'query ($after: String) { categories(after: $after) { nodes { id } } }', {
      variables: { after: pageInfo.endCursor },
    })
    expect(ofItems.errors).toMatchObject([{ extensions: { details: [{ field: 'after' }] } }])
  })

  test('continues where its page ended, even if that item is gone', async () => {
    const ids: number[] = []
    for (const letter of ['q1', 'q2', 'q3', 'q4']) ids.push(await addItem(letter, null))
    const query = 'query ($after: String) { items(search: "q", first: 2, after: $after) { nodes { id } pageInfo { endCursor hasNextPage } } }'
    const search = async (after: string | null) => (await ask<{ items: ItemPage }>(node, query, { variables: { after } })).data.items
    const first = await search(null)
    expect(first.nodes.map((item) => Number(item.id))).toEqual(ids.slice(0, 2))
    await removeItem(ids[1]!)
    const second = await search(first.pageInfo.endCursor)
    expect(second.nodes.map((item) => Number(item.id))).toEqual(ids.slice(2))
    expect(second.pageInfo.hasNextPage).toBe(false)
  })
})
