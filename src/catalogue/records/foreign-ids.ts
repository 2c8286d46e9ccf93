// Writes the foreign ids of items.
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import { foreignIdKey } from './facts.ts'
import type { ForeignId } from './catalogue-records.ts'

interface WithForeignIds {
  id: number
  foreignIds: readonly ForeignId[]
}

interface StoredForeignId {
  item_id: number
  source: string
  foreign_id: string
  finish: string
}

/** @returns ids of the items whose foreign ids changed */
export async function replaceForeignIds(tx: Tx, items: readonly WithForeignIds[]): Promise<number[]> {
  if (items.length === 0) return []
  const { rows: stored } = await sql<StoredForeignId>`
    select item_id, source, foreign_id, finish from item_foreign_ids where item_id = any(${items.map(({ id }) => id)}::int4[])`.execute(tx)
  const storedOf = Map.groupBy(stored, (row) => row.item_id)
  const gone: WithForeignIds[] = []
  const added: WithForeignIds[] = []
  for (const { id, foreignIds } of items) {
    const own = storedOf.get(id) ?? []
    const storedKeys = new Set(own.map(({ source, foreign_id, finish }) => foreignIdKey({ source, id: foreign_id, finish })))
    const stated = new Set<string>()
    const missing = foreignIds.filter((foreign) => {
      const key = foreignIdKey(foreign)
      return stated.size < stated.add(key).size && !storedKeys.has(key)
    })
    if (missing.length > 0) added.push({ id, foreignIds: missing })
    // As many stored ids as stated ones that are stored: none is gone.
    if (stated.size - missing.length === own.length) continue
    const surplus = own
      .map(({ source, foreign_id, finish }) => ({ source, id: foreign_id, finish }))
      .filter((foreign) => !stated.has(foreignIdKey(foreign)))
    gone.push({ id, foreignIds: surplus })
  }
  if (gone.length > 0) {
    await sql`
      delete from item_foreign_ids i using ${foreignIdRows(gone)}
      where (i.source, i.foreign_id, i.item_id, i.finish) = (f.source, f.foreign_id, f.item_id, f.finish)`.execute(tx)
  }
  await insertForeignIds(tx, added)
  return [...new Set([...gone, ...added].map(({ id }) => id))]
}

export async function insertForeignIds(tx: Tx, items: readonly WithForeignIds[]): Promise<void> {
  if (items.length === 0) return
  await sql`
    insert into item_foreign_ids (source, foreign_id, item_id, finish)
    select distinct source, foreign_id, item_id, finish from ${foreignIdRows(items)}`.execute(tx)
}

function foreignIdRows(items: readonly WithForeignIds[]): RawBuilder<unknown> {
  const rows = items.flatMap(({ id, foreignIds }) => foreignIds.map((foreign) => ({ ...foreign, item_id: id })))
  return sql`unnest(${rows.map((r) => r.source)}::text[], ${rows.map((r) => r.id)}::text[], ${rows.map((r) => r.item_id)}::int4[],
    ${rows.map((r) => r.finish ?? '')}::text[]) as f(source, foreign_id, item_id, finish)`
}
