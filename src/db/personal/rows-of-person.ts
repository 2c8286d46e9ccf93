// SQL conditions for the rows of a person, from the table of personal data.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Link, type PersonKind, TABLES_OF_PEOPLE } from './tables-of-people.ts'

/** An account, or a buyer by the shop's reference. */
export type PersonRef = { kind: 'account'; id: number } | { kind: 'buyer'; reference: string }

/**
 * The condition for a person's rows of a table; null if the table has none of this kind of person.
 * @param owned only rows whose personal columns are the person's: an offer also names the account that made it
 */
export function rowsOf(table: string, person: PersonRef, owned = false): RawBuilder<SqlBool> | null {
  const all = TABLES_OF_PEOPLE[table]?.[person.kind]
  if (!all) return null
  const links = owned ? all.slice(0, 1) : all
  return sql<SqlBool>`(${sql.join(
    links.map((link) => follow(link, person)),
    sql` or `,
  )})`
}

function follow(link: Link, person: PersonRef): RawBuilder<SqlBool> {
  if (typeof link === 'string') return sql<SqlBool>`${sql.ref(link)} = ${person.kind === 'account' ? person.id : person.reference}`
  const [column, table, target] = link
  return sql<SqlBool>`${sql.ref(column)} in (select ${sql.ref(target)} from ${sql.table(table)} where ${rowsOf(table, person)})`
}

/** An SQL expression for the account's id or the buyer's reference of a row; null if the table has none of this kind of person. */
export function ownerOf(table: string, kind: PersonKind, row: string): string | null {
  const link = TABLES_OF_PEOPLE[table]?.[kind]?.[0]
  if (link === undefined) return null
  if (typeof link === 'string') return `${row}."${link}"`
  const [column, parent, target] = link
  return `(select ${ownerOf(parent, kind, `${row}_`)} from "${parent}" ${row}_ where ${row}_."${target}" = ${row}."${column}")`
}

/** The columns of a list such as `id name`. */
export function words(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(' ')
}
