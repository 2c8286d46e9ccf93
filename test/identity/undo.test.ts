// Undoing merges: the state is exactly the one before, in any possible order; data added since stays with the survivor.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { change } from '#db/changes/change.ts'
import { mergeItems } from '#identity/merge/merge.ts'
import { undoMerges } from '#identity/merge/undo.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { forgetOldPrices } from '#prices/history/retention.ts'
import { collector } from '../collections/kit.ts'
import { pending } from '../market/kit.ts'
import { startTwoNodes, type TestNode, until } from '../support/node.ts'
import { current, hangOn, history, item, listed, makeTwins, merged, operator, postPrices, sell, stateOf, undo } from './kit.ts'

let here: TestNode
let there: TestNode
let close: () => Promise<void>

beforeAll(async () => {
  ;({ here, there, close } = await startTwoNodes())
})

afterAll(() => close())

const DAY = '2026-10-10T00:00:00Z'

/** Three duplicates with all kinds of data on each, and prices of the same moment, from one import and from several. */
async function threeTwins(name: string): Promise<[number, number, number]> {
  const prices = (amount: string): [string, string, string, string?][] => [
    ['source_a', 'Near Mint', amount],
    ['source_b', 'Near Mint', amount, '2026-09-01T00:00:00Z'],
    ['source_c', 'PSA 10', amount],
  ]
  const shared = { source: 'cardmarket', id: `${name}-shared` }
  const ids = await makeTwins(here, [
    { ref: `${name}:a`, market: 'source_a', prices: prices('40.00'), foreignIds: [shared, { source: 'pokemontcg', id: `${name}-1` }] },
    { ref: `${name}:b`, market: 'source_b', prices: prices('41.00'), foreignIds: [shared] },
    { ref: `${name}:c`, market: 'source_c', prices: prices('42.00'), foreignIds: [shared, { source: 'tcgdex', id: `${name}-1` }] },
  ])
  const all = ['a', 'b', 'c'].map((ref) => ids[`${name}:${ref}`]!) as [number, number, number]
  for (const [n, id] of all.entries()) await hangOn(here, id, 100 * (n + 1))
  const row = (id: number, price: number, market = 'source_b') => ({ item_id: id, market, price, updated_at: DAY })
  await postPrices(here, [row(all[1], 45)])
  await postPrices(here, [row(all[2], 46), row(all[0], 44)])
  await postPrices(here, [row(all[1], 47), row(all[0], 43)])
  const gone = await postPrices(here, [row(all[0], 48), row(all[2], 49)])
  await operator(here, 'POST', `/imports/${gone.import_id}/revert`)
  await postPrices(
    here,
    all.map((id, n) => row(id, 50 + n, 'source_a')),
  )
  return all
}

test('undoing a merge restores every table and the export', async () => {
  const [a, b] = await threeTwins('one')
  const before = await stateOf(here)
  const id = await merged(here, a, b)
  expect(await stateOf(here)).not.toEqual(before)
  const { status, body } = await undo(here, id)
  expect([status, body.data]).toMatchObject([200, { batch_id: id, kind: 'merge' }])
  expect(await stateOf(here)).toEqual(before)
  expect((await item(here, a)).body.data.id).toBe(a)
  await until('the other node has both again', async () => (await item(there, a)).body.data.id === a)
  expect((await listed(there, '?search=charizard&per_page=100')).body.data.map((one) => one.id)).toEqual(expect.arrayContaining([a, b]))
  expect((await undo(here, id)).body.error).toMatchObject({ code: 'CONFLICT', rule: 'batch_reverted' })
  // And merged again.
  await undo(here, await merged(here, a, b))
  expect(await stateOf(here)).toEqual(before)
})

test('two items merged into one can be split in either order', { tags: 'slow' }, async () => {
  const [a, b, c] = await threeTwins('order')
  const before = await stateOf(here)
  for (const reversed of [false, true]) {
    const merges = [await merged(here, a, c), await merged(here, b, c)]
    for (const id of reversed ? merges.reverse() : merges) expect((await undo(here, id)).status).toBe(200)
    expect(await stateOf(here)).toEqual(before)
  }
  // The first merge is undone: the result is as if it had never happened.
  const second = await merged(here, b, c)
  const onlySecond = await stateOf(here)
  await undo(here, second)
  const first = await merged(here, a, c)
  const last = await merged(here, b, c)
  await undo(here, first)
  const left = await stateOf(here)
  // The service's price is the same, recomputed.
  const timeless = (state: Record<string, string>) =>
    state.export!.replace(/("market":"service","label":"[^"]+","price":"[^"]+","updated_at":")[^"]+/g, '$1')
  expect(timeless(left)).toBe(timeless(onlySecond))
  for (const table of ['items', 'item_foreign_ids', 'listings', 'sales', 'collection_items'])
    expect([table, left[table]]).toEqual([table, onlySecond[table]])
  await undo(here, last)
  expect(await stateOf(here)).toEqual(before)
})

test('a chain is undone from its end, or at once', { tags: 'slow' }, async () => {
  const [a, b, c] = await threeTwins('chain')
  const before = await stateOf(here)
  const first = await merged(here, a, b)
  const middle = await stateOf(here)
  const second = await merged(here, b, c)
  const { status, body } = await undo(here, first)
  expect([status, body.error!.message]).toEqual([
    409,
    `Batch ${first} cannot be reverted before batch ${second}, which merged item ${b} into another one`,
  ])
  await undo(here, second)
  expect(await stateOf(here)).toEqual(middle)
  await undo(here, first)
  expect(await stateOf(here)).toEqual(before)

  const both = [await merged(here, a, b), await merged(here, b, c)]
  await change(here.ctx, (tx, note) => undoMerges(here.ctx, tx, note, both))
  expect(await stateOf(here)).toEqual(before)
})

/** Tables in which 0.2.0 recorded what merges moved, by the name of their rows now; and the column with the id of a row. */
const EARLIER = {
  item_foreign_ids: ['merged_foreign_ids'],
  item_sources: ['merged_sources'],
  prices: ['merged_prices'],
  held_prices: ['merged_held_prices', 'held_id'],
  listings: ['merged_listings', 'listing_id'],
  sales: ['merged_sales', 'sale_id'],
  collection_items: ['merged_records', 'record_id'],
} as const

test('merges of 0.2.0 are undone exactly, in any order', async () => {
  const [a, b, c] = await threeTwins('earlier')
  const before = await stateOf(here)
  const merges = [await merged(here, a, c), await merged(here, b, c)]
  for (const [name, [table, id]] of Object.entries(EARLIER)) {
    const { numAffectedRows } = await sql`
      with noted as (delete from merged_rows where merge_id = any(${merges}) and name = ${name} returning *)
      insert into ${sql.table(table)} select n.* from noted x cross join lateral jsonb_populate_record(null::${sql.table(table)},
        x.content || jsonb_build_object('merge_id', merge_id, 'moved', placed, 'discarded', false, ${id ?? 'none'}::text, x.content->'id')) n`.execute(
      here.db.kysely,
    )
    expect([name, numAffectedRows]).not.toEqual([name, 0n])
  }
  for (const id of merges) expect((await undo(here, id)).status).toBe(200)
  expect(await stateOf(here)).toEqual(before)
})

test('many merges at once have the same result as one after the other, and are undone at once', { tags: 'slow' }, async () => {
  const [a, b, c] = await threeTwins('many')
  const [d, e] = await threeTwins('many2')
  const before = await stateOf(here)
  const one = [await merged(here, a, c), await merged(here, b, c), await merged(here, d, e)]
  const after = await stateOf(here)
  await change(here.ctx, (tx, note) => undoMerges(here.ctx, tx, note, one))
  expect(await stateOf(here)).toEqual(before)
  const pairs = [
    { from: a, into: b },
    { from: b, into: c },
    { from: d, into: e },
  ]
  const ids = await change(here.ctx, (tx, note) => mergeItems(here.ctx, tx, note, pairs))
  const { merged_foreign_ids: _one, merged_points: _points, price_points: _made, ...left } = await stateOf(here)
  for (const [table, digest] of Object.entries(left)) {
    // Recorded together with other merges, and computed at another moment.
    if (!table.startsWith('merged_') && !['item_aliases', 'held_prices', 'prices', 'export'].includes(table))
      expect([table, digest]).toEqual([table, after[table]])
  }
  expect((await item(here, a)).body.data.id).toBe(c)
  await change(here.ctx, (tx, note) => undoMerges(here.ctx, tx, note, ids))
  expect(await stateOf(here)).toEqual(before)
  await expect(
    change(here.ctx, (tx, note) =>
      mergeItems(here.ctx, tx, note, [
        { from: a, into: b },
        { from: b, into: a },
      ]),
    ),
  ).rejects.toThrow('into itself')
  await expect(
    change(here.ctx, (tx, note) =>
      mergeItems(here.ctx, tx, note, [
        { from: a, into: b },
        { from: a, into: c },
      ]),
    ),
  ).rejects.toThrow('into two items')
  expect(await stateOf(here)).toEqual(before)
})

test('later additions stay with the remaining item', async () => {
  const ids = await makeTwins(here, [
    { ref: 'since:a', market: 'source_a' },
    { ref: 'since:b', market: 'source_c' },
  ])
  const [a, b] = [ids['since:a']!, ids['since:b']!]
  const hung = await hangOn(here, a, 100)
  const id = await merged(here, a, b)
  const mine = collector(here, here.keys.plus)
  const record = (await mine.add(hung.collection, { item_id: a })).body.data
  const listing = await pending(here, a)
  await sell(here, hung.listing.id, 500)
  await postPrices(here, [{ item_id: a, market: 'source_b', label: 'PSA 9', price: 11, updated_at: '2026-10-09T00:00:00Z' }])
  const [held] = (await operator<{ id: number }[]>(here, 'GET', `/held-prices?item_id=${b}`)).body.data
  await operator(here, 'POST', `/held-prices/${held!.id}/accept`)
  await undo(here, id)
  expect((await mine.list(hung.collection)).map(({ id, item_id }) => [id, item_id])).toEqual([
    [record.id, b],
    [hung.record.id, a],
  ])
  expect((await operator<{ item_id: number }>(here, 'GET', `/listings/${listing.id}`)).body.data.item_id).toBe(b)
  expect((await operator<{ item_id: number }>(here, 'GET', `/listings/${hung.listing.id}`)).body.data.item_id).toBe(a)
  // Earlier sales belong to the item again, the later one does not; each item's price is computed from its own sales.
  const sold = async (item: number) =>
    (await operator<{ unit_price: number }[]>(here, 'GET', `/sales?item_id=${item}`)).body.data.map((sale) => sale.unit_price)
  expect([await sold(a), await sold(b)]).toEqual([[110, 100], [500]])
  const price = async (item: number, market: string) => (await current(here, item)).filter((one) => one.market === market).map((one) => one.price)
  expect([await price(a, 'service'), await price(b, 'service')]).toEqual([[105], [500]])
  expect([await price(a, 'source_b'), await price(b, 'source_b')]).toEqual([[10], [900]])
  expect((await history(here, b, '?market=source_b')).map((point) => point.price)).toEqual([11, 900])
  expect((await operator<object[]>(here, 'GET', `/held-prices?item_id=${b}&state=accepted`)).body.data).toHaveLength(1)
})

test('an import reverted in the meantime stays reverted', async () => {
  const ids = await makeTwins(here, [
    { ref: 'gone:a', market: 'source_a' },
    { ref: 'gone:b', market: 'source_c' },
  ])
  const [a, b] = [ids['gone:a']!, ids['gone:b']!]
  await postPrices(here, [{ item_id: a, market: 'source_b', price: 10, updated_at: '2026-10-01T00:00:00Z' }])
  const later = await postPrices(here, [{ item_id: a, market: 'source_b', price: 11, updated_at: '2026-10-02T00:00:00Z' }])
  const id = await merged(here, a, b)
  const reverted = (await operator<{ id: number }>(here, 'POST', `/imports/${later.import_id}/revert`)).body.data
  await undo(here, id)
  expect((await current(here, a)).map(({ price }) => price)).toEqual([10])
  expect(await current(here, b)).toEqual([])
  await operator(here, 'POST', `/imports/${reverted.id}/revert`)
  expect((await current(here, a)).map(({ price }) => price)).toEqual([11])
  expect(await current(here, b)).toEqual([])
})

test('current prices are restored even if their history has been deleted', { tags: 'slow' }, async () => {
  const old = '2020-01-01T00:00:00Z'
  const ids = await makeTwins(here, [
    { ref: 'old:a', market: 'source_a', prices: [['source_b', 'Near Mint', '12.00', '2020-02-01T00:00:00Z']] },
    {
      ref: 'old:b',
      market: 'source_c',
      prices: [
        ['source_b', 'Near Mint', '11.00', old],
        ['source_c', 'Near Mint', '9.00', old],
      ],
    },
  ])
  const [a, b] = [ids['old:a']!, ids['old:b']!]
  await forgetOldPrices({ db: here.db, archive: openPriceArchive(here.config) }, 365, here.clock.now())
  const before = await stateOf(here)
  const id = await merged(here, a, b)
  expect((await current(here, b)).map(({ price }) => price)).toEqual([12, 9])
  await undo(here, id)
  expect(await stateOf(here)).toEqual(before)
})

test('a merged item keeps its slug and ref', async () => {
  const ids = await makeTwins(here, [
    { ref: 'slug:a', market: 'source_a', name: 'Slugma' },
    { ref: 'slug:b', market: 'source_c', name: 'Slugma two' },
  ])
  const [a, b] = [ids['slug:a']!, ids['slug:b']!]
  const { slug } = (await item(here, a)).body.data
  const first = await merged(here, a, b)
  const again = await makeTwins(here, [{ ref: 'slug:c', market: 'source_a', name: 'Slugma' }])
  expect((await item(here, again['slug:c']!)).body.data.slug).not.toBe(slug)
  await undo(here, first)
  expect((await item(here, a)).body.data.slug).toBe(slug)
  // An operator can still assign the slug to another item; the undo is then impossible until that item has another slug.
  const second = await merged(here, a, b)
  expect((await operator(here, 'PATCH', `/items/${again['slug:c']!}`, { slug })).status).toBe(200)
  expect((await undo(here, second)).body.error).toMatchObject({ code: 'CONFLICT', message: 'Another item has this slug' })
  expect((await item(here, a)).body.data.id).toBe(b)
  await operator(here, 'PATCH', `/items/${again['slug:c']!}`, { slug: 'another-slug' })
  expect((await undo(here, second)).status).toBe(200)
})

test('a survivor that took the slug of the merged item, as up to 0.2.0, gets another one', async () => {
  const ids = await makeTwins(here, [
    { ref: 'took:a', market: 'source_a', slug: 'the-slug' },
    { ref: 'took:b', market: 'source_c' },
  ])
  const [a, b] = [ids['took:a']!, ids['took:b']!]
  const id = await merged(here, a, b)
  await here.db.kysely.updateTable('items').set({ slug: 'the-slug' }).where('id', '=', b).execute()
  expect((await undo(here, id)).status).toBe(200)
  expect([(await item(here, a)).body.data.slug, (await item(here, b)).body.data.slug]).toEqual(['the-slug', 'the-slug-took-b'])
})

test('an item of which only an operator states something is restored as it was', async () => {
  const ids = await makeTwins(here, [
    { ref: 'stated:a', market: 'source_a' },
    { ref: 'stated:b', market: 'source_a' },
  ])
  const [a, b] = [ids['stated:a']!, ids['stated:b']!]
  expect((await operator(here, 'PATCH', `/items/${a}`, { ref: '-9007199254740991' })).status).toBe(200)
  // As after the withdrawal of a source: its records no longer count.
  await sql`
    update source_records set active = false
    where source <> 'operator' and id in (select record_id from item_sources where item_id = ${a})`.execute(here.db.kysely)
  const id = await merged(here, a, b)
  await undo(here, id)
  const { status, body } = await operator<object>(here, 'GET', `/items/${a}`)
  expect([status, body.data]).toMatchObject([200, { id: a, ref: '-9007199254740991', market: 'source_a', code: '4/102', category_id: 1 }])
  const again = (await operator<{ batch_id: number }>(here, 'POST', `/items/${a}/merge`, { into: b })).body.data
  expect((await operator(here, 'POST', `/batches/${again.batch_id}/revert`)).status).toBe(200)
  expect((await operator<object>(here, 'GET', `/items/${a}`)).body.data).toMatchObject({ id: a, ref: '-9007199254740991' })
})

test('a merge that does not exist cannot be undone', async () => {
  for (const id of [999_999, 0, 2 ** 40]) {
    expect(await undo(here, id)).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } })
  }
  expect((await operator(here, 'POST', '/batches/x/revert')).status).toBe(422)
})

test('nothing can mark a merge as undone whose rows have not moved back', async () => {
  const [a, b] = Object.values(
    await makeTwins(here, [
      { ref: 'marked:a', market: 'source_a' },
      { ref: 'marked:b', market: 'source_c' },
    ]),
  ) as [number, number]
  const id = await merged(here, a, b)
  // As a node of 0.2.0 would, which finds no rows in its own tables.
  const marked = here.db.kysely.updateTable('merges').set({ undone_by: 'x', undone_at: new Date() }).where('id', '=', id).execute()
  await expect(marked).rejects.toMatchObject({ code: '53400' })
  expect((await undo(here, id)).status).toBe(200)
})

test('an id that two merged items have stays with the survivor until both are split', async () => {
  const shared = { source: 'cardmarket', id: 'both-have-it' }
  const ids = await makeTwins(here, [
    { ref: 'both:a', market: 'source_a', foreignIds: [shared] },
    { ref: 'both:b', market: 'source_b', foreignIds: [shared] },
    { ref: 'both:c', market: 'source_c' },
  ])
  const [a, b, c] = [ids['both:a']!, ids['both:b']!, ids['both:c']!]
  const before = await stateOf(here)
  const [first, second] = [await merged(here, a, c), await merged(here, b, c)]
  const owners = async () => {
    const rows = await here.db.kysely
      .selectFrom('item_foreign_ids')
      .select('item_id')
      .where('foreign_id', '=', shared.id)
      .orderBy('item_id')
      .execute()
    return rows.map((row) => row.item_id)
  }
  expect(await owners()).toEqual([c])
  await undo(here, first)
  expect(await owners()).toEqual([a, c])
  await undo(here, second)
  expect(await stateOf(here)).toEqual(before)
})
