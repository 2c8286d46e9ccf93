// SQL of source records: the statements of imports, the linked items, and reverting an import's statements.
import { type RawBuilder, sql } from 'kysely'
import { copyIn } from '#db/copy.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { type Facts, factsText, updatedFacts, type StatedFacts } from '../records/facts.ts'
import { worldOf } from '../records/record-origin.ts'
import type { SourceKey } from '../records/catalogue-records.ts'

/** A record as stated by one import. */
export interface Statement {
  key: SourceKey
  facts: Facts
}

/** The import id of facts from before source records existed. */
export const BEFORE_RECORDS = 0

interface StoredRecord {
  n: number
  id: number
  active: boolean
  facts: Facts
  /** what this import stated about the record before; null if that equals `facts` */
  earlier: Facts | null
  again: boolean
}

/**
 * Stores what an import states, each record at most once. Values that it omits are kept from earlier imports.
 * @returns id of each record, and whether its facts changed
 */
export async function stateRecords(tx: Tx, importId: number, statements: readonly Statement[]): Promise<{ id: number; changed: boolean }[]> {
  if (statements.length === 0) return []
  const stored = await storedRecords(tx, importId, statements)
  const states: { id: number; changed: boolean }[] = []
  const fresh: { n: number; statement: Statement }[] = []
  const changes: { id: number; facts: Facts }[] = []
  const said: { id: number; facts: Facts | null }[] = []
  for (const [n, statement] of statements.entries()) {
    const record = stored.get(n)
    if (!record) {
      fresh.push({ n, statement })
      continue
    }
    const mine = record.again ? updatedFacts(statement.facts, record.earlier ?? record.facts) : statement.facts
    const facts = record.active ? updatedFacts(statement.facts, record.facts) : statement.facts
    const text = factsText(facts)
    const changed = !record.active || text !== factsText(record.facts)
    states[n] = { id: record.id, changed }
    if (changed) changes.push({ id: record.id, facts })
    const same = text === factsText(mine)
    if (!record.again || changed || !same) said.push({ id: record.id, facts: same ? null : mine })
  }
  for (const [i, id] of (
    await insertRecords(
      tx,
      importId,
      fresh.map(({ statement }) => statement),
    )
  ).entries())
    states[fresh[i]!.n] = { id, changed: true }
  await changeFacts(tx, changes)
  if (said.length > 0)
    await sql`
    insert into source_statements (import_id, record_id, facts)
    select ${importId}::int4, (s->>'id')::int4, nullif(s->'facts', 'null'::jsonb)
    from jsonb_array_elements(${JSON.stringify(said)}::jsonb) s
    on conflict (import_id, record_id) do update set facts = excluded.facts, withdrawn = false`.execute(tx)
  return states
}

async function storedRecords(tx: Tx, importId: number, statements: readonly Statement[]): Promise<Map<number, StoredRecord>> {
  const keys = statements.map(({ key }) => key)
  const { rows } = await sql<StoredRecord>`
    select k.n::int4 - 1 as n, r.id, r.active, r.facts, s.facts as earlier, s.record_id is not null and not s.withdrawn as again
    from unnest(${keys.map((key) => key.source)}::text[], ${keys.map((key) => key.id)}::text[], ${keys.map((key) => key.finish)}::text[])
      with ordinality as k(source, foreign_id, finish, n)
    join source_records r using (source, foreign_id, finish)
    left join source_statements s on s.import_id = ${importId}::int4 and s.record_id = r.id`.execute(tx)
  return new Map(rows.map((row) => [row.n, row]))
}

/** Inserts new records, whose facts are exactly what this import states. COPY costs half as much as an insert. */
async function insertRecords(tx: Tx, importId: number, statements: readonly Statement[]): Promise<number[]> {
  if (statements.length === 0) return []
  const { rows } = await sql<{ id: number }>`
    with created as (
      select nextval((select pg_get_serial_sequence('source_records', 'id')::regclass))::int4 as id from generate_series(1, ${statements.length}::int4)
    ), stated as (insert into source_statements (import_id, record_id) select ${importId}::int4, id from created)
    select id from created`.execute(tx)
  const lines = statements.map(({ key, facts }, n) => {
    const values = [String(rows[n]!.id), key.source, key.id, key.finish, facts.game!, worldOf(key, facts), JSON.stringify(facts)]
    return `${values.map(copyText).join('\t')}\n`
  })
  await copyIn(tx, 'copy source_records (id, source, foreign_id, finish, game, world, facts) from stdin', [lines.join('')])
  return rows.map(({ id }) => id)
}

/** Characters that COPY would interpret. */
const COPY_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const COPY_SPECIAL = /[\\\t\n\r]/
const ALL_COPY_SPECIAL = /[\\\t\n\r]/g

function copyText(value: string): string {
  return COPY_SPECIAL.test(value) ? value.replace(ALL_COPY_SPECIAL, (special) => COPY_ESCAPES[special]!) : value
}

/** Statements that equal the record's facts get a copy of them before the record changes. */
async function changeFacts(tx: Tx, changes: readonly { id: number; facts: Facts }[]): Promise<void> {
  if (changes.length === 0) return
  await keepStatements(
    tx,
    changes.map(({ id }) => id),
  )
  await sql`
    update source_records r set facts = c.facts, active = true, game = coalesce(c.facts->>'game', r.game)
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c(id int4, facts jsonb)
    where r.id = c.id`.execute(tx)
}

async function keepStatements(tx: Tx, ids: readonly number[]): Promise<void> {
  await sql`
    update source_statements s set facts = r.facts from source_records r
    where r.id = s.record_id and s.facts is null and s.record_id = any(${ids}::int4[])`.execute(tx)
}

/**
 * Withdraws what an import stated from its records, or restores it; `except` are records that keep it. Statements of other imports are
 * unaffected. A record without statements becomes inactive.
 * @returns ids of the changed records
 */
export async function withdrawStatements(tx: Tx, importId: number, withdrawn: boolean, except: readonly number[] = []): Promise<number[]> {
  const { rows } = await sql<{ record_id: number }>`
    select record_id from source_statements
    where import_id = ${importId}::int4 and withdrawn = ${!withdrawn} and record_id <> all(${except}::int4[])`.execute(tx)
  const ids = rows.map((row) => row.record_id)
  await keepStatements(tx, ids)
  await sql`
    update source_statements set withdrawn = ${withdrawn}
    where import_id = ${importId}::int4 and record_id = any(${ids}::int4[])`.execute(tx)
  for (let from = 0; from < ids.length; from += PART) await recomputeFacts(tx, ids.slice(from, from + PART))
  return ids
}

const PART = 2_000

/** Recomputes the facts of records from their remaining statements, newest first. */
async function recomputeFacts(tx: Tx, ids: number[]): Promise<void> {
  const { rows } = await sql<{ record_id: number; statements: Facts[] }>`
    select record_id, jsonb_agg(facts order by import_id desc) as statements from source_statements
    where record_id = any(${ids}::int4[]) and not withdrawn
    group by record_id`.execute(tx)
  const stated = rows.map(({ record_id: id, statements }) => ({ id, facts: statements.reduce(updatedFacts) }))
  await sql`
    update source_records r set facts = c.facts, active = true, game = coalesce(c.facts->>'game', r.game)
    from jsonb_to_recordset(${JSON.stringify(stated)}::jsonb) as c(id int4, facts jsonb)
    where r.id = c.id`.execute(tx)
  const statedIds = new Set(stated.map(({ id }) => id))
  const unstated = ids.filter((id) => !statedIds.has(id))
  await sql`update source_records set active = false where id = any(${unstated}::int4[])`.execute(tx)
}

/** The link of a record to one of its items. */
export interface ItemRecordLink {
  recordId: number
  itemId: number
  /** the record applies to every finish of its card */
  whole: boolean
  method: string
  /** 0 to 100 */
  confidence: number
  decidedBy: string | null
}

/** Links records to items; an existing link gets the new method. */
export async function linkRecords(tx: Tx, links: readonly ItemRecordLink[], at: Date): Promise<void> {
  if (links.length === 0) return
  await sql`
    insert into item_sources (record_id, item_id, whole, method, confidence, decided_by, decided_at)
    select *, ${at}::timestamptz from unnest(${links.map((link) => link.recordId)}::int4[], ${links.map((link) => link.itemId)}::int4[],
      ${links.map((link) => link.whole)}::bool[], ${links.map((link) => link.method)}::text[], ${links.map((link) => link.confidence)}::int2[],
      ${links.map((link) => link.decidedBy)}::text[])
    on conflict (record_id, item_id) do update
    set whole = excluded.whole, method = excluded.method, confidence = excluded.confidence, decided_by = coalesce(excluded.decided_by, item_sources.decided_by), decided_at = excluded.decided_at`.execute(
    tx,
  )
}

/** Removes links of records to items. */
export async function unlinkRecords(tx: Tx, links: readonly { recordId: number; itemId: number }[]): Promise<void> {
  if (links.length === 0) return
  await sql`
    delete from item_sources s
    using unnest(${links.map((link) => link.recordId)}::int4[], ${links.map((link) => link.itemId)}::int4[]) as l(record_id, item_id)
    where s.record_id = l.record_id and s.item_id = l.item_id`.execute(tx)
}

/** Whether a merge has moved a record from one item to another, given the SQL of its id. */
export function isMerged(recordId: string): RawBuilder<boolean> {
  const isThis = sql.raw(`= ${recordId}`)
  return sql`(exists (select from merged_rows x where x.name = 'item_sources' and (x.content->>'record_id')::int4 ${isThis})
    or exists (select from merged_sources x where x.record_id ${isThis}))`
}

/** The facts stated by the active records of items, by item; the item's own records come before those of items merged into it. */
export async function statedFacts(on: Queryable, itemIds: readonly number[]): Promise<Map<number, StatedFacts[]>> {
  const { rows } = await sql<StatedFacts & { item_id: number }>`
    select s.item_id, s.whole, r.source, r.finish, r.facts, r.source = 'operator' and r.foreign_id <> s.item_id::text as merged
    from item_sources s join source_records r on r.id = s.record_id
    where s.item_id = any(${itemIds}::int4[]) and r.active
    order by s.item_id, ${isMerged('r.id')}, r.source = 'operator' and r.foreign_id = s.item_id::text desc,
      r.source collate "C", r.foreign_id collate "C", r.finish collate "C"`.execute(on)
  const byItem = new Map<number, StatedFacts[]>()
  for (const { item_id: itemId, ...record } of rows) {
    const others = byItem.get(itemId)
    if (others) others.push(record)
    else byItem.set(itemId, [record])
  }
  return byItem
}
