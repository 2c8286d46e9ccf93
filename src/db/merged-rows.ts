// Moves rows to the surviving items when items are merged, and back. `merged_rows` records what each merge has moved, so that it can be undone exactly.
import { type RawBuilder, sql } from 'kysely'
import { mergeIds, type MergePair, pairTable } from './merge-pairs.ts'
import type { Tx } from './schema.ts'

/** Rows of a table that have an id: only their item changes. */
interface RowsWithId {
  table: string
  /** columns; a row in which one of them has changed since the merge stays with the survivor */
  unchanged?: readonly string[]
  /** further assignments for a row `r` that moves from one item to the other */
  assign?: (from: RawBuilder<unknown>, into: RawBuilder<unknown>) => RawBuilder<unknown>
}

/** Rows that their item and these columns identify: the survivor may already have the same one, and several merged items may have it. */
interface RowsWithKey {
  table: string
  key: readonly string[]
}

export type MovedRows = RowsWithId | RowsWithKey

/** Moves rows to the surviving items; of equal rows, that of the survivor stays, otherwise that of the first merge. */
export function moveRows(tx: Tx, pairs: readonly MergePair[], rows: MovedRows): Promise<void> {
  return 'key' in rows ? moveKeys(tx, pairs, rows) : moveIds(tx, pairs, rows)
}

/**
 * Moves rows of merges that are already marked as undone back, as far as the survivor still has them. Of rows with a key, all are restored, and the
 * survivor receives the equal row of another item that is still merged into it.
 */
export async function moveRowsBack(tx: Tx, pairs: readonly MergePair[], rows: MovedRows): Promise<void> {
  await ('key' in rows ? moveKeysBack(tx, pairs, rows) : moveIdsBack(tx, pairs, rows))
  await sql`delete from merged_rows where merge_id = any(${mergeIds(pairs)}) and name = ${rows.table}`.execute(tx)
}

/** The recorded rows of a table as `m` (the pair), `x` (the record) and `k` (the row as it was, without its item). */
export function recordedRows(pairs: readonly MergePair[], table: string): RawBuilder<unknown> {
  return sql`${pairTable(pairs)} join merged_rows x on x.merge_id = m.merge_id and x.name = ${sql.lit(table)}
    cross join lateral jsonb_populate_record(null::${sql.table(table)}, x.content) k`
}

/**
 * Records rows with merges.
 * @param changes SQL of one or several `name as (...)`, which change the rows
 * @param rows SQL that selects `merge_id, name, content, placed`
 */
export async function recordRows(tx: Tx, changes: RawBuilder<unknown>, rows: RawBuilder<unknown>): Promise<void> {
  await sql`with ${changes} insert into merged_rows (merge_id, name, content, placed) ${rows}`.execute(tx)
}

/** Forgets what merges have recorded of a table, except rows of the survivor that they replaced: another merge may have hidden those, too. */
export async function forgetRows(tx: Tx, pairs: readonly MergePair[], table: string): Promise<void> {
  await sql`delete from merged_rows where merge_id = any(${mergeIds(pairs)}) and name = ${table} and placed`.execute(tx)
}

async function moveIds(tx: Tx, pairs: readonly MergePair[], { table, unchanged = [], assign }: RowsWithId): Promise<void> {
  const content = sql.join(['id', ...unchanged].flatMap((name) => [sql.lit(name), sql.ref(`r.${name}`)]))
  const moved = sql`
    moved as (
      update ${sql.table(table)} r set item_id = m.into_item ${assign ? sql`, ${assign(sql`m.from_item`, sql`m.into_item`)}` : sql``}
      from ${pairTable(pairs)} where r.item_id = m.from_item
      returning m.merge_id, jsonb_build_object(${content}) as content
    )`
  await recordRows(tx, moved, sql`select merge_id, ${table}, content, true from moved`)
}

async function moveIdsBack(tx: Tx, pairs: readonly MergePair[], { table, unchanged = [], assign }: RowsWithId): Promise<void> {
  const same = unchanged.map((name) => sql`and ${sql.ref(`r.${name}`)} is not distinct from ${sql.ref(`k.${name}`)}`)
  await sql`
    update ${sql.table(table)} r set item_id = m.from_item ${assign ? sql`, ${assign(sql`m.into_item`, sql`m.from_item`)}` : sql``}
    from ${recordedRows(pairs, table)}
    where r.id = k.id and r.item_id = m.into_item ${sql.join(same, sql` `)}`.execute(tx)
}

async function moveKeys(tx: Tx, pairs: readonly MergePair[], { table, key }: RowsWithKey): Promise<void> {
  const columns = sql.join(key.map((name) => sql.ref(name)))
  const keyOf = (row: string) => sql.join(key.map((name) => sql`(${sql.raw(row)}).${sql.ref(name)}`))
  const moved = sql`
    gone as (
      delete from ${sql.table(table)} r using ${pairTable(pairs)} where r.item_id = m.from_item returning m.merge_id, m.into_item, r as was
    ), ranked as (
      select *, row_number() over (partition by into_item, ${keyOf('was')} order by merge_id) as nth from gone
    ), added as (
      insert into ${sql.table(table)}
      select n.* from ranked g cross join lateral jsonb_populate_record(g.was, jsonb_build_object('item_id', g.into_item)) n where g.nth = 1
      on conflict do nothing
      returning item_id, ${columns}
    )`
  await recordRows(
    tx,
    moved,
    sql`
      select g.merge_id, ${table}, to_jsonb(g.was) - 'item_id', g.nth = 1 and a.item_id is not null
      from ranked g left join added a on (a.item_id, ${keyOf('a')}) = (g.into_item, ${keyOf('g.was')})`,
  )
}

async function moveKeysBack(tx: Tx, pairs: readonly MergePair[], { table, key }: RowsWithKey): Promise<void> {
  const keyOf = (row: string) => sql.join(key.map((name) => sql.ref(`${row}.${name}`)))
  const recorded = recordedRows(pairs, table)
  await sql`
    delete from ${sql.table(table)} r using ${recorded}
    where x.placed and r.item_id = m.into_item and (${keyOf('r')}) = (${keyOf('k')})`.execute(tx)
  await sql`
    with next as (
      select distinct on (m.into_item, ${keyOf('k')}) m.into_item, y.merge_id, y.content
      from ${recorded} join merges o on o.into_item = m.into_item and o.undone_at is null
      join merged_rows y on y.merge_id = o.id and y.name = x.name
      cross join lateral jsonb_populate_record(null::${sql.table(table)}, y.content) n
      where x.placed and (${keyOf('n')}) = (${keyOf('k')})
      order by m.into_item, ${keyOf('k')}, y.merge_id
    ), placed as (
      update merged_rows y set placed = true from next n where (y.merge_id, y.name, y.content) = (n.merge_id, ${table}, n.content)
    )
    insert into ${sql.table(table)}
    select r.* from next n
    cross join lateral jsonb_populate_record(null::${sql.table(table)}, n.content || jsonb_build_object('item_id', n.into_item)) r
    on conflict do nothing`.execute(tx)
  await sql`
    insert into ${sql.table(table)}
    select r.* from ${recorded} cross join lateral jsonb_populate_record(k, jsonb_build_object('item_id', m.from_item)) r
    on conflict do nothing`.execute(tx)
}
