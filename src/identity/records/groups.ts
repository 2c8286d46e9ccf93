// Groups of records that form items: those assigned by the matcher, those that follow another record, and pending ones.
import { sql } from 'kysely'
import { formerSource } from '#catalogue/items/moved-records.ts'
import { PRECEDENCE, rankOf } from '#catalogue/records/facts.ts'
import { itemsInUse } from '#catalogue/records/item-store.ts'
import type { Tx } from '#db/schema.ts'
import { assign } from '#matching/assign.ts'
import { type Assignment, type Decisions, type MatchSet, recordKey } from '#matching/matcher-types.ts'
import { decisions, type GameRecord, homePrices, matchRecordOf, setsOfGame, type World } from './game-records.ts'
import { type Group, type Placement, placementOf } from './placement.ts'
import { sealedAliases } from './sealed-aliases.ts'
import { translationsOf } from './translations.ts'

/**
 * Assigns the records of a world of a game to items.
 * @param items the items whose prices are read; null for all items of the game
 */
export async function groupsOf(
  tx: Tx,
  world: World,
  records: readonly GameRecord[],
  items: readonly number[] | null,
): Promise<Placement & { assignment: Assignment }> {
  const sets = await setsOfGame(tx, world.game)
  const decided = withMovedIds(await decisions(tx), records)
  const followers = followersOf(records, await translationsOf(tx, records, sets, decided))
  const matched = followers.size === 0 ? records : records.filter((record) => !followers.has(record))
  const assignment = await assigned(tx, world, matched, { sets, decided, items })
  const keeps = await keptWhilePending(tx, records, assignment)
  const placement = placementOf(records, followers, assignment, keeps)
  joinOperators(placement.groups, followers)
  return { ...placement, assignment }
}

/** The decisions of operators, and what sources say about their own ids: a record that states an older id is the same card, unless an operator disagrees. */
function withMovedIds(decided: Decisions, records: readonly GameRecord[]): Decisions {
  const moved = records.flatMap(({ key, source, finish, foreignIds }) =>
    foreignIds.flatMap((former): [string, string][] =>
      former.source === formerSource(source) ? [[recordKey(source, former.id, finish || null), key]] : [],
    ),
  )
  if (moved.length === 0) return decided
  const apart = new Set(decided.apart.map((pair) => pair.toSorted().join('\n')))
  return { ...decided, same: [...decided.same, ...moved.filter((pair) => !apart.has(pair.toSorted().join('\n')))] }
}

/**
 * Records that are not matched themselves, with the record that each follows. A translation follows its original, a record of our own export the
 * record whose item it describes; an operator's statement (null) stays with its item.
 */
function followersOf(records: readonly GameRecord[], translations: ReadonlyMap<GameRecord, GameRecord>): Map<GameRecord, GameRecord | null> {
  if (!records.some(({ source }) => source === 'mintmark' || source === 'operator')) return new Map(translations)
  const byRef = new Map<string, GameRecord>()
  const described = new Set<number>()
  for (const record of records) {
    if (record.source === 'operator') continue
    for (const item of record.items) described.add(item)
    const key = `${record.market}\t${record.ref}`
    const first = byRef.get(key)
    if (record.source !== 'mintmark' && (!first || isBefore(record, first))) byRef.set(key, record)
  }
  // A record that others follow is matched itself.
  const followers = new Map<GameRecord, GameRecord | null>()
  const describing = (record: GameRecord) => (record.source === 'mintmark' ? byRef.get(`${record.market}\t${record.ref}`) : undefined)
  for (const record of records) {
    const leader = translations.get(record) ?? describing(record)
    if (leader) followers.set(record, translations.get(leader) ?? describing(leader) ?? leader)
    else if (record.source === 'operator' && (record.name === null || record.market === null || record.items.some((item) => described.has(item))))
      followers.set(record, null)
  }
  return followers
}

function isBefore(a: GameRecord, b: GameRecord): boolean {
  return rankOf(a.source) - rankOf(b.source) < 0 || (a.source === b.source && a.key < b.key)
}

interface Matching {
  sets: ReadonlyMap<string, MatchSet>
  decided: Decisions
  items: readonly number[] | null
}

async function assigned(tx: Tx, world: World, records: readonly GameRecord[], { sets, decided, items }: Matching): Promise<Assignment> {
  const prices = await homePrices(tx, world.game, items)
  return assign(
    records.map((record) => matchRecordOf(record, world, sets, prices)),
    decided,
    { precedence: PRECEDENCE, ...(world.world === 'sealed' && { sealedAliases: await sealedAliases(tx) }) },
  )
}

/**
 * Returns whether a pending record keeps an item of its own: only if that item is older than source records, is in use (listings, sales, collection
 * records), or comes from our own export.
 */
async function keptWhilePending(tx: Tx, records: readonly GameRecord[], { waiting }: Assignment): Promise<(record: GameRecord) => boolean> {
  const byKey = new Map(records.map((record) => [record.key, record]))
  const all = waiting.flatMap(({ keys }) => keys.map((key) => byKey.get(key)!))
  const items = [...new Set(all.flatMap((record) => record.items))]
  if (items.length === 0) return ({ source }) => source === 'mintmark'
  const used = await itemsInUse(tx, items)
  const { rows } = await sql<{ item_id: number }>`
    select s.item_id from item_sources s
    where s.item_id = any(${items}::int4[])
      and (exists (select from source_statements t where t.import_id = 0 and t.record_id = s.record_id)
        or exists (select from source_records r where r.id = s.record_id and r.source = 'operator'))`.execute(tx)
  for (const { item_id: id } of rows) used.add(id)
  return ({ source, items: own }) => source === 'mintmark' || own.some((id) => used.has(id))
}

/** Adds each operator's statement to the group that has its item. */
function joinOperators(groups: readonly Group[], followers: ReadonlyMap<GameRecord, GameRecord | null>): void {
  const stated = new Map<number, GameRecord[]>()
  for (const [record, leader] of followers) {
    if (leader === null) for (const item of record.items) stated.set(item, [...(stated.get(item) ?? []), record])
  }
  if (stated.size === 0) return
  for (const { members, item, merged } of groups) {
    for (const id of item === null ? [] : [item, ...merged]) {
      for (const record of stated.get(id) ?? []) members.push({ record, whole: false, method: 'operator', confidence: 100 })
    }
  }
}
