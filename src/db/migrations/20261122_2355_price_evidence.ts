// Evidence of each current price: when its feed last stated it, the feed's own figures, and the verdict.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Adding columns is safe for earlier releases, which name the columns that they read and write.
  // state and confidence are positions in STATES and CONFIDENCES, flags are bits by position in FLAGS (src/prices/evidence/).
  `alter table prices
    add column confirmed_at timestamptz(3),
    add column line integer,
    add column state smallint not null default 0,
    add column confidence smallint not null default 0,
    add column flags integer not null default 0,
    add column avg_1 numeric(12,2),
    add column avg_7 numeric(12,2),
    add column avg_30 numeric(12,2),
    add column low numeric(12,2),
    add column mid numeric(12,2),
    add column high numeric(12,2),
    add column samples integer`,
  // The usual price in market_b for a price of 1 in market_a, both in the service's currency, by set and finish; category 0 and finish ''
  // represent the whole game.
  `create table usual_ratios (
    game text not null,
    category_id integer not null,
    finish text not null,
    market_a smallint not null,
    market_b smallint not null,
    ratio real not null,
    spread real not null,
    cards integer not null,
    primary key (game, category_id, finish, market_a, market_b)
  )`,
  // Sources that an operator has set aside.
  `create table sources_set_aside (
    market smallint primary key,
    author text not null,
    reason text not null,
    at timestamptz(3) not null
  )`,
  // Verdicts and figures are sent to nodes as a separate kind, which earlier releases ignore.
  'alter table change_log drop constraint change_log_kind_check',
  `alter table change_log add constraint change_log_kind_check check (kind in
    ('items', 'categories', 'groups', 'prices', 'evidence', 'rates', 'accounts', 'operators', 'listings', 'sales'))`,
]
