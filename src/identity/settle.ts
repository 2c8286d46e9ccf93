// Brings the items of a game to what its source records and the decisions of people make of them.
import { type RawBuilder, sql } from 'kysely'
import { CatalogueNames, type Composition, composeItems } from '#catalogue/compose-items.ts'
import { factsOf, PRECEDENCE, type StatedFacts } from '#catalogue/facts.ts'
import { linkRecords, type ItemRecordLink, unlinkRecords } from '#catalogue/source-records.ts'
import { deleteItems, itemsInUse } from '#catalogue/store.ts'
import type { Note } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { assign } from '#matching/assign.ts'
import type { Assignment } from '#matching/records.ts'
import type { PriceWriteCtx } from '#prices/types.ts'
import { authorsOfJoins } from './decisions.ts'
import { decisions, gameRecords, type GameRecord, homePrices, matchRecordOf, setsOfGame, type World } from './game-records.ts'
import { mergeItems } from './merge.ts'
import { type Group, placementOf } from './placement.ts'
import { writeQueue } from './queue.ts'
import type { Neighbourhood } from './neighbourhood.ts'

/** How the items of a world changed. */
export interface Settled {
  created: number
  updated: number
  /** items merged into others, as pairs of ids */
  merged: { from: number; into: number }[]
  /** items removed because their records wait */
  emptied: number
  /** records that wait for a decision */
  waiting: number
  /** of the touched records: those whose item is new, and those whose item changed */
  createdFor: Set<number>
  updatedFor: Set<number>
  /** records by the method by which they came to items */
  methods: Record<string, number>
}

const PART = 1_000

/**
 * Assigns all records of a world of a game and applies what differs: new items, joins, merges, changed facts, the queue. Items that
 * exist keep their ids. The caller holds `lockIdentity`.
 * @param importId of the import whose revert undoes the merges, null for none
 * @param touched ids of records that changed: their items are made anew
 * @param among the records and sets that can differ, null or absent for all of the world
 */
export async function settle(
  ctx: Pick<PriceWriteCtx, 'viewer' | 'now' | 'rules'>,
  tx: Tx,
  note: Note,
  world: World,
  { importId, touched, among = null }: { importId: number | null; touched: ReadonlySet<number>; among?: Neighbourhood | null },
): Promise<Settled> {
  const records = await gameRecords(tx, world, among?.recordIds)
  const followers = followersOf(records)
  const assignment = await assigned(
    tx,
    world,
    records.filter((record) => !followers.has(record)),
    among && itemsOf(records),
  )
  const keeps = await keptWhileWaiting(tx, records, assignment)
  const { groups, emptied } = placementOf(records, followers, assignment, keeps)
  joinOperators(groups, followers)
  const merges = groups.flatMap(({ item, merged }) => merged.map((from) => ({ from, into: item! })))
  const mergeIds = await mergeItems(ctx, tx, note, merges)
  if (importId !== null && mergeIds.length > 0) {
    await tx
      .insertInto('import_merges')
      .values(mergeIds.map((id) => ({ import_id: importId, merge_id: id })))
      .execute()
  }
  const gone = new Set(merges.map(({ from }) => from))
  const empty = emptied.filter((id) => !gone.has(id))
  await deleteItems(tx, note, empty)
  const { changed, unlinked } = differences(groups, records, await departedFrom(tx, world, among && itemsOf(records)))
  await unlinkRecords(tx, unlinked)
  const affected = groups.filter((group) => changed.has(group) || group.members.some(({ record }) => touched.has(record.id)))
  // New items get their ids in the order in which their records came.
  affected.sort((a, b) => a.members[0]!.record.id - b.members[0]!.record.id)
  const settled: Settled = {
    created: 0,
    updated: 0,
    merged: merges,
    emptied: empty.length,
    waiting: assignment.waiting.length,
    createdFor: new Set(),
    updatedFor: new Set(),
    methods: {},
  }
  await write(tx, note, affected, changed, touched, settled)
  for (const { members } of groups) for (const { method } of members) settled.methods[method] = (settled.methods[method] ?? 0) + 1
  await writeQueue(tx, world, assignment, new Map(records.map((record) => [record.key, record])), among)
  return settled
}

/**
 * Records that are not matched by themselves, with those that they follow: one of our own exports follows the record whose
 * item it describes, and what an operator states of an item (null) stays with the item.
 */
function followersOf(records: readonly GameRecord[]): Map<GameRecord, GameRecord | null> {
  if (!records.some(({ source }) => source === 'mintmark' || source === 'operator')) return new Map()
  const byRef = new Map<string, GameRecord>()
  const described = new Set<number>()
  for (const record of records) {
    if (record.source === 'operator') continue
    for (const item of record.items) described.add(item)
    if (record.source !== 'mintmark') byRef.set(`${record.market}\t${record.ref}`, record)
  }
  const followers = new Map<GameRecord, GameRecord | null>()
  for (const record of records) {
    const leader = record.source === 'mintmark' ? byRef.get(`${record.market}\t${record.ref}`) : undefined
    if (leader) followers.set(record, leader)
    else if (record.source === 'operator' && (record.name === null || record.market === null || record.items.some((item) => described.has(item))))
      followers.set(record, null)
  }
  return followers
}

async function assigned(tx: Tx, world: World, records: readonly GameRecord[], items: readonly number[] | null): Promise<Assignment> {
  const sets = await setsOfGame(tx, world.game)
  const prices = await homePrices(tx, world.game, items)
  return assign(
    records.map((record) => matchRecordOf(record, world, sets, prices)),
    await decisions(tx),
    { precedence: PRECEDENCE },
  )
}

/**
 * A record that waits has no item of its own, except where that exists from before records did, where people hang
 * something on it, or where our own export says that it is one.
 */
async function keptWhileWaiting(tx: Tx, records: readonly GameRecord[], { waiting }: Assignment): Promise<(record: GameRecord) => boolean> {
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

/** What an operator states of an item goes along with it. */
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

interface Link {
  recordId: number
  itemId: number
}

function itemsOf(records: readonly GameRecord[]): number[] {
  return [...new Set(records.flatMap(({ items }) => items))]
}

/** Links of records whose imports are reverted to items that others are under; to all items, or these. */
async function departedFrom(tx: Tx, { game, world }: World, items: readonly number[] | null): Promise<Link[]> {
  const { rows } = await sql<Link>`
    select s.record_id as "recordId", s.item_id as "itemId"
    from source_records r join item_sources s on s.record_id = r.id join items i on i.id = s.item_id
    where r.game = ${game} and r.world = ${world} and not r.active and (${items}::int4[] is null or s.item_id = any(${items}::int4[]))`.execute(tx)
  return rows
}

/** Groups whose records are not all under their item yet, or not only; and what is to be taken from under items. */
function differences(groups: readonly Group[], records: readonly GameRecord[], departed: readonly Link[]): { changed: Set<Group>; unlinked: Link[] } {
  const wanted = new Map<number, Set<number>>()
  const holder = new Map<number, Group>()
  const changed = new Set<Group>()
  for (const group of groups) {
    if (group.item === null) {
      changed.add(group)
      continue
    }
    holder.set(group.item, group)
    for (const member of group.members) {
      const { record } = member
      if (!isLinked(member, group.item)) changed.add(group)
      const own = wanted.get(record.id)
      if (own) own.add(group.item)
      else wanted.set(record.id, new Set([group.item]))
    }
  }
  const unlinked: Link[] = []
  for (const link of departed) {
    unlinked.push(link)
    const group = holder.get(link.itemId)
    if (group) changed.add(group)
  }
  for (const { id, items, former } of records) {
    for (const itemId of items) {
      if (wanted.get(id)?.has(itemId)) continue
      unlinked.push({ recordId: id, itemId })
      const group = holder.get(itemId)
      if (group) changed.add(group)
    }
    for (const itemId of former) unlinked.push({ recordId: id, itemId })
  }
  return { changed, unlinked }
}

/** Whether the record is under the item already, and came to it just so. */
function isLinked({ record, method, whole }: Group['members'][number], itemId: number): boolean {
  const at = record.items.indexOf(itemId)
  return at >= 0 && record.methods[at] === method && record.wholes[at] === whole
}

async function write(
  tx: Tx,
  note: Note,
  groups: readonly Group[],
  changed: ReadonlySet<Group>,
  touched: ReadonlySet<number>,
  settled: Settled,
): Promise<void> {
  const names = new CatalogueNames(tx)
  const authors = await authorsOfJoins(tx)
  const comingBack = new Set<number>()
  for (let from = 0; from < groups.length; from += PART) {
    const part = groups.slice(from, from + PART)
    const existing = part.flatMap(({ item }) => item ?? [])
    // What an operator states at this moment is waited for, and read after it.
    if (existing.length > 0) await sql`select from items where id = any(${existing}::int4[]) order by id for update`.execute(tx)
    const [copied, composed] = [part.filter(isCopy), part.filter((group) => !isCopy(group))].map((groups) =>
      groups.flatMap(({ members }) => members.map(({ record }) => record.id)),
    )
    const facts = new Map([...(await factsOfRecords(tx, composed!, sql`facts`)), ...(await factsOfRecords(tx, copied!, NAMING_FACTS))])
    const items = part.map((group): Composition => {
      const stated = ownFirst(group).map(({ record, whole }) => ({ ...facts.get(record.id)!, whole, merged: isOfMerged(record, group) }))
      return {
        id: group.item ?? formerOf(group, comingBack),
        facts: factsOf(stated).facts,
        ...(isCopy(group) && { copies: group.members[0]!.record.id }),
      }
    })
    await freeRefs(tx, items, part)
    const { ids, created, updated } = await composeItems(tx, note, names, items, { keepSlugs: true })
    settled.created += created.length
    settled.updated += updated.length
    for (const [positions, outcome] of [
      [created, settled.createdFor],
      [updated, settled.updatedFor],
    ] as const) {
      for (const n of positions) for (const { record } of part[n]!.members) if (touched.has(record.id)) outcome.add(record.id)
    }
    const links = part.flatMap((group, n): ItemRecordLink[] =>
      changed.has(group)
        ? group.members
            .filter((member) => !isLinked(member, ids[n]!))
            .map(({ record, whole, method, confidence }) => ({
              recordId: record.id,
              itemId: ids[n]!,
              whole,
              method,
              confidence,
              decidedBy: (method === 'operator' && authors.get(record.key)) || null,
            }))
        : [],
    )
    await linkRecords(tx, links)
  }
}

/** The item's own records come before those of items merged into it. */
function ownFirst({ members, item }: Group): Group['members'] {
  const foreign = ({ record }: Group['members'][number]) => record.merged || isOfMerged(record, { item })
  return members.toSorted((a, b) => Number(foreign(a)) - Number(foreign(b)))
}

/** Whether an operator stated it of an item that was merged into this one. */
function isOfMerged({ source, foreignId }: GameRecord, { item }: Pick<Group, 'item'>): boolean {
  return source === 'operator' && item !== null && foreignId !== String(item)
}

/** The id of an item that its records had before their import was reverted; each comes back once. */
function formerOf({ members }: Group, comingBack: Set<number>): number | null {
  const id = members.flatMap(({ record }) => record.former).find((former) => !comingBack.has(former))
  if (id === undefined) return null
  comingBack.add(id)
  return id
}

/** Whether it is a new item of one record. Operators can state that there is no value. */
function isCopy({ item, members }: Group): boolean {
  return item === null && members.length === 1 && members[0]!.record.source !== 'operator'
}

/** What refs and slugs are made of, and groups. */
const NAMING_FACTS = sql`facts - '{images,details,foreign_ids,attributes}'::text[]
  || jsonb_build_object('attributes', jsonb_path_query_array(facts, '$.attributes[*] ? (@.name == "Finish")'))`

async function factsOfRecords(tx: Tx, ids: readonly number[], facts: RawBuilder<unknown>): Promise<Map<number, Omit<StatedFacts, 'whole'>>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Omit<StatedFacts, 'whole'> & { id: number }>`
    select id, source, finish, ${facts} as facts from source_records where id = any(${ids}::int4[])`.execute(tx)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Gives an item another ref where two would have the same: a source can give a ref to another finish than it did before. */
async function freeRefs(tx: Tx, items: readonly Composition[], groups: readonly Group[]): Promise<void> {
  const refs = items.map(({ facts }) => facts.ref!)
  const { rows } = await sql<{ id: number; market: string; ref: string }>`
    select i.id, i.market, i.ref from items i
    join unnest(${items.map(({ facts }) => facts.market!)}::text[], ${refs}::text[]) as r(market, ref) using (market, ref)`.execute(tx)
  const taken = new Map<string, number | null>(rows.map(({ id, market, ref }) => [`${market}\t${ref}`, id]))
  for (const [n, { id, facts }] of items.entries()) {
    const key = (ref: string) => `${facts.market}\t${ref}`
    const holder = taken.get(key(facts.ref!))
    if (holder === undefined || (holder !== null && holder === id)) {
      taken.set(key(facts.ref!), null)
      continue
    }
    const finish = groups[n]!.members.map(({ record }) => record.finish).find(Boolean) ?? 'other'
    let free = `${facts.ref}:${finish}`
    for (let count = 2; taken.has(key(free)); count += 1) free = `${facts.ref}:${finish}-${count}`
    taken.set(key(free), null)
    facts.ref = free
  }
}
