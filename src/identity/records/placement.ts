// Turns the matcher's assignment into items: decides which item each group of records keeps, and which items are new, merged or emptied. Pure.
import { rankOf } from '#catalogue/records/facts.ts'
import type { Assignment } from '#matching/matcher-types.ts'
import type { GameRecord } from './game-records.ts'

interface Placed {
  record: GameRecord
  /** linked to every item of its card */
  whole: boolean
  method: string
  /** 0 to 100 */
  confidence: number
}

/** Records that form one item. */
export interface Group {
  members: Placed[]
  /** the existing item, or null for a new one */
  item: number | null
  /** duplicates to be merged into it */
  merged: number[]
}

export interface Placement {
  groups: Group[]
  /** items that are left without records, because theirs are pending */
  emptied: number[]
}

/** A record with the properties of its link that decide the precedence of its facts. */
interface RankedRecord {
  source: string
  record: GameRecord
  whole: boolean
  /** stated by an operator about an item that was merged into this one */
  merged: boolean
}

/** Sorts the records of a group by the precedence of their facts: the item's own records before those of items merged into it. */
export function recordsByPrecedence({ members, item }: Group): readonly RankedRecord[] {
  const stating = members.map(({ record, whole }) => ({ source: record.source, record, whole, merged: isOfMerged(record, item) }))
  const foreign = ({ record, merged }: RankedRecord) => record.merged || merged
  return stating.some(foreign) ? stating.sort((a, b) => Number(foreign(a)) - Number(foreign(b))) : stating
}

/** Whether an operator stated the record about an item that was merged into this one. */
function isOfMerged({ source, foreignId }: GameRecord, item: number | null): boolean {
  return source === 'operator' && item !== null && foreignId !== String(item)
}

interface Draft extends Group {
  /** the members whose items the group claims */
  owners: Placed[]
  primary: boolean
  /** the group is pending and keeps its item only if no other group claims that item */
  waits: boolean
}

/**
 * @param records all records of the game
 * @param keeps whether a pending record keeps its item
 */
export function placementOf(
  records: readonly GameRecord[],
  followers: ReadonlyMap<GameRecord, GameRecord | null>,
  assignment: Assignment,
  keeps: (record: GameRecord) => boolean,
): Placement {
  const byKey = new Map(records.map((record) => [record.key, record]))
  const drafts: Draft[] = assignment.items.map(({ records: assigned, primary }) => {
    const members = assigned.map(({ key, method, confidence, whole }) => ({ record: byKey.get(key)!, method, confidence, whole }))
    const owners = members.filter(({ whole }) => !whole)
    return { members, owners: owners.length > 0 ? owners : members, primary, waits: false, item: null, merged: [] }
  })
  for (const { keys } of assignment.waiting)
    drafts.push(
      ...keptItems(
        keys.map((key) => byKey.get(key)!),
        keeps,
      ),
    )
  follow(drafts, followers)
  const held = claim(drafts)
  const emptied = new Set<number>()
  for (const record of records) for (const item of record.items) if (!held.has(item)) emptied.add(item)
  return { groups: drafts.filter((draft) => !draft.waits || draft.item !== null || isExported(draft)), emptied: [...emptied] }
}

/** Whether the item comes from our own export. */
function isExported({ members }: Draft): boolean {
  return members.some(({ record }) => record.source === 'mintmark')
}

/** Groups of pending records that keep their items: those that already have an item, or that are an item by definition. */
function keptItems(waiting: readonly GameRecord[], keeps: (record: GameRecord) => boolean): Draft[] {
  const kept = waiting.filter(keeps)
  const byItem = Map.groupBy(kept, ({ key, items }) => (items.length > 0 ? String(items[0]) : key))
  return [...byItem.values()].map((own) => {
    const members = own.map((record) => ({ record, whole: false, method: 'own', confidence: 100 }))
    return { members, owners: members, primary: true, waits: true, item: null, merged: [] }
  })
}

/** Adds records that are not matched themselves to the group of the record that they follow. */
function follow(drafts: readonly Draft[], followers: ReadonlyMap<GameRecord, GameRecord | null>): void {
  const behind = Map.groupBy(
    [...followers].filter(([, leader]) => leader !== null),
    ([, leader]) => leader!,
  )
  if (behind.size === 0) return
  for (const { members } of drafts) {
    const followed = members.flatMap(({ record, whole, confidence }) =>
      (behind.get(record) ?? []).map(([follower]) => ({ record: follower, whole, method: 'own', confidence })),
    )
    members.push(...followed)
  }
}

/** Assigns each item to one group; items of the same group are merged. */
function claim(drafts: readonly Draft[]): Set<number> {
  const votes = new Map<number, Map<Draft, number>>()
  const vote = (item: number, draft: Draft, weight = 1) => {
    const own = votes.get(item) ?? new Map<Draft, number>()
    votes.set(item, own.set(draft, (own.get(draft) ?? 0) + weight))
  }
  for (const draft of drafts) if (!draft.waits) for (const { record } of draft.owners) for (const item of record.items) vote(item, draft)
  const assigned = new Set(votes.keys())
  for (const draft of drafts)
    if (draft.waits) for (const { record } of draft.owners) for (const item of record.items) if (!assigned.has(item)) vote(item, draft)
  // An unclaimed item of a whole-card record goes to the finish with the same ref, otherwise to the plainest.
  const claimed = new Set(votes.keys())
  for (const draft of drafts) {
    for (const { record } of draft.members) {
      const open = record.items.filter((item) => !claimed.has(item))
      if (open.length === 0) continue
      const named = draft.owners.some(({ record: owner }) => owner.ref === record.ref && owner.market === record.market)
      for (const item of open) {
        if (named) vote(item, draft, drafts.length)
        else if (draft.primary) vote(item, draft)
      }
    }
  }
  const won = new Map<Draft, number[]>()
  for (const [item, claims] of votes) {
    const [winner] = [...claims].reduce((best, next) => (isBetter(next, best) ? next : best))
    won.set(winner, [...(won.get(winner) ?? []), item])
  }
  for (const [draft, items] of won) {
    const first = items.length === 1 ? items[0]! : draft.members.flatMap(({ record }) => record.items).find((item) => items.includes(item))!
    draft.item = first
    draft.merged = items.filter((item) => item !== first)
  }
  return new Set(votes.keys())
}

function isBetter([a, votesA]: [Draft, number], [b, votesB]: [Draft, number]): boolean {
  if (votesA !== votesB) return votesA > votesB
  const [one, other] = [a.members[0]!.record, b.members[0]!.record]
  return rankOf(one.source) - rankOf(other.source) < 0 || (one.source === other.source && one.key < other.key)
}
