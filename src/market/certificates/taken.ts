// Whose certificate is already on sale: one copy is active in one listing at a time, over all sellers.
import { sql } from 'kysely'
import type { StoredCertificate, Tx } from '#db/schema.ts'
import type { ListingRow } from '../listing-store.ts'
import { PUBLISHED } from '../records/rules.ts'

/**
 * Of locked listings that may become active, those whose certificate an active listing has, or one of the others with a lower id.
 * A concurrent transaction that this does not see violates the index `listings_by_active_certificate`, and this one starts again.
 * @returns the id of that listing by the id of the locked one
 */
export function takenCertificates(tx: Tx, listings: readonly Pick<ListingRow, 'id' | 'status' | 'certificate'>[]): Promise<Map<number, number>> {
  return activeElsewhere(
    tx,
    listings.filter(({ status }) => status !== PUBLISHED),
  )
}

/** The same for listings in any status, with the certificates that they shall have. */
export async function activeElsewhere(tx: Tx, listings: readonly Pick<ListingRow, 'id' | 'certificate'>[]): Promise<Map<number, number>> {
  const certified = listings.filter(({ certificate }) => certificate !== null)
  if (certified.length === 0) return new Map()
  const { rows } = await sql<{ id: number; other: number | null }>`
    select l.id, coalesce(o.id, nullif(first_value(l.id) over (partition by l.cert, l.grader order by l.id), l.id)) as other
    from unnest(${certified.map(({ id }) => id)}::int4[], ${certified.map(({ certificate }) => certificate!.cert)}::text[],
      ${certified.map(({ certificate }) => certificate!.grader)}::text[]) as l(id, cert, grader)
    left join listings o on o.certificate->>'cert' = l.cert and o.certificate->>'grader' = l.grader
      and o.status = ${sql.lit(PUBLISHED)} and o.certificate is not null and o.id <> l.id`.execute(tx)
  return new Map(rows.flatMap(({ id, other }) => (other === null ? [] : [[id, other]])))
}

/** Whether two certificates are the same one. */
export function isSame(a: StoredCertificate | null, b: StoredCertificate | null): boolean {
  return a !== null && b !== null && a.cert === b.cert && a.grader === b.grader
}
