// The number of copies of a record: changed by lots and disposals, and bounded by them.
import { sql } from 'kysely'
import { checkCopies } from '#catalogue/certificates/certificate.ts'
import { invalid, ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Tx } from '#db/schema.ts'
import { MAX_QUANTITY } from '#intake/cells.ts'
import { type RecordRow, tagOf } from './store.ts'

/** 409 for taking more copies than the record has. */
export function notEnoughOwned(owned: number, count: number): ServiceError {
  return new ServiceError('NOT_ENOUGH_OWNED', reason('not_enough_owned', { owned, count }))
}

/**
 * Adds copies to a locked record, or takes them from it if `by` is negative, and raises its revision.
 * @returns its new entity tag
 * @throws NOT_ENOUGH_OWNED, VALIDATION_ERROR for too many copies
 */
export async function changeCopies(tx: Tx, record: Pick<RecordRow, 'id' | 'quantity' | 'certificate'>, by: number, now: Date): Promise<string> {
  if (by > 0) checkCopies(record.quantity + by, record.certificate)
  const { rows } = await sql<{ revision: number }>`
    update collection_items
    set quantity = quantity + ${by}::int4, for_trade = least(for_trade, quantity + ${by}::int4), revision = revision + 1, updated_at = ${now}
    where id = ${record.id} and quantity + ${by}::int4 between 0 and greatest(quantity, ${MAX_QUANTITY}::int4)
    returning revision`.execute(tx)
  if (rows[0]) return tagOf({ id: record.id, revision: rows[0].revision })
  if (by < 0) throw notEnoughOwned(record.quantity, -by)
  throw invalid('quantity', 'copies_full', { max: MAX_QUANTITY, owned: record.quantity })
}

/** Rejects a quantity of a locked record with which its first lot would have fewer than no copies. @throws VALIDATION_ERROR */
export async function requireCopiesOfLots(tx: Tx, recordId: number, quantity: number): Promise<void> {
  const { rows } = await sql<{ lots: number; disposed: number }>`
    select (select coalesce(sum(quantity), 0)::int4 from collection_lots where record_id = ${recordId}) as lots,
           (select coalesce(sum(quantity), 0)::int4 from collection_disposals where record_id = ${recordId} and returned_at is null) as disposed`.execute(
    tx,
  )
  const { lots, disposed } = rows[0]!
  if (quantity < lots - disposed) throw invalid('quantity', 'below_lots', { min: lots - disposed, lots, count: disposed })
}
