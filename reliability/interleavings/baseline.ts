// The state before each schedule: what has changed since, and how everything is put back.
import type { Db } from '#db/schema.ts'
import { sqlOf } from './world.ts'

/** Rows as JSON texts, without what differs between equal runs. */
export interface TableChange {
  table: string
  added: string[]
  removed: string[]
}

/** New ids start here, so that they can be told from those of the baseline in any text. */
const NEW_IDS = 500_000
const NEW_ID = /\b50\d{4}\b/g
/** Times of the database's clock, which is years before that of the simulation. */
const REAL_TIME = /"20(?:2\d)-\d\d-\d\dT[^"]*"/g
const SECRET = /"(?:\\\\x[0-9a-f]*|mintmark_[^"]*|[A-Za-z0-9]{48})"/g

interface Table {
  name: string
  /** columns of the primary key; all columns if there is none */
  key: string[]
  columns: string[]
  rows: number
}

export class Baseline {
  readonly #db: Db
  readonly #tables: Table[]
  readonly #byName: Map<string, Table>
  readonly #sequences: string
  xid = 0n
  #detect = ''

  static async take(db: Db): Promise<Baseline> {
    const tables = (await sqlOf(
      db,
      `select c.relname as name,
         array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
         coalesce((select array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum = any(i.indkey))
                   from pg_index i where i.indrelid = c.oid and i.indisprimary), '{}') as key
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and c.relname not like 'kysely%' order by c.relname`,
    )) as unknown as Table[]
    await sqlOf(db, 'create schema baseline')
    for (const table of tables) {
      if (table.key.length === 0) table.key = table.columns
      await sqlOf(db, `create table baseline.${table.name} as table public.${table.name}`)
      table.rows = (await sqlOf(db, `select count(*)::int as rows from baseline.${table.name}`))[0]!.rows as number
    }
    const sequences = await sqlOf(db, `select quote_ident(sequencename) as name from pg_sequences where schemaname = 'public' order by 1`)
    return new Baseline(db, tables, `select ${sequences.map(({ name }) => `setval('${String(name)}', ${NEW_IDS}, false)`).join(', ')}`)
  }

  private constructor(db: Db, tables: Table[], sequences: string) {
    this.#db = db
    this.#tables = tables
    this.#byName = new Map(tables.map((table) => [table.name, table]))
    this.#sequences = sequences
  }

  get tables(): string[] {
    return this.#tables.map(({ name }) => name)
  }

  /** Names of the tables whose rows differ from the baseline's. */
  async changedTables(): Promise<string[]> {
    const rows = await sqlOf(this.#db, this.#detect)
    return rows.map(({ name }) => name as string)
  }

  /** Reads the changes of these tables. */
  async changes(names: readonly string[]): Promise<TableChange[]> {
    if (names.length === 0) return []
    const parts = names.map((name) => {
      const { key } = this.#byName.get(name)!
      const missing = `not exists (select from public.${name} t where ${equal('t', 'b', key)})`
      const isNew = this.#isNew('t')
      return `select '${name}' as name,
        (select coalesce(json_agg(to_jsonb(t)), '[]')::text from public.${name} t where ${isNew}) as added,
        (select coalesce(json_agg(to_jsonb(b)), '[]')::text from baseline.${name} b where ${missing}
           or exists (select from public.${name} t where ${equal('t', 'b', key)} and ${isNew})) as removed`
    })
    const rows = await sqlOf(this.#db, parts.join(' union all '))
    const changes = rows.map(({ name, added, removed }) => ({ table: name as string, added: normalised(added), removed: normalised(removed) }))
    return changes.flatMap((change) => withoutUnchanged(change))
  }

  /** Puts the rows of these tables and all sequences back. */
  async restore(names: readonly string[]): Promise<void> {
    const statements = names.flatMap((name) => {
      const { key, columns } = this.#byName.get(name)!
      const list = columns.map((column) => `"${column}"`).join(', ')
      return [
        `delete from public.${name} t where ${this.#isNew('t')}`,
        `insert into public.${name} (${list}) overriding system value select ${list} from baseline.${name} b where not exists (select from public.${name} t where ${equal('t', 'b', key)})`,
      ]
    })
    const all = [
      'begin',
      'set local session_replication_role = replica',
      ...statements,
      this.#sequences,
      'commit',
      'select pg_snapshot_xmax(pg_current_snapshot())::text as xid',
    ]
    const results = (await this.#db.pool.query(all.join(';'))) as unknown as { rows: { xid: string }[] }[]
    this.xid = BigInt(results.at(-1)!.rows[0]!.xid)
    this.#detect = this.#tables
      .map(
        ({ name, rows }) =>
          `select '${name}' as name where (select count(*) <> ${rows} or coalesce(bool_or(${this.#isNew('t')}), false) from public.${name} t)`,
      )
      .join(' union all ')
  }

  #isNew(alias: string): string {
    return `${alias}.xmin::text::bigint >= ${this.xid}`
  }
}

const equal = (one: string, other: string, key: readonly string[]) =>
  key.map((column) => `${one}."${column}" is not distinct from ${other}."${column}"`).join(' and ')

/** Columns that count transactions or are filled at random. */
const IRRELEVANT = new Set(['xact', 'seq', 'sealed_secret', 'request_hash', 'traceparent', 'key_hash', 'last4'])

function normalised(json: unknown): string[] {
  const rows = JSON.parse(json as string) as Record<string, unknown>[]
  // The order of ids in a set says nothing.
  for (const row of rows) if (Array.isArray(row.ids)) row.ids.sort((a: number, b: number) => a - b)
  return rows.map((row) => normalisedText(Object.fromEntries(Object.entries(row).filter(([name]) => !IRRELEVANT.has(name))))).sort()
}

/** A value as text, without new ids, real times and secrets. */
export function normalisedText(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(NEW_ID, '*').replace(REAL_TIME, '"now"').replace(SECRET, '"secret"')
}

/** A row that was written with the same values is not a change. */
function withoutUnchanged({ table, added, removed }: TableChange): TableChange[] {
  const left = [...removed]
  const really = added.filter((row) => {
    const at = left.indexOf(row)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  return really.length + left.length > 0 ? [{ table, added: really, removed: left }] : []
}
