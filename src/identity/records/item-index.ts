// Loads the candidate items for rows that describe their item instead of naming it by an id.
import { type RawBuilder, sql } from 'kysely'
import { rankOf } from '#catalogue/records/facts.ts'
import { finishRules, finishSlug } from '#catalogue/records/finishes.ts'
import { languageFamilies, worldOfFamily } from '#catalogue/records/record-origin.ts'
import type { Genre } from '#catalogue/records/catalogue-records.ts'
import type { Tx } from '#db/schema.ts'
import { type CardDescription, CardIndex, CATALOGUE, type IndexedRecord, itemRecord } from '#matching/card-index.ts'
import type { MatchRecord, MatchSet } from '#matching/matcher-types.ts'
import { DescribedSets, type Statement } from '#matching/described-sets.ts'
import { isSealed } from '#matching/source-cards.ts'
import { gameRecords, matchRecordOf, setsOfGame, type World } from './game-records.ts'

/** Number of records read at once, because the records of a game take several times the memory of the index built from them. */
const PART = 5_000

/**
 * Loads the candidate items of the rows: items of the sets that the rows name or whose cards they describe, and products by name.
 * @param rows at least one; either all of the same game and language families, or all without them
 */
export async function loadItemIndex(tx: Tx, rows: readonly CardDescription[]): Promise<CardIndex> {
  const among = { game: rows[0]!.game, families: rows[0]!.families ?? null }
  const sets = new Map<string, ReadonlyMap<string, MatchSet>>()
  for (const game of among.game === null ? await gamesOf(tx) : [among.game]) sets.set(game, await setsOfGame(tx, game))
  const wanted = new DescribedSets(
    rows,
    [...sets.values()].flatMap((own) => [...own.values()]),
  )
  for await (const part of statements(tx, among, [...wanted.refs])) wanted.look(part)
  if (!wanted.areNamed()) {
    for await (const part of statements(tx, among, null)) wanted.look(part)
    wanted.choose()
  }
  const found: FoundRecord[] = []
  for (const [world, ids] of await recordIds(tx, among, wanted)) {
    for (const part of chunksOf(ids)) {
      for (const record of await gameRecords(tx, world, part)) {
        if (record.name === null || record.items.length === 0) continue
        const match = { ...matchRecordOf(record, world, sets.get(world.game)!, new Map()), shopIds: [] }
        found.push({ match, rank: rankOf(record.source), items: record.items, wholes: record.links.map(({ whole }) => whole) })
      }
    }
  }
  return new CardIndex([...withFinishes(withOperatorNames(found)), ...(await itemsWithoutRecords(tx, among.game, wanted))])
}

/** Game and language families that records must have; null for any. */
interface Scope {
  game: string | null
  families: readonly string[] | null
}

function isAmong({ game, families }: Scope): RawBuilder<boolean> {
  const ofGame = sql<boolean>`(${game}::text is null or game = ${game})`
  if (families === null) return ofGame
  // One Piece cards of several languages share a world.
  return sql`${ofGame} and world = any(${families.map(worldOfFamily)}::text[])
    and (source <> 'punk-records' or 'onepiece-' || split_part(foreign_id, ':', 1) = any(${families}::text[]))`
}

async function gamesOf(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('categories').select('game').distinct().orderBy('game').execute()
  return rows.map(({ game }) => game)
}

/** The families of records that may contain a print of the game, or of any game, in the language; null for any. */
export function familiesOf(language: string | undefined, game: string | null): readonly string[] | null {
  return language === undefined ? null : [...languageFamilies(language, game), 'sealed', CATALOGUE]
}

interface FoundRecord {
  match: MatchRecord
  rank: number
  items: readonly number[]
  wholes: readonly boolean[]
}

/** Completes records in which an operator states only a name: set and number come from the item's first other record. */
function withOperatorNames(found: readonly FoundRecord[]): FoundRecord[] {
  const first = new Map<number, FoundRecord>()
  for (const one of found) {
    if (isByOperator(one)) continue
    for (const item of one.items) if (one.rank < (first.get(item)?.rank ?? Infinity)) first.set(item, one)
  }
  return found.map((one) => {
    const other = isByOperator(one) ? first.get(one.items[0]!)?.match : undefined
    if (!other) return one
    const { set, number } = one.match
    const { source, family, genre } = other
    return { ...one, match: { ...one.match, source, family, genre, set: set ?? other.set, number: number ?? other.number } }
  })
}

function isByOperator({ match }: FoundRecord): boolean {
  return match.source === 'operator'
}

/** Adds the finish of each item: the first by precedence stated by a record that is linked to that item only. */
function withFinishes(found: readonly FoundRecord[]): IndexedRecord[] {
  const finishes = new Map<number, { rank: number; finish: string }>()
  for (const { match, rank, items, wholes } of found) {
    for (const [n, item] of items.entries()) {
      if (!wholes[n] && match.finish !== null && rank < (finishes.get(item)?.rank ?? Infinity)) finishes.set(item, { rank, finish: match.finish })
    }
  }
  return found.flatMap(({ match, items }) => items.map((itemId) => ({ itemId, finish: finishes.get(itemId)?.finish ?? null, record: match })))
}

/** Streams what records state about their cards in parts, for the given sets or, if null, for all sets. */
async function* statements(tx: Tx, among: Scope, refs: readonly string[] | null): AsyncGenerator<Statement[]> {
  const ofSets = refs === null ? sql`` : sql`and facts->>'category' = any(${refs}::text[])`
  for (let last = 0; ; ) {
    const { rows } = await sql<Statement>`
      select id, facts->>'category' as category, facts->>'code' as code, facts->>'name' as name from source_records
      where active and source <> 'operator' and ${isAmong(among)} and facts ? 'name' and id > ${last}::int4 ${ofSets}
      order by id limit ${PART}`.execute(tx)
    yield rows
    if (rows.length < PART) break
    last = rows.at(-1)!.id
  }
  yield await statedByOperators(tx, among, refs)
}

/** The names that operators state, with the set and number of their items. */
async function statedByOperators(tx: Tx, among: Scope, refs: readonly string[] | null): Promise<Statement[]> {
  const { rows } = await sql<Statement>`
    select r.id, c.ref as category, i.code, r.facts->>'name' as name
    from (select id, facts from source_records where active and source = 'operator' and ${isAmong(among)} and facts ? 'name') r
    join item_sources s on s.record_id = r.id join items i on i.id = s.item_id join categories c on c.id = i.category_id
    where ${refs}::text[] is null or c.ref = any(${refs}::text[])
    order by r.id`.execute(tx)
  return rows
}

/** Ids of the records of the sets and products, and of records of other sources that are linked to the same items, by world. */
async function recordIds(tx: Tx, among: Scope, { refs, products }: DescribedSets): Promise<[World, number[]][]> {
  const { rows } = await sql<World & { ids: number[] }>`
    with own as materialized (
      select id from source_records
      where active and ${isAmong(among)} and (facts->>'category' = any(${[...refs]}::text[]) or id = any(${[...products]}::int4[]))
    ),
    related(id) as (select id from own union select b.record_id from own join item_sources a on a.record_id = own.id join item_sources b using (item_id))
    select game, world, array_agg(id order by id) as ids from related join source_records using (id) group by 1, 2 order by 1, 2`.execute(tx)
  return rows.map(({ ids, ...world }) => [world, ids])
}

function* chunksOf(ids: readonly number[]): Generator<number[]> {
  for (let from = 0; from < ids.length; from += PART) yield ids.slice(from, from + PART)
}

interface ItemRow {
  id: number
  name: string
  code: string | null
  genre: Genre
  game: string
  category_id: number
  category: string
  finish: string | null
}

/** Items of the sets that are older than source records; they have no records until `mintmark match` runs. */
async function itemsWithoutRecords(tx: Tx, game: string | null, { refs }: DescribedSets): Promise<IndexedRecord[]> {
  const { rows } = await sql<ItemRow>`
    select i.id, i.name, i.code, i.genre, i.game, i.category_id, c.name as category,
      (select a->>'value' from jsonb_array_elements(i.attributes) a where a->>'name' = 'Finish' limit 1) as finish
    from items i join categories c on c.id = i.category_id
    where c.ref = any(${[...refs]}::text[]) and (${game}::text is null or i.game = ${game})
      and not exists (select from item_sources s where s.item_id = i.id)`.execute(tx)
  return rows.map(({ id: itemId, name, code: number, genre, game: own, category_id: categoryId, category, finish: stated }) => {
    const finish = stated === null ? null : finishSlug(stated, finishRules(own))
    const set = isSealed(genre) ? null : { ref: `category:${categoryId}`, name: category, codes: [], printedTotal: null }
    return itemRecord({ itemId, finish, card: `${categoryId} ${number} ${name}`, game: own, genre, family: CATALOGUE, set, number, name })
  })
}
