// Updates the items of a game to match its source records and decisions.
import { deleteItems, releaseRefs } from '#catalogue/records/item-store.ts'
import { unlinkRecords } from '#catalogue/items/source-records.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { gameRecords, type GameRecord, type World } from '../records/game-records.ts'
import { groupsOf } from '../records/groups.ts'
import { inactiveLinks, differences } from '../records/links.ts'
import { mergeItems } from './merge.ts'
import type { Neighbourhood } from '../records/neighbourhood.ts'
import type { Group } from '../records/placement.ts'
import { writeQueue } from '../records/queue.ts'
import { refsOf } from '../records/refs.ts'
import { writeGroups } from './write-groups.ts'

/** How the items of a world changed. */
export interface Settled {
  created: number
  updated: number
  /** merged items, as pairs of ids */
  merged: { from: number; into: number }[]
  /** items removed because their records are pending */
  emptied: number
  /** records that are pending a decision */
  waiting: number
  /** touched records that have a new item, and those whose item has changed */
  createdFor: Set<number>
  updatedFor: Set<number>
  /** number of records by the method that linked them to items */
  methods: Record<string, number>
}

/**
 * Assigns all records of a world of a game and applies the differences: new items, joins, merges, changed facts, and the queue. Existing items keep
 * their ids. The caller holds `lockIdentity`.
 * @param importId the import whose revert undoes the merges; null for none
 * @param touched ids of changed records, whose items are composed again
 * @param among the records and sets that can differ; null or absent for the whole world
 */
export async function settle(
  ctx: Pick<PriceWriteCtx, 'viewer' | 'now' | 'rules'>,
  tx: Tx,
  note: Note,
  world: World,
  { importId, touched, among = null }: { importId: number | null; touched: ReadonlySet<number>; among?: Neighbourhood | null },
): Promise<Settled> {
  const records = await gameRecords(tx, world, among?.recordIds)
  const items = among && itemsOf(records)
  const { groups, emptied, assignment } = await groupsOf(tx, world, records, items)
  const merged = groups.flatMap(({ item, merged }) => merged.map((from) => ({ from, into: item! })))
  await merge(ctx, tx, note, merged, importId)
  const gone = new Set(merged.map(({ from }) => from))
  const empty = emptied.filter((id) => !gone.has(id))
  await deleteItems(tx, note, empty)
  const { changed, unlinked } = differences(groups, records, await inactiveLinks(tx, world, items))
  await unlinkRecords(tx, unlinked)
  const { refs, moved } = await refsOf(tx, groups)
  await releaseRefs(
    tx,
    [...moved].map(({ item }) => item!),
  )
  const affected = groups.filter((group) => changed.has(group) || moved.has(group) || group.members.some(({ record }) => touched.has(record.id)))
  // New items get their ids in the order in which their records arrived.
  affected.sort((a, b) => a.members[0]!.record.id - b.members[0]!.record.id)
  const written = await writeGroups(tx, note, affected, changed, refs)
  await writeQueue(tx, world, assignment, new Map(records.map((record) => [record.key, record])), among, note.at)
  return {
    created: written.created.length,
    updated: written.updated.length,
    merged,
    emptied: empty.length,
    waiting: assignment.waiting.length,
    createdFor: recordsAmong(written.created, touched),
    updatedFor: recordsAmong(written.updated, touched),
    methods: methodsOf(groups),
  }
}

/** Merges items; reverting the import undoes the merges. */
async function merge(
  ctx: Pick<PriceWriteCtx, 'viewer' | 'now' | 'rules'>,
  tx: Tx,
  note: Note,
  pairs: readonly { from: number; into: number }[],
  importId: number | null,
): Promise<void> {
  const mergeIds = await mergeItems(ctx, tx, note, pairs)
  if (importId === null || mergeIds.length === 0) return
  await tx
    .insertInto('import_merges')
    .values(mergeIds.map((id) => ({ import_id: importId, merge_id: id })))
    .execute()
}

function itemsOf(records: readonly GameRecord[]): number[] {
  return [...new Set(records.flatMap(({ items }) => items))]
}

function recordsAmong(groups: readonly Group[], touched: ReadonlySet<number>): Set<number> {
  const found = new Set<number>()
  for (const { members } of groups) for (const { record } of members) if (touched.has(record.id)) found.add(record.id)
  return found
}

function methodsOf(groups: readonly Group[]): Record<string, number> {
  const methods: Record<string, number> = {}
  for (const { members } of groups) for (const { method } of members) methods[method] = (methods[method] ?? 0) + 1
  return methods
}
