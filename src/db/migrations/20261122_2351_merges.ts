// Merges of items, their aliases, and every row that a merge moved, so that it can be undone exactly.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // item: the row of the emptied item. moved: the number of rows of each kind moved to the survivor.
  `create table merges (
    id integer generated always as identity primary key,
    from_item integer not null,
    into_item integer not null,
    item jsonb not null,
    moved jsonb not null default '{}',
    author text not null,
    at timestamptz(3) not null,
    undone_by text,
    undone_at timestamptz(3),
    check ((undone_by is null) = (undone_at is null))
  )`,
  'create unique index merges_in_effect on merges (from_item) where undone_at is null',
  'create index merges_by_from_item on merges (from_item, id desc)',
  'create index merges_by_into_item on merges (into_item, id desc)',

  // item_id: the survivor, which may itself have been merged since; live_item follows the chain. Ref and slug stay reserved, so that the
  // merge can be undone.
  `create table item_aliases (
    old_id integer primary key,
    item_id integer not null,
    merge_id integer not null references merges,
    market text not null,
    ref text not null,
    slug text not null
  )`,
  'create index item_aliases_by_ref on item_aliases (ref)',
  'create index item_aliases_by_slug on item_aliases (slug)',
  `create function live_item(wanted integer) returns integer language sql stable strict as $$
    with recursive followed as (
      select wanted as id, 0 as step
      union all select a.item_id, f.step + 1 from followed f join item_aliases a on a.old_id = f.id
    )
    select id from followed order by step desc limit 1
  $$`,

  // No foreign keys to merges, which are never deleted: checking them would cost a fifth of a bulk merge's time. moved: the survivor did
  // not already have the id.
  `create table merged_foreign_ids (
    merge_id integer not null,
    source text not null,
    foreign_id text not null,
    finish text not null,
    moved boolean not null,
    primary key (merge_id, source, foreign_id, finish)
  )`,
  // Current prices before the merge: all of the emptied item, and those of the survivor that one of them replaced.
  `create table merged_prices (
    merge_id integer not null,
    item_id integer not null,
    market smallint not null,
    label_id integer not null,
    price numeric(12,2) not null,
    updated_at timestamptz(3) not null,
    import_id integer not null,
    primary key (merge_id, item_id, market, label_id)
  )`,
  'create index merged_prices_by_item on merged_prices (item_id)',
  // state: a point of the emptied item was seen in its history, or covered or withdrawn (as in hidden_points); `made` is a price that the
  // service computed for the survivor because of the merge. placed: it was moved to the survivor.
  `create table merged_points (
    merge_id integer not null,
    import_id integer not null,
    market smallint not null,
    label_id integer not null,
    updated_at timestamptz(3) not null,
    price numeric(12,2) not null,
    state text not null check (state in ('seen', 'covered', 'withdrawn', 'made')),
    placed boolean not null,
    primary key (merge_id, import_id, market, label_id, updated_at, state)
  )`,
  // decision: as after the merge. discarded: by the merge, because the survivor already had the same price pending.
  `create table merged_held_prices (
    merge_id integer not null,
    held_id bigint not null,
    decision text,
    discarded boolean not null,
    primary key (merge_id, held_id)
  )`,
  'create table merged_listings (merge_id integer not null, listing_id integer not null, primary key (merge_id, listing_id))',
  'create table merged_sales (merge_id integer not null, sale_id integer not null, primary key (merge_id, sale_id))',
  'create table merged_records (merge_id integer not null, record_id integer not null, primary key (merge_id, record_id))',
]
