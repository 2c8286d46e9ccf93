// Source records of one game and the decisions about them, converted to input of the matcher.
import { type RawBuilder, sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import { MARKETS } from '#core/markets.ts'
import { familyOf, originOf, worldOfFamily } from '#catalogue/records/record-origin.ts'
import { isMerged } from '#catalogue/items/source-records.ts'
import { finishRules, finishSlug } from '#catalogue/records/finishes.ts'
import type { ForeignId, Genre } from '#catalogue/records/catalogue-records.ts'
import type { Tx } from '#db/schema.ts'
import { cardKey, type Decisions, type MatchRecord, type MatchSet, recordKey } from '#matching/matcher-types.ts'
import { otherNames } from '#matching/names.ts'

/** A scope of matching: records of different worlds are never the same item. */
export interface World {
  game: string
  world: string
}

/** An active record with the items that it is linked to. */
export interface GameRecord {
  id: number
  key: string
  source: string
  foreignId: string
  finish: string
  market: Market | null
  ref: string | null
  name: string | null
  /** other spellings of the name */
  names: readonly string[]
  code: string | null
  genre: Genre
  category: string | null
  hp: number | null
  rarity: string | null
  foreignIds: readonly ForeignId[]
  finishAttribute: string | null
  items: readonly number[]
  /** the method of each of these links */
  links: readonly RecordLink[]
  /** linked to its item by a merge */
  merged: boolean
  /** ids of items that no longer exist */
  former: readonly number[]
}

/** The link of a record to one of its items. */
export interface RecordLink {
  itemId: number
  method: string
  /** linked to every item of its card */
  whole: boolean
}

interface Row {
  id: number
  source: string
  foreign_id: string
  finish: string
  market: Market | null
  ref: string | null
  name: string | null
  code: string | null
  genre: Genre | null
  category: string | null
  hp: string | null
  stage: string | null
  suffix: string | null
  rarity: string | null
  foreign_ids: ForeignId[] | null
  finish_attribute: string | null
  merged: boolean
}

interface LinkRow extends RecordLink {
  recordId: number
  /** the item no longer exists */
  isFormer: boolean
}

const NONE: readonly never[] = []

/** All active records of a world of a game, or those with these ids, ordered by id. */
export async function gameRecords(tx: Tx, { game, world }: World, ids: readonly number[] | null = null): Promise<GameRecord[]> {
  const { rows } = await sql<Row>`
    select r.id, r.source, r.foreign_id, r.finish, r.facts->>'market' as market, r.facts->>'ref' as ref, r.facts->>'name' as name,
      r.facts->>'code' as code, r.facts->>'genre' as genre, r.facts->>'category' as category, r.facts->'details'->>'hp' as hp,
      r.facts->'details'->>'stage' as stage, r.facts->'details'->>'suffix' as suffix,
      r.facts->'details'->>'rarity' as rarity,
      r.facts->'foreign_ids' as foreign_ids, ${isMerged('r.id')} as merged,
      case when r.source = 'mintmark' then (
        select a->>'value' from jsonb_array_elements(r.facts->'attributes') a where a->>'name' = 'Finish' limit 1) end as finish_attribute
    from source_records r
    where r.game = ${game} and r.world = ${world} and r.active ${restrictTo(sql`r.id`, ids)}`.execute(tx)
  // Sorted here, because the database would have to carry the facts of all records through the sort.
  rows.sort((a, b) => a.id - b.id)
  const links = await linksOf(
    tx,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const own = links.get(row.id) ?? NONE
    const current = own.filter(({ isFormer }) => !isFormer)
    return {
      id: row.id,
      key: recordKey(row.source, row.foreign_id, row.finish || null),
      source: row.source,
      foreignId: row.foreign_id,
      finish: row.finish,
      market: row.market,
      ref: row.ref,
      name: row.name,
      names: otherNames(row.name ?? '', row),
      code: row.code,
      genre: row.genre ?? 'single',
      category: row.category,
      hp: row.hp === null ? null : Number(row.hp),
      rarity: row.rarity,
      foreignIds: row.foreign_ids ?? NONE,
      finishAttribute: row.finish_attribute,
      items: current.length === 0 ? NONE : current.map(({ itemId }) => itemId),
      links: current,
      former: current.length === own.length ? NONE : own.flatMap(({ isFormer, itemId }) => (isFormer ? itemId : [])),
      merged: row.merged,
    }
  })
}

/** The items that records are or were linked to, by record and ordered by item id. */
async function linksOf(tx: Tx, recordIds: readonly number[]): Promise<Map<number, LinkRow[]>> {
  const { rows } = await sql<LinkRow>`
    select s.record_id as "recordId", s.item_id as "itemId", s.method, s.whole, i.id is null as "isFormer"
    from item_sources s left join items i on i.id = s.item_id
    where s.record_id = any(${recordIds}::int4[])`.execute(tx)
  const links = new Map<number, LinkRow[]>()
  for (const row of rows) {
    const known = links.get(row.recordId)
    if (known) known.push(row)
    else links.set(row.recordId, [row])
  }
  for (const own of links.values()) if (own.length > 1) own.sort((a, b) => a.itemId - b.itemId)
  return links
}

function restrictTo(column: RawBuilder<unknown>, ids: readonly number[] | null): RawBuilder<unknown> {
  return ids === null ? sql`` : sql`and ${column} = any(${ids}::int4[])`
}

/** Sets by market and ref. */
export async function setsOfGame(tx: Tx, game: string): Promise<Map<string, MatchSet>> {
  const { rows } = await sql<{
    market: Market
    ref: string
    name: string
    printed_total: number | null
    codes: string[] | null
    shop_ids: ForeignId[] | null
  }>`
    select c.market, c.ref, c.name, c.printed_total, k.codes, k.shop_ids
    from categories c left join category_codes k on k.category_id = c.id where c.game = ${game}`.execute(tx)
  return new Map(
    rows.map(({ market, ref, name, printed_total: printedTotal, codes, shop_ids: shopIds }) => [
      `${market}\t${ref}`,
      { ref, name, codes: codes ?? [], printedTotal, ...(shopIds && { shopIds }) },
    ]),
  )
}

/** Near Mint prices in cents in each item's home market, by item; for the given items, or all of the game. */
export async function homePrices(tx: Tx, game: string, items: readonly number[] | null = null): Promise<Map<number, number>> {
  const { rows } = await sql<{ item_id: number; cents: number }>`
    select p.item_id, (p.price * 100)::float8 as cents
    from prices p join groups l on l.id = p.label_id and l.name = 'Near Mint'
    join items i on i.id = p.item_id and p.market = array_position(${[...MARKETS]}::text[], i.market) - 1
    where i.game = ${game} and i.market <> 'service' ${restrictTo(sql`i.id`, items)}`.execute(tx)
  return new Map(rows.map((row) => [row.item_id, row.cents]))
}

/** Converts a record to the matcher's form. A record of one of our own exports gets the source that its ref names. */
export function matchRecordOf(
  record: GameRecord,
  { game, world }: World,
  sets: ReadonlyMap<string, MatchSet>,
  prices: ReadonlyMap<number, number>,
): MatchRecord {
  const { source, foreignId, finish, genre } = record
  const shown = record.finishAttribute === null ? [] : [{ name: 'Finish', value: record.finishAttribute }]
  const origin =
    source === 'mintmark' && record.ref !== null ? originOf({ ref: record.ref, attributes: shown, foreign_ids: record.foreignIds }) : null
  // An operator's statement has the world of its item.
  const family = familyOf({ source, id: foreignId }, { genre, ...(record.ref !== null && { ref: record.ref }) })
  // The API form of TCGdex describes the same cards as the files of TCGdex.
  const described = source === 'tcgdex-api' ? 'tcgdex' : source
  const isProduct = genre === 'sealed' || genre === 'bundle'
  return {
    key: record.key,
    source: described,
    id: foreignId,
    card: origin ? cardKey(source, `${record.market}:${origin.source}:${origin.id}`) : cardKey(described, foreignId),
    game,
    genre,
    family: worldOfFamily(family) === world ? family : world,
    // A product has no set, because shops sort products by kind.
    set: isProduct ? null : (sets.get(`${record.market}\t${record.category}`) ?? null),
    number: record.code,
    name: record.name ?? '',
    names: record.names,
    finish: (origin?.finish ?? finish) || (record.finishAttribute && finishSlug(record.finishAttribute, finishRules(game))) || null,
    shopIds: record.foreignIds.filter((id) => id.source !== described || (origin !== null && id.source === origin.source)),
    hp: record.hp,
    priceCents: record.items.length === 1 ? (prices.get(record.items[0]!) ?? null) : null,
  }
}

/** What operators decided about records and sets. */
export async function decisions(tx: Tx): Promise<Decisions> {
  const rows = await tx.selectFrom('match_decisions').select(['kind', 'a', 'b']).orderBy('id').execute()
  const pairs = (kind: string) => rows.filter((row) => row.kind === kind).map(({ a, b }): [string, string] => [a, b])
  return {
    same: pairs('same'),
    apart: pairs('apart'),
    setMaps: pairs('set').map(([from, to]) => [from, to || null]),
    postponed: pairs('postponed').map(([key]) => key),
  }
}
