// Differences between the items that records are linked to and those they should be linked to.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import type { GameRecord, World } from './game-records.ts'
import type { Group } from './placement.ts'

interface Link {
  recordId: number
  itemId: number
}

/** Links of inactive records, whose imports were reverted, to existing items: all of them, or the given ones. */
export async function inactiveLinks(tx: Tx, { game, world }: World, items: readonly number[] | null): Promise<Link[]> {
  const { rows } = await sql<Link>`
    select s.record_id as "recordId", s.item_id as "itemId"
    from source_records r join item_sources s on s.record_id = r.id join items i on i.id = s.item_id
    where r.game = ${game} and r.world = ${world} and not r.active and (${items}::int4[] is null or s.item_id = any(${items}::int4[]))`.execute(tx)
  return rows
}

/** Groups whose links to their item are missing or surplus, and the links to remove. Pure. */
export function differences(
  groups: readonly Group[],
  records: readonly GameRecord[],
  departed: readonly Link[],
): { changed: Set<Group>; unlinked: Link[] } {
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

/** Whether the record is already linked to the item by the same method. */
export function isLinked({ record, method, whole }: Group['members'][number], itemId: number): boolean {
  return record.links.some((link) => link.itemId === itemId && link.method === method && link.whole === whole)
}
