// SQL of stored listing imports, with the listings that each created.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { conflict } from '#core/errors.ts'
import { idForSql, missing } from '#core/fields.ts'
import { readInParts } from '#core/yield-to-event-loop.ts'
import type { Db, Tx } from '#db/schema.ts'
import type { ListingImport, UndoneImport } from './types.ts'

/** How long an import can be undone. */
export const KEEP_DAYS = 90
/** Listings per part of an undo: more would occupy memory and the event loop. */
const AT_ONCE = 1_000

export async function insertImport(tx: Tx, accountId: number, now: Date): Promise<number> {
  const row = await tx.insertInto('listing_imports').values({ account_id: accountId, created_at: now }).returning('id').executeTakeFirstOrThrow()
  return row.id
}

/** Writes what an import did. */
export async function saveImport(
  tx: Tx,
  id: number,
  report: Pick<ListingImport, 'created' | 'parked' | 'refused' | 'passed_over' | 'ignored_columns'>,
  listingIds: readonly number[],
): Promise<void> {
  await tx.updateTable('listing_imports').set(report).where('id', '=', id).execute()
  await sql`insert into listing_import_rows (import_id, listing_id) select ${id}, unnest(${listingIds}::int4[])`.execute(tx)
}

/**
 * Marks an import of the account as undone: of concurrent undos, one succeeds.
 * @throws NOT_FOUND, also for imports of other accounts; CONFLICT if it is already undone
 */
export async function claimUndo(tx: Tx, accountId: number, id: number, now: Date): Promise<void> {
  const own = tx.updateTable('listing_imports').set({ undone_at: now }).where('id', '=', idForSql(id)).where('account_id', '=', accountId)
  if (await own.where('undone_at', 'is', null).returning('id').executeTakeFirst()) return
  const found = tx.selectFrom('listing_imports').select('id').where('id', '=', idForSql(id)).where('account_id', '=', accountId)
  if (await found.executeTakeFirst()) throw conflict('listing_import_undone')
  throw missing('import', id)
}

export async function saveUndo(tx: Tx, id: number, counts: Pick<UndoneImport, 'removed' | 'kept' | 'dropped'>): Promise<void> {
  await tx.updateTable('listing_imports').set(counts).where('id', '=', id).execute()
}

/** Ids of the listings that an import created, in ascending parts; some may be deleted. */
export async function* listingsOfImport(tx: Tx, importId: number): AsyncGenerator<number[]> {
  const ofImport = tx.selectFrom('listing_import_rows').select('listing_id').where('import_id', '=', importId).orderBy('listing_id').limit(AT_ONCE)
  for (let last = 0; ; ) {
    const ids = (await ofImport.where('listing_id', '>', last).execute()).map((row) => row.listing_id)
    if (ids.length > 0) yield ids
    if (ids.length < AT_ONCE) return
    last = ids.at(-1)!
  }
}

/** Which of the listings have sales, cancelled ones included. */
export async function soldListings(tx: Tx, ids: readonly number[]): Promise<Set<number>> {
  const sales = tx.selectFrom('sales').select('listing_id').distinct()
  const rows = await readInParts([...ids], (part) => sales.where('listing_id', '=', sql<number>`any(${part}::int4[])`).execute())
  return new Set(rows.map((row) => row.listing_id!))
}

/** Deletes the rows that an import parked and no later import parked again. @returns their number */
export async function dropParkedOf(tx: Tx, accountId: number, importId: number): Promise<number> {
  const own = tx.deleteFrom('parked_listings').where('account_id', '=', accountId).where('import_id', '=', importId)
  return Number((await own.executeTakeFirstOrThrow()).numDeletedRows)
}

/** Deletes imports older than `KEEP_DAYS`; their listings stay. */
export async function forgetOldListingImports(db: Db, now: Date): Promise<void> {
  await db.kysely
    .deleteFrom('listing_imports')
    .where('created_at', '<', new Date(now.getTime() - KEEP_DAYS * DAY_MS))
    .execute()
}
