// Removes the values that earlier releases stored for absent limits of repricing rules, so that the defaults apply to these rules.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Those releases stored 1 and null whether or not they were sent, and read an absent field as the same.
  await sql`
    update repricing_rules
    set terms = jsonb_strip_nulls(terms) - case when terms->'min_comparables' = '1'::jsonb then 'min_comparables' else '' end
    where terms->'min_comparables' = '1'::jsonb or terms->'ceiling' = 'null'::jsonb or terms->'max_move_percent' = 'null'::jsonb`.execute(db)
}
