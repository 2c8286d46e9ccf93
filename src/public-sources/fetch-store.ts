// The stored state of each source's last fetch, and the lock of the one that is running.
import { sql } from 'kysely'
import type pg from 'pg'
import { type Reason, reason, textOf } from '#core/problems.ts'
import type { Db } from '#db/schema.ts'
import { toStorable } from '#prices/imports/refusals.ts'
import type { FetchedFile } from './download-file.ts'
import type { FetchProgress } from './fetch-files.ts'

/** Class of the advisory lock that a running fetch holds. A fetch marked as downloading whose lock is free was interrupted. */
const LOCK = 7351
const LOCKED_WITHIN_SECONDS = 30

/** Locks a source for as long as the connection is open; null if another process has it. */
export async function lockSource(db: Db, source: string): Promise<pg.PoolClient | null> {
  const client = await db.connect()
  // A lost connection is noticed when the fetch ends.
  client.on('error', () => {})
  try {
    const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as got', [LOCK, source])
    if (rows[0]!.got) return client
  } catch (error) {
    client.release(true)
    throw error
  }
  client.release()
  return null
}

/** Whether an import of the source's files is queued or running. */
export async function isImporting({ kysely }: Db, source: string): Promise<boolean> {
  const found = await kysely
    .selectFrom('source_fetches as f')
    .innerJoin('imports as i', 'i.id', 'f.import_id')
    .select('i.id')
    .where('f.source', '=', source)
    .where('i.status', 'in', ['queued', 'running'])
    .executeTakeFirst()
  return found !== undefined
}

export async function recordStart({ kysely }: Db, source: string, now: Date): Promise<void> {
  const started = { status: 'downloading', started_at: now, finished_at: null, progress: null, rule: null, params: null, message: null } as const
  await kysely
    .insertInto('source_fetches')
    .values({ source, ...started })
    .onConflict((conflict) => conflict.column('source').doUpdateSet(started))
    .execute()
}

export async function recordProgress({ kysely }: Db, source: string, progress: FetchProgress): Promise<void> {
  await kysely
    .updateTable('source_fetches')
    .set({ progress: JSON.stringify(progress) })
    .where('source', '=', source)
    .where('status', '=', 'downloading')
    .execute()
}

/** The files of the last fetch if their import is done and was not reverted. */
export async function importedDigests({ kysely }: Db, source: string): Promise<string | null> {
  const row = await kysely
    .selectFrom('source_fetches as f')
    .innerJoin('imports as i', 'i.id', 'f.import_id')
    .select('f.files')
    .where('f.source', '=', source)
    .where('i.status', '=', 'done')
    .where('i.reverted_by_import_id', 'is', null)
    .executeTakeFirst()
  return row ? digestsOf(row.files as FetchedFile[]) : null
}

export function digestsOf(files: readonly FetchedFile[]): string {
  return files
    .map(({ name, sha256 }) => `${name} ${sha256}`)
    .sort()
    .join('\n')
}

/** Files are stored before their import, so that it can be repeated if it fails. */
export async function recordFiles({ kysely }: Db, source: string, files: FetchedFile[], now: Date): Promise<void> {
  await kysely
    .updateTable('source_fetches')
    .set({ files: JSON.stringify(files), fetched_at: now, import_id: null })
    .where('source', '=', source)
    .execute()
}

export async function recordImport({ kysely }: Db, source: string, importId: number): Promise<void> {
  await kysely.updateTable('source_fetches').set({ import_id: importId }).where('source', '=', source).execute()
}

/** @param why it failed; null if it is done */
export async function recordEnd({ kysely }: Db, source: string, why: Reason | null, now: Date): Promise<void> {
  const end = why === null ? { status: 'done' as const, checked_at: now } : { status: 'failed' as const, ...failureOf(why) }
  await kysely
    .updateTable('source_fetches')
    .set({ ...end, finished_at: now, progress: null })
    .where('source', '=', source)
    .where('status', '=', 'downloading')
    .execute()
}

/** Marks fetches as failed whose process has ended. */
export async function failBrokenFetches(db: Db, now: Date): Promise<void> {
  const { rows } = await sql<{ source: string }>`
    with under_way as materialized (
      select source from source_fetches
      where status = 'downloading' and started_at < ${now}::timestamptz - make_interval(secs => ${sql.lit(LOCKED_WITHIN_SECONDS)})
    )
    select source from under_way where pg_try_advisory_xact_lock(${sql.lit(LOCK)}, hashtext(source))`.execute(db.kysely)
  for (const { source } of rows) await recordEnd(db, source, reason('fetch_interrupted'), now)
}

function failureOf(why: Reason) {
  const { rule, params } = toStorable(why)
  return { message: textOf({ rule, params }), rule, params: JSON.stringify(params) }
}
