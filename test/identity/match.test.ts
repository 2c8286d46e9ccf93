// Upgrading a database from before source records: creates records for its items, and merges its duplicates.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import { matchCatalogue } from '#identity/match-catalogue.ts'
import { pokemontcgCards, pokemontcgSets, tcgdexCards, tcgdexSets, exported } from '../imports/one-card.ts'
import { importFiles, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
  // With the records decided to be separate, each source creates its own items; without records, this is a database of an earlier version.
  const { kysely } = node.db
  await sql`
    insert into match_decisions (kind, a, b, author)
    select 'apart', e'pokemontcg\tbase1-' || n || e'\t', e'tcgdex\tbase1-' || n || e'\t' || f, 'test'
    from generate_series(1, 6) n, unnest(array['holo', 'reverse']) f`.execute(kysely)
  await importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets },
    { name: 'cards', text: tcgdexCards },
  ])
  await importFiles(node, 'pokemontcg', [
    { name: 'sets', text: pokemontcgSets },
    { name: 'cards', text: pokemontcgCards },
  ])
  for (const table of ['source_records', 'source_statements', 'item_sources', 'match_decisions', 'match_queue']) {
    await sql`truncate ${sql.table(table)}`.execute(kysely)
  }
})
afterAll(() => node.close())

const items = async () => (await sql<{ id: number; ref: string }>`select id, ref from items order by id`.execute(node.db.kysely)).rows

test('a dry run reports and changes nothing', async () => {
  const before = await exported(node)
  expect(await items()).toHaveLength(18)
  const report = await call(matchCatalogue, node.ctx, { dry_run: true })
  expect(report).toMatchObject({ dry_run: true, adopted: 18, worlds: [{ game: 'pokemon', merged: 6, created: 0, waiting: 0 }] })
  expect(await exported(node)).toBe(before)
  expect((await sql`select from source_records`.execute(node.db.kysely)).rows).toHaveLength(0)
})

test('duplicates are merged, with the old ids as aliases, and a second run changes nothing', async () => {
  const before = await items()
  const report = await call(matchCatalogue, node.ctx, {})
  expect(report).toMatchObject({ dry_run: false, adopted: 18, worlds: [{ game: 'pokemon', merged: 6, created: 0, waiting: 0 }] })
  expect((await items()).map(({ ref }) => ref).filter((ref) => !ref.startsWith('tcgdex:'))).toEqual([])
  const twin = before.find(({ ref }) => ref === 'pokemontcg:base1-4')!
  const survivor = before.find(({ ref }) => ref === 'tcgdex:base1-4')!
  const { body } = await send<{ id: number }>(`${node.publicUrl}/api/v1/items/${twin.id}`, node.keys.professional)
  expect(body.data.id).toBe(survivor.id)
  expect(await call(matchCatalogue, node.ctx, {})).toMatchObject({ adopted: 0, worlds: [{ merged: 0, created: 0, updated: 0, emptied: 0 }] })
})

test('importing the source files again changes nothing', async () => {
  const ids = (await items()).map(({ id }) => id)
  const again = await importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets },
    { name: 'cards', text: tcgdexCards },
  ])
  expect(again.counts).toMatchObject({ created: 0, updated: 0 })
  await importFiles(node, 'pokemontcg', [
    { name: 'sets', text: pokemontcgSets },
    { name: 'cards', text: pokemontcgCards },
  ])
  expect((await items()).map(({ id }) => id)).toEqual(ids)
})
