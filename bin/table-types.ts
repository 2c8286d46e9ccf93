// Describes the tables of a migrated database as row types for Kysely.
import type { Client } from 'pg'

interface Column {
  table: string
  name: string
  type: string
  nullable: boolean
  identity: '' | 'a' | 'd'
  has_default: boolean
}

/** As the parsers of the connection pool return them. */
const TYPES: Record<string, string> = {
  bigint: 'number',
  boolean: 'boolean',
  bytea: 'Buffer',
  'bytea[]': 'Buffer[]',
  'character varying': 'string',
  date: 'string',
  'double precision': 'number',
  integer: 'number',
  'integer[]': 'number[]',
  jsonb: 'unknown',
  numeric: 'string',
  real: 'number',
  smallint: 'number',
  'smallint[]': 'number[]',
  text: 'string',
  'text[]': 'string[]',
  'timestamp with time zone': 'Date',
  uuid: 'string',
  xid8: 'string',
}

/** A check that a column has one of a few texts. */
const ONE_OF = /^CHECK \(\((\w+) = ANY \(ARRAY\[([^\]]+)\]\)\)\)$/

/** The source of a module with the types of all tables; columns whose values a check lists have the union of them. */
export async function tableTypes(client: Client): Promise<string> {
  const { rows: columns } = await client.query<Column>(`
    select t.relname as table, a.attname as name, format_type(a.atttypid, -1) as type, not a.attnotnull as nullable, a.attidentity as identity,
      a.atthasdef and a.attgenerated = '' as has_default
    from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
      and t.relname not like 'kysely\\_%'
    order by t.relname collate "C", a.attnum`)
  const { rows: checks } = await client.query<{ table: string; definition: string }>(`
    select t.relname as table, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_class t on t.oid = c.conrelid where c.contype = 'c'`)
  const values = new Map(
    checks.flatMap(({ table, definition }) => {
      const [, name, list] = ONE_OF.exec(definition) ?? []
      return list === undefined ? [] : [[`${table}.${name}`, list.replaceAll('::text', '').replaceAll(', ', ' | ')] as const]
    }),
  )
  const typeOf = ({ table, name, type, nullable, identity, has_default: hasDefault }: Column) => {
    const value = values.get(`${table}.${name}`) ?? TYPES[type]
    if (value === undefined) throw new Error(`${table}.${name}: no TypeScript type for ${type}`)
    if (identity === 'a') return `GeneratedAlways<${value}>`
    const read = nullable && value !== 'unknown' ? `${value} | null` : value
    return hasDefault || identity === 'd' ? `Generated<${read}>` : read
  }
  const tables = [...Map.groupBy(columns, ({ table }) => table)].map(
    ([table, own]) => `  ${table}: {\n${own.map((column) => `    ${column.name}: ${typeOf(column)}\n`).join('')}  }\n`,
  )
  return `// Row types of every table; test/db/table-types.test.ts writes this file from a migrated database with RECORD_TABLES=1.
import type { Generated, GeneratedAlways } from 'kysely'

/** Tables by name. A column whose type is \`unknown\` is JSON; \`schema.ts\` says what it contains. */
export interface Tables {
${tables.join('')}}
`
}
