// Marks price reviews to be ranked again.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'

/** Marks all groups for the next ranking, after changes of rates or of prices that are not under review. */
export async function markReviewsForRanking(tx: Tx): Promise<void> {
  await sql`insert into price_review_changes select distinct item_id from price_reviews`.execute(tx)
}
