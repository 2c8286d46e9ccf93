// Undoes an import of listings: removes those that are unsold and unchanged since, and its parked rows, in one transaction.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Reason, reason, textOf } from '#core/problems.ts'
import { ownAccount } from '#core/verb.ts'
import { change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { expireAllDue } from '../listings/expire-listings.ts'
import { type ListingRow, lockListings } from '../listing-store.ts'
import { deleteListingRows } from '../listings/delete-listing.ts'
import { auditedListing } from '../listing-content.ts'
import { decisionOn } from '../listings/transition.ts'
import { claimUndo, dropParkedOf, listingsOfImport, saveUndo, soldListings } from './import-store.ts'
import type { IntakeCtx, UndoneImport } from './types.ts'

export const undoListingImport = writeVerb(
  {
    name: 'undoListingImport',
    needs: OPERATION_PLAN.undoListingImport,
    input: Type.Object({ id: id('import') }),
  },
  (ctx: IntakeCtx, { id: importId }): Promise<UndoneImport> => {
    const accountId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      await claimUndo(tx, accountId, importId, ctx.now())
      const rows: UndoneImport['rows'] = []
      for await (const ids of listingsOfImport(tx, importId)) rows.push(...(await removeSome(ctx, tx, note, ids)))
      const removed = rows.filter(({ outcome }) => outcome === 'removed').length
      const counts = { removed, kept: rows.length - removed, dropped: await dropParkedOf(tx, accountId, importId) }
      await saveUndo(tx, importId, counts)
      note.audit({ action: 'listing.undo_import', subject: 'account', id: accountId, after: { import_id: importId, ...counts } })
      return { id: importId, ...counts, rows }
    })
  },
)

/** Removes those of the listings that may be removed; sales wait for their locks. */
async function removeSome(ctx: IntakeCtx, tx: Tx, note: Note, ids: readonly number[]): Promise<UndoneImport['rows']> {
  const now = ctx.now()
  const listings = await lockListings(tx, ids)
  await expireAllDue(tx, note, ctx, listings)
  const sold = await soldListings(tx, ids)
  const removed: number[] = []
  const rows = Array.from(listings.values(), (row): UndoneImport['rows'][number] => {
    const why = whyKept(row, sold.has(row.id), now)
    if (!why) {
      removed.push(row.id)
      note.audit({ action: 'listing.delete', subject: 'listing', id: row.id, before: auditedListing(row, now) })
    }
    const { rule, params } = why ?? {}
    return { listing_id: row.id, sku: row.sku, outcome: why ? 'kept' : 'removed', why: why && { message: textOf(why), rule, params } }
  })
  await deleteListingRows(tx, removed, now)
  note.changed('listings', removed)
  await note.flush()
  return rows
}

function whyKept(row: ListingRow, isSold: boolean, now: Date): Reason | null {
  if (isSold) return reason('sold_since_import')
  const marks = [row.priced_version, row.stocked_version, row.edited_version, row.highlighted_until]
  if (marks.some((mark) => mark !== null)) return reason('changed_since_import')
  const decision = decisionOn(row, 'delete', now)
  return 'refused' in decision ? decision.refused : null
}
