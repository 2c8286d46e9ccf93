// Replaces the address of a picture in the listings of an account by that of a copy of it. The content stays the same for buyers and
// reviewers, so that the listing keeps its version and needs no new approval.
import { sql } from 'kysely'
import type { Note } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { contentHash } from '../listing-content.ts'
import { lockListings, type ListingRow } from '../listing-store.ts'
import { SOLD_OUT } from '../records/rules.ts'

/** Listings changed by one call; the rest follows with the next one. */
const AT_ONCE = 100

interface Replacement {
  sellerId: number
  /** the address in the listings */
  url: string
  copy: string
}

type Images = ListingRow['images']

/** Whether an unsold listing of the account has a picture with this address. */
export async function hasPicture(on: Queryable, sellerId: number, url: string): Promise<boolean> {
  return (await idsWithPicture(on, sellerId, url, 1)).length > 0
}

/** Replaces a picture in up to 100 unsold listings, including what was approved of them. @returns number of changed listings */
export async function replacePicture(tx: Tx, note: Note, { sellerId, url, copy }: Replacement): Promise<number> {
  const rows = await lockListings(tx, await idsWithPicture(tx, sellerId, url, AT_ONCE))
  const replaced = (images: Images) => images.map((image) => (image.url === url ? { ...image, url: copy } : image))
  const changed: number[] = []
  for (const row of rows.values()) {
    const { id, status, images: before, approved } = row
    // Changed before it was locked.
    if (status === SOLD_OUT || !before.some((image) => image.url === url)) continue
    const after = replaced(before)
    const approvedImages = (approved as { images?: Images } | null)?.images
    await tx
      .updateTable('listings')
      .set({
        images: JSON.stringify(after),
        ...(approvedImages && { approved: JSON.stringify({ ...approved, images: replaced(approvedImages) }) }),
      })
      .where('id', '=', id)
      .execute()
    // Offers remain valid.
    const [oldHash, newHash] = [contentHash(row), contentHash({ ...row, images: after })]
    await tx.updateTable('offers').set({ content_hash: newHash }).where('listing_id', '=', id).where('content_hash', '=', oldHash).execute()
    note.audit({ action: 'listing.copy_picture', subject: 'listing', id, actor: 'system', before: { images: before }, after: { images: after } })
    changed.push(id)
  }
  if (changed.length > 0) note.changed('listings', changed)
  return changed.length
}

async function idsWithPicture(on: Queryable, sellerId: number, url: string, limit: number): Promise<number[]> {
  const own = on.selectFrom('listings').select('id').where('seller_id', '=', sellerId).where('status', '<>', SOLD_OUT)
  const rows = await own
    .where(sql<boolean>`images @> ${JSON.stringify([{ url }])}::jsonb`)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
