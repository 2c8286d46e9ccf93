// Refs of items, derived only from the facts of their records.
import { sql } from 'kysely'
import { byIdentity, rankOf, refKey, suffixedRefs } from '#catalogue/records/facts.ts'
import type { Tx } from '#db/schema.ts'
import type { GameRecord } from './game-records.ts'
import { type Group, recordsByPrecedence } from './placement.ts'

export interface GroupRefs {
  refs: ReadonlyMap<Group, string>
  /** groups whose existing item currently has a different market or ref */
  moved: ReadonlySet<Group>
}

interface Named {
  group: Group
  market: string
  ref: string
  /** `refKey` of both */
  key: string
  /** the record that states the ref */
  by: GameRecord
}

/**
 * Determines the ref of each group: the ref of its first record. The finish is appended if a group with a higher-ranked record has the same ref, or
 * if an item outside the groups has it.
 */
export async function refsOf(tx: Tx, groups: readonly Group[]): Promise<GroupRefs> {
  const named = groups.map(namedBy)
  const current = await currentRefs(
    tx,
    groups.flatMap(({ item }) => item ?? []),
  )
  const differs = ({ group, key }: Named) => group.item === null || current.get(group.item) !== key
  const taken = await takenByOthers(tx, named.filter(differs), current)
  const refs = new Map<Group, string>()
  const later: Named[] = []
  for (const [key, own] of Map.groupBy(named, (one) => one.key)) {
    const [first, ...others] = own.length === 1 ? own : own.toSorted(byRecord)
    if (taken.has(key)) later.push(first!)
    else refs.set(first!.group, first!.ref)
    taken.add(key)
    later.push(...others)
  }
  for (const { group, market, ref } of later.sort(byRecord)) {
    const finish = group.members.map(({ record }) => record.finish).find(Boolean)
    const free = suffixedRefs(ref, finish).find((each) => !taken.has(refKey(market, each)))!
    taken.add(refKey(market, free))
    refs.set(group, free)
  }
  const moved = named.filter(({ group, market, ref, key }) => {
    if (group.item === null) return false
    const given = refs.get(group)!
    return current.get(group.item) !== (given === ref ? key : refKey(market, given))
  })
  return { refs, moved: new Set(moved.map(({ group }) => group)) }
}

function namedBy(group: Group): Named {
  const [only] = group.members
  if (group.members.length === 1 && only!.record.ref !== null && only!.record.market !== null)
    return namedAs(group, only!.record.market, only!.record)
  const stating = byIdentity(recordsByPrecedence(group)).map(({ record }) => record)
  const by = stating.find(({ ref }) => ref !== null)!
  return namedAs(group, stating.find(({ market }) => market !== null)!.market!, by)
}

function namedAs(group: Group, market: string, by: GameRecord): Named {
  return { group, market, ref: by.ref!, key: refKey(market, by.ref!), by }
}

function byRecord({ by: a }: Named, { by: b }: Named): number {
  return rankOf(a.source) - rankOf(b.source) || (a.key < b.key ? -1 : 1)
}

/** Market and ref of items, by id. */
async function currentRefs(tx: Tx, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: number; key: string }>`
    select id, concat_ws(chr(9), market, ref) as key from items where id = any(${ids}::int4[])`.execute(tx)
  return new Map(rows.map(({ id, key }) => [id, key]))
}

/** The refs that items other than `own` use. */
async function takenByOthers(tx: Tx, wanted: readonly Named[], own: ReadonlyMap<number, string>): Promise<Set<string>> {
  if (wanted.length === 0) return new Set()
  const { rows } = await sql<{ id: number; key: string }>`
    select i.id, concat_ws(chr(9), market, ref) as key from items i
    join unnest(${wanted.map(({ market }) => market)}::text[], ${wanted.map(({ ref }) => ref)}::text[]) as r(market, ref) using (market, ref)`.execute(
    tx,
  )
  return new Set(rows.flatMap(({ id, key }) => (own.has(id) ? [] : [key])))
}
