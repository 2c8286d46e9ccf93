// Ties a start file to its database: the identity of the database, and a mark that is committed after the file's position.
import { sql } from 'kysely'
import { databaseTime } from '../connection/database-time.ts'
import type { FeedPlace } from './change-feed.ts'
import type { Db, Queryable } from '../schema.ts'

/** Files older than the change log are useless; one more day allows for clock differences. */
const KEEP_DAYS = 8

export interface FileOrigin extends FeedPlace {
  /** identifier of the cluster, and of the database in it */
  cluster: string
  database: string
  mark: string
}

/** Identity of this database. */
export async function databaseIdentity(db: Queryable): Promise<Pick<FileOrigin, 'cluster' | 'database'>> {
  const { rows } = await sql<{ cluster: string; database: string }>`
    select system_identifier::text as cluster, (select oid::text from pg_database where datname = current_database()) as database
    from pg_control_system()`.execute(db)
  return rows[0]!
}

/** Commits a mark, and forgets old ones. */
export async function setStartMark({ kysely }: Db, mark: string): Promise<void> {
  await sql`with old as (delete from start_marks where at < ${databaseTime} - make_interval(days => ${KEEP_DAYS}))
    insert into start_marks (mark, at) values (${mark}::uuid, ${databaseTime})`.execute(kysely)
}

/**
 * Why the changes after a file cannot be read from the change log; null if they can. A restored backup, or a standby that was promoted
 * without the last commits, lacks the marks of files that were written later.
 */
export async function startFileProblem({ kysely }: Db, { cluster, database, position, mark }: FileOrigin): Promise<string | null> {
  const here = await databaseIdentity(kysely)
  if (here.cluster !== cluster || here.database !== database) return 'it is of another database'
  const { rows } = await sql<{ marked: boolean; trimmed: boolean; behind: boolean }>`
    select exists (select 1 from start_marks where mark = ${mark}::uuid) as marked,
      coalesce((select xact from change_log_floor) > pg_snapshot_xmin(${position}::pg_snapshot), false) as trimmed,
      pg_snapshot_xmin(pg_current_snapshot()) < pg_snapshot_xmin(${position}::pg_snapshot) as behind`.execute(kysely)
  const { marked, trimmed, behind } = rows[0]!
  if (!marked || behind) return 'the database has another history since'
  return trimmed ? 'the change log no longer reaches back to it' : null
}
