// What the queries of paged lists share: a range of rows with their total, and a search in a column.
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Range, Rows } from '#core/paging.ts'
import type { Queryable } from './schema.ts'

/**
 * The rows of the range, and the number of all rows of the query.
 * @param row converts a row to its response
 */
export function pageOf<DB, Tables extends keyof DB, Read, Row>(
  query: SelectQueryBuilder<DB, Tables, Read>,
  range: Range,
  row: (read: Read) => Row,
): Promise<Rows<Row>> {
  const read = inRange(query, range).execute()
  return withTotal(
    read.then((rows) => rows.map(row)),
    countOf(query),
  )
}

/** The query for the rows of the range. */
export function inRange<DB, Tables extends keyof DB, Read>(
  query: SelectQueryBuilder<DB, Tables, Read>,
  { limit, offset }: Range,
): SelectQueryBuilder<DB, Tables, Read> {
  return query.limit(limit).offset(offset)
}

/** The number of rows of a query. */
export async function countOf<DB, Tables extends keyof DB, Read>(query: SelectQueryBuilder<DB, Tables, Read>): Promise<number> {
  const counted = query.clearSelect().clearOrderBy().select(sql<number>`count(*)::int4`.as('total')).$castTo<{ total: number }>()
  return (await counted.executeTakeFirstOrThrow()).total
}

/** The number of rows of SQL that starts with `from`. */
export async function countIn(on: Queryable, from: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*)::int4 as total ${from}`.execute(on)
  return rows[0]!.total
}

/** Rows and their total, read at the same time. */
export async function withTotal<Row>(reading: Promise<Row[]>, counting: Promise<number>): Promise<Rows<Row>> {
  const [rows, total] = await Promise.all([reading, counting])
  return { rows, total }
}

/** `where` with the conditions that are set. */
export function where(...conditions: (RawBuilder<unknown> | false)[]): RawBuilder<unknown> {
  return sql`where ${sql.join([sql`true`, ...conditions.filter((one) => one !== false)], sql` and `)}`
}

/** Whether a column contains a text, case-insensitive. */
export function contains(column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`strpos(lower(${sql.ref(column)}), lower(${text})) > 0`
}
