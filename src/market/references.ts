// What a listing refers to, checked: its seller, its item and its grade, and the label whose prices it is compared with.
import { invalid } from '#core/errors.ts'
import { liveItemId } from '#db/live-item.ts'
import type { Tx } from '#db/schema.ts'

const LARGEST_ID = 2 ** 31 - 1

/** @throws VALIDATION_ERROR */
export async function checkSeller(tx: Tx, id: number): Promise<void> {
  const seller = await tx.selectFrom('accounts').select('id').where('id', '=', possible(id)).executeTakeFirst()
  if (!seller) throw invalid('seller_id', 'unknown_id', { thing: 'account', id })
}

/** The id of the item that an id means. @throws VALIDATION_ERROR */
export async function itemOf(tx: Tx, id: number): Promise<number> {
  const liveId = await liveItemId(tx, id)
  if (liveId === null) throw invalid('item_id', 'unknown_id', { thing: 'item', id })
  return liveId
}

/**
 * The label of a grade: its own, or Near Mint's for cards that are ungraded and of no stated condition (decisions.md,
 * "Listings", `pc_multiplier`).
 * @throws VALIDATION_ERROR when the id is not that of a type
 */
export async function labelOfGrade(tx: Tx, gradeId: number | null): Promise<number> {
  const types = tx.selectFrom('groups as t').innerJoin('groups as g', 'g.id', 't.parent_id').select(['t.id', 't.slug', 'g.slug as group'])
  if (gradeId !== null) {
    const grade = await types.where('t.id', '=', possible(gradeId)).executeTakeFirst()
    if (!grade) throw invalid('grade_id', 'type_id')
    if (grade.group !== 'ungraded' || grade.slug !== 'ungraded') return grade.id
  }
  const nearMint = await types.where('g.slug', '=', 'ungraded').where('t.slug', '=', 'near-mint').executeTakeFirstOrThrow()
  return nearMint.id
}

/** The id for SQL; one that no row can have becomes one that no row has. */
function possible(id: number): number {
  return id >= 1 && id <= LARGEST_ID ? id : 0
}
