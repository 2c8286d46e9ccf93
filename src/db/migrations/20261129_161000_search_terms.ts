// What people search for, by week. Terms of fewer than 20 people are never shown, and are removed after their week.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // people: 20 means 20 or more, and then there are no marks.
  await sql`
    create table search_terms (
      week date not null,
      term text not null,
      searches bigint not null,
      people smallint not null,
      marks integer[] not null,
      primary key (week, term)
    )`.execute(db)
  await sql`create index search_terms_shown on search_terms (week, searches desc) where people >= 20`.execute(db)
}
