// Watches of a goal of completion, beside those of an item: a set, a rule and a language of a collection.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // complete: whether the goal was complete when it was last compared; null for not yet. It is compared again from due_day on.
  `alter table watches alter item_id drop not null, alter amount drop not null, alter currency drop not null,
    add collection_id integer references collections on delete cascade,
    add category_id integer references categories on delete cascade,
    add goal text check (goal in ('base', 'official', 'complete', 'master')),
    add complete boolean,
    drop constraint watches_kind_check,
    drop constraint watches_check,
    drop constraint watches_account_id_item_id_kind_label_id_language_key,
    add constraint watches_kind_check check (kind in ('offer_below', 'price_below', 'price_above', 'goal_reopened')),
    add constraint watches_of_item_check check (kind = 'goal_reopened' or (
      item_id is not null and amount is not null and currency is not null and num_nonnulls(collection_id, category_id, goal, complete) = 0
      and (kind = 'offer_below' or (label_id is not null and language is null)))),
    add constraint watches_of_goal_check check (kind <> 'goal_reopened' or (
      num_nonnulls(collection_id, category_id, goal, language) = 4 and num_nonnulls(item_id, label_id, amount, currency, told_price) = 0 and not removed))`,
  'create unique index watches_of_items on watches (account_id, item_id, kind, label_id, language) nulls not distinct where item_id is not null',
  'create unique index watches_of_goals on watches (collection_id, category_id, goal, language) where collection_id is not null',
  'create index watches_of_sets on watches (category_id) where category_id is not null',
  // Counts and lists of an account: the constraint that served them is gone, and this index has the watches of both kinds.
  'create index watches_of_account on watches (account_id, id)',
]
