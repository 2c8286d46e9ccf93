// Prices in question by item and cause, with their ranking figures, so that a page is read instead of computed.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Held and disputed prices. markets, label_ids and import_ids have one element per price of the group, in the same order.
  `create table price_reviews (
    item_id integer not null,
    state text not null,
    cause text,
    times_off double precision,
    value double precision,
    markets smallint[] not null,
    label_ids integer[] not null,
    import_ids integer[] not null
  )`,
  'create index price_reviews_by_item on price_reviews (item_id)',
  'create index price_reviews_by_times_off on price_reviews (times_off desc nulls last, item_id, state, cause) include (value)',
  'create index price_reviews_by_value on price_reviews (value desc nulls last, item_id, state, cause) include (times_off)',
  // Items to rank again, possibly several times: writers only append, so they never wait for each other.
  'create table price_review_changes (item_id integer not null)',
  // Triggers, because prices are written in many places, also by nodes of the previous release.
  `create function note_price_review() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        insert into price_review_changes values (old.item_id);
      end if;
      if tg_op = 'INSERT' or (tg_op = 'UPDATE' and new.item_id <> old.item_id) then
        insert into price_review_changes values (new.item_id);
      end if;
      return null;
    end
  $$`,
  // 1: disputed (STATES in src/prices/evidence/evidence-types.ts).
  ...triggers('prices', (row) => `${row}.state = 1`),
  ...triggers('held_prices', (row) => `${row}.decision is null`),
  'insert into price_review_changes select item_id from prices where state = 1 union select item_id from held_prices where decision is null',
]

function triggers(table: string, isInQuestion: (row: string) => string): string[] {
  const [before, after] = [isInQuestion('old'), isInQuestion('new')]
  const when = { insert: after, update: `${before} or ${after}`, delete: before }
  return Object.entries(when).map(
    ([event, condition]) => `create trigger ${table}_${event}_in_question after ${event} on ${table}
      for each row when (${condition}) execute function note_price_review()`,
  )
}
