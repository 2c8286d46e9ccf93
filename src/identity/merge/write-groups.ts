// Writes groups of records as items: facts by precedence, refs, free slugs, and the links of records to them.
import { sql } from 'kysely'
import { CatalogueNames, type Composition, composeItems } from '#catalogue/items/compose-items.ts'
import { type Facts, mergedFacts, type StatedFacts } from '#catalogue/records/facts.ts'
import { type ItemRecordLink, linkRecords } from '#catalogue/items/source-records.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { authorsOfJoins } from '../records/decisions.ts'
import { isLinked } from '../records/links.ts'
import { type Group, recordsByPrecedence } from '../records/placement.ts'

const PART = 1_000

interface WrittenGroups {
  /** groups with a new item */
  created: Group[]
  /** groups with a changed item */
  updated: Group[]
}

/** A part of the groups with the data needed to write them. */
interface Part {
  groups: readonly Group[]
  facts: ReadonlyMap<number, RecordFacts>
}

/**
 * Creates and updates items from the facts of their records.
 * @param changed groups whose records are not all linked to their item yet
 * @param refs refs of the groups; none is used by another item
 */
export async function writeGroups(
  tx: Tx,
  note: Note,
  groups: readonly Group[],
  changed: ReadonlySet<Group>,
  refs: ReadonlyMap<Group, string>,
): Promise<WrittenGroups> {
  const written: WrittenGroups = { created: [], updated: [] }
  if (groups.length === 0) return written
  // Waits for edits by operators that are in progress, so that they are included.
  await lockItems(
    tx,
    groups.flatMap(({ item }) => item ?? []),
  )
  const names = new CatalogueNames(tx)
  const authors = await authorsOfJoins(tx)
  const comingBack = new Set<number>()
  // Reads the next part and composes this one while the previous one is being written.
  let reading = readPart(tx, groups.slice(0, PART))
  let writing: Promise<void> = Promise.resolve()
  try {
    for (let from = PART; from < groups.length + PART; from += PART) {
      const part = await reading
      reading = readPart(tx, groups.slice(from, from + PART))
      const items: Composition[] = []
      await runInSlices(part.groups.length, (first, end) => {
        for (const group of part.groups.slice(first, end)) items.push(composition(group, part, refs.get(group)!, comingBack))
      })
      await writing
      writing = writePart(items, part)
      // Prevents unhandled rejections; the next await receives the error.
      for (const running of [reading, writing]) running.catch(() => {})
    }
  } finally {
    // After an error the transaction ends, so wait until nothing is running.
    await reading.catch(() => {})
    await writing
  }
  return written

  async function writePart(items: readonly Composition[], { groups: own }: Part): Promise<void> {
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
    await linkRecords(tx, links, note.at)
  }
}

async function readPart(tx: Tx, groups: readonly Group[]): Promise<Part> {
  const composed = groups.filter((group) => !isCopy(group))
  return { groups, facts: new Map([...(await readNamingFacts(tx, groups.filter(isCopy))), ...(await readFacts(tx, composed))]) }
}

async function lockItems(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await sql`select from items where id = any(${ids}::int4[]) order by id for update`.execute(tx)
}

function composition(group: Group, { facts }: Part, ref: string, comingBack: Set<number>): Composition {
  const id = group.item ?? formerOf(group, comingBack)
  if (isCopy(group)) {
    const recordId = group.members[0]!.record.id
    return { id, facts: { ...facts.get(recordId)!.facts, ref }, copies: recordId }
  }
  const stated = recordsByPrecedence(group).map(({ record, whole, merged }) => ({ ...facts.get(record.id)!, whole, merged }))
  return { id, facts: { ...mergedFacts(stated), ref } }
}

/** The id of an item that these records had before their import was reverted; each id is restored once. */
function formerOf({ members }: Group, comingBack: Set<number>): number | null {
  const id = members.flatMap(({ record }) => record.former).find((former) => !comingBack.has(former))
  if (id === undefined) return null
  comingBack.add(id)
  return id
}

/** Whether the facts of a new item can be copied from its only record. An operator's cannot: it may state that a value is absent. */
function isCopy({ item, members }: Group): boolean {
  return item === null && members.length === 1 && members[0]!.record.source !== 'operator'
}

type RecordFacts = Omit<StatedFacts, 'whole' | 'merged'>

/** The facts of records from which new items are copied, as far as slugs and groups are derived from them. */
async function readNamingFacts(tx: Tx, copies: readonly Group[]): Promise<[number, RecordFacts][]> {
  if (copies.length === 0) return []
  const records = new Map(copies.map(({ members }) => [members[0]!.record.id, members[0]!.record]))
  const { rows } = await sql<{ id: number; game: string; slug: string | null; groups: string[] | null; shown: string | null }>`
    select id, game, facts->>'slug' as slug, facts->'groups' as groups,
      (select a->>'value' from jsonb_array_elements(facts->'attributes') a where a->>'name' = 'Finish' limit 1) as shown
    from source_records where id = any(${[...records.keys()]}::int4[])`.execute(tx)
  return rows.map(({ id, game, slug, groups, shown }) => {
    const { source, finish, market, ref, category, name, code, genre } = records.get(id)!
    const facts: Facts = {
      ...(market !== null && { market }),
      ...(ref !== null && { ref }),
      ...(category !== null && { category }),
      ...(name !== null && { name }),
      ...(slug !== null && { slug }),
      code,
      genre,
      game,
      groups: groups ?? [],
      attributes: shown === null ? [] : [{ name: 'Finish', value: shown }],
    }
    return [id, { source, finish, facts }]
  })
}

async function readFacts(tx: Tx, groups: readonly Group[]): Promise<[number, RecordFacts][]> {
  const ids = groups.flatMap(({ members }) => members.map(({ record }) => record.id))
  if (ids.length === 0) return []
  const { rows } = await sql<RecordFacts & { id: number }>`
    select id, source, finish, facts from source_records where id = any(${ids}::int4[])`.execute(tx)
  return rows.map((row) => [row.id, row])
}
