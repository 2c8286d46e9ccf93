// Writes groups of records as items: facts by precedence, refs and slugs that are free, and the links of records to them.
import { type RawBuilder, sql } from 'kysely'
import { CatalogueNames, type Composition, composeItems } from '#catalogue/compose-items.ts'
import { type Facts, factsOf, type StatedFacts } from '#catalogue/facts.ts'
import { type ItemRecordLink, linkRecords } from '#catalogue/source-records.ts'
import type { Note } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { authorsOfJoins } from './decisions.ts'
import type { GameRecord } from './game-records.ts'
import { isLinked } from './links.ts'
import type { Group } from './placement.ts'

const PART = 1_000

interface WrittenGroups {
  /** groups whose item is new */
  created: Group[]
  /** groups whose item changed */
  updated: Group[]
}

/** Groups with what is read of them before they are written. */
interface Part {
  groups: readonly Group[]
  facts: ReadonlyMap<number, Omit<StatedFacts, 'whole'>>
  /** market and ref of the items that exist, by id */
  refs: ReadonlyMap<number, string>
}

/**
 * Makes items what their records state.
 * @param changed groups whose records are not all under their item yet
 */
export async function writeGroups(tx: Tx, note: Note, groups: readonly Group[], changed: ReadonlySet<Group>): Promise<WrittenGroups> {
  const written: WrittenGroups = { created: [], updated: [] }
  if (groups.length === 0) return written
  const names = new CatalogueNames(tx)
  const authors = await authorsOfJoins(tx)
  const comingBack = new Set<number>()
  // A part is composed while the one before it is written.
  let writing: Promise<void> = Promise.resolve()
  try {
    let next = await readPart(tx, groups.slice(0, PART))
    for (let from = PART; next.groups.length > 0; from += PART) {
      const part = next
      const items = part.groups.map((group) => composition(group, part, comingBack))
      await writing
      next = await readPart(tx, groups.slice(from, from + PART))
      writing = writePart(items, part)
      // The next await of it gets the error.
      writing.catch(() => {})
    }
  } finally {
    // An error ends the transaction, which must not be written to any more then.
    await writing
  }
  return written

  async function writePart(items: readonly Composition[], { groups: own, refs }: Part): Promise<void> {
    await freeRefs(tx, items, own, refs)
    const { ids, created, updated } = await composeItems(tx, note, names, items, { keepSlugs: true })
    written.created.push(...created.map((n) => own[n]!))
    written.updated.push(...updated.map((n) => own[n]!))
    const links = own.flatMap((group, n): ItemRecordLink[] =>
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

async function readPart(tx: Tx, groups: readonly Group[]): Promise<Part> {
  // What an operator states at this moment is waited for, and read after it.
  const refs = await lockedItems(
    tx,
    groups.flatMap(({ item }) => item ?? []),
  )
  const copied = groups.filter(isCopy)
  const composed = groups.filter((group) => !isCopy(group))
  return { groups, refs, facts: new Map([...(await readFacts(tx, copied, NAMING_FACTS)), ...(await readFacts(tx, composed, sql`facts`))]) }
}

async function lockedItems(tx: Tx, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: number; market: string; ref: string }>`
    select id, market, ref from items where id = any(${ids}::int4[]) order by id for update`.execute(tx)
  return new Map(rows.map(({ id, market, ref }) => [id, `${market}\t${ref}`]))
}

function composition(group: Group, { facts }: Part, comingBack: Set<number>): Composition {
  const stated = ownFirst(group).map(({ record, whole }) => ({ ...facts.get(record.id)!, whole, merged: isOfMerged(record, group) }))
  return {
    id: group.item ?? formerOf(group, comingBack),
    facts: factsOf(stated).facts,
    ...(isCopy(group) && { copies: group.members[0]!.record.id }),
  }
}

/** The item's own records come before those of items merged into it. */
function ownFirst({ members, item }: Group): Group['members'] {
  const foreign = ({ record }: Group['members'][number]) => record.merged || isOfMerged(record, { item })
  return members.some(foreign) ? members.toSorted((a, b) => Number(foreign(a)) - Number(foreign(b))) : members
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

async function readFacts(tx: Tx, groups: readonly Group[], facts: RawBuilder<unknown>): Promise<[number, Omit<StatedFacts, 'whole'>][]> {
  const ids = groups.flatMap(({ members }) => members.map(({ record }) => record.id))
  if (ids.length === 0) return []
  const { rows } = await sql<Omit<StatedFacts, 'whole'> & { id: number }>`
    select id, source, finish, ${facts} as facts from source_records where id = any(${`{${ids.join(',')}}`}::int4[])`.execute(tx)
  return rows.map((row) => [row.id, row])
}

/**
 * Gives an item another ref where two would have the same: a source can give a ref to another finish than it did before.
 * @param current market and ref of the items that exist, by id
 */
async function freeRefs(tx: Tx, items: readonly Composition[], groups: readonly Group[], current: ReadonlyMap<number, string>): Promise<void> {
  const keyOf = ({ market }: Facts, ref: string) => `${market}\t${ref}`
  const moved = items.filter(({ id, facts }) => id === null || current.get(id) !== keyOf(facts, facts.ref!))
  const taken = new Map<string, number | null>(
    items.flatMap(({ id, facts }) => (id !== null && current.get(id) === keyOf(facts, facts.ref!) ? [[keyOf(facts, facts.ref!), id]] : [])),
  )
  if (moved.length > 0) {
    const { rows } = await sql<{ id: number; market: string; ref: string }>`
      select i.id, i.market, i.ref from items i
      join unnest(${moved.map(({ facts }) => facts.market!)}::text[], ${moved.map(({ facts }) => facts.ref!)}::text[]) as r(market, ref)
        using (market, ref)`.execute(tx)
    for (const { id, market, ref } of rows) taken.set(`${market}\t${ref}`, id)
  }
  for (const [n, { id, facts }] of items.entries()) {
    const key = keyOf(facts, facts.ref!)
    const holder = taken.get(key)
    if (holder === undefined || (holder !== null && holder === id)) {
      taken.set(key, null)
      continue
    }
    const finish = groups[n]!.members.map(({ record }) => record.finish).find(Boolean) ?? 'other'
    let free = `${facts.ref}:${finish}`
    for (let count = 2; taken.has(keyOf(facts, free)); count += 1) free = `${facts.ref}:${finish}-${count}`
    taken.set(keyOf(facts, free), null)
    facts.ref = free
  }
}
