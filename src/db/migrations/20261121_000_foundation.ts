// The first schema: accounts and keys, the catalogue, prices with their history, imports, the change log and the audit log.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table accounts (
    id integer generated always as identity primary key,
    name text not null,
    plan text not null check (plan in ('starter', 'professional', 'plus', 'enterprise')),
    highlight_credits integer not null default 0 check (highlight_credits >= 0),
    suspended boolean not null default false,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now()
  )`,
  `create table credit_entries (
    id bigint generated always as identity primary key,
    account_id integer not null references accounts,
    amount integer not null,
    balance integer not null,
    reason text not null,
    created_at timestamptz(3) not null default now()
  )`,
  'create index credit_entries_by_account on credit_entries (account_id, id desc)',
  `create table api_keys (
    id integer generated always as identity primary key,
    account_id integer not null references accounts,
    label text not null default '',
    hash bytea not null unique,
    last4 text not null,
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3),
    expires_at timestamptz(3),
    revoked_at timestamptz(3)
  )`,
  'create index api_keys_by_account on api_keys (account_id, id)',
  `create table operator_tokens (
    id integer generated always as identity primary key,
    label text not null,
    hash bytea not null unique,
    last4 text not null,
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3),
    revoked_at timestamptz(3)
  )`,

  // Groups and their grades form one tree with one id sequence.
  `create table groups (
    id integer generated always as identity primary key,
    parent_id integer references groups,
    name text not null,
    slug text not null,
    unique nulls not distinct (parent_id, slug),
    unique nulls not distinct (parent_id, name)
  )`,
  `insert into groups (parent_id, name, slug) values
    (null, 'Ungraded', 'ungraded'), (null, 'Graded', 'graded'),
    (1, 'Ungraded', 'ungraded'), (1, 'Near Mint', 'near-mint'), (1, 'Lightly Played', 'lightly-played'),
    (1, 'Moderately Played', 'moderately-played'), (1, 'Heavily Played', 'heavily-played'),
    (2, 'PSA 10', 'psa-10'), (2, 'PSA 9', 'psa-9'), (2, 'PSA 8', 'psa-8'),
    (2, 'CGC 10', 'cgc-10'), (2, 'CGC 9.5', 'cgc-9-5'), (2, 'CGC 9', 'cgc-9'),
    (2, 'BGS 10', 'bgs-10'), (2, 'BGS 9.5', 'bgs-9-5'), (2, 'BGS 9', 'bgs-9')`,

  `create table categories (
    id integer generated always as identity primary key,
    market text not null,
    ref text not null,
    name text not null,
    slug text not null unique,
    game text not null,
    parent_id integer references categories,
    image text,
    printed_total integer,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (market, ref)
  )`,
  'create index categories_by_parent on categories (parent_id)',
  `create table items (
    id integer generated always as identity primary key,
    market text not null,
    ref text not null,
    name text not null,
    code text,
    slug text not null unique,
    genre text not null check (genre in ('single', 'card', 'sealed', 'bundle')),
    game text not null,
    category_id integer not null references categories,
    images jsonb not null default '[]',
    attributes jsonb not null default '[]',
    group_ids integer[] not null default '{}',
    details jsonb not null default '{}',
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (market, ref)
  )`,
  'create index items_by_category on items (category_id)',
  `create table item_foreign_ids (
    source text not null,
    foreign_id text not null,
    item_id integer not null references items on delete cascade,
    finish text not null default '',
    primary key (source, foreign_id, item_id, finish)
  )`,
  'create index item_foreign_ids_by_item on item_foreign_ids (item_id)',

  // market is the position in core/markets.ts MARKETS: 0 service, 1..3 source_a..source_c.
  `create table prices (
    item_id integer not null,
    market smallint not null,
    label_id integer not null,
    price numeric(12,2) not null check (price > 0),
    updated_at timestamptz(3) not null,
    import_id integer not null,
    primary key (item_id, market, label_id)
  ) with (fillfactor = 80)`,
  `create table price_points (
    item_id integer not null,
    market smallint not null,
    label_id integer not null,
    updated_at timestamptz(3) not null,
    price numeric(12,2) not null,
    import_id integer not null,
    primary key (item_id, market, label_id, updated_at)
  ) partition by range (updated_at)`,
  `create table imports (
    id integer generated always as identity primary key,
    format text not null,
    market text,
    file_name text,
    author text not null,
    dry_run boolean not null default false,
    status text not null check (status in ('running', 'done', 'failed')),
    rows_read integer not null default 0,
    created integer not null default 0,
    updated integer not null default 0,
    accepted integer not null default 0,
    unchanged integer not null default 0,
    held integer not null default 0,
    rejected integer not null default 0,
    percent smallint not null default 0,
    errors jsonb not null default '[]',
    message text,
    reverts_import_id integer references imports,
    started_at timestamptz(3) not null default now(),
    finished_at timestamptz(3)
  )`,
  `create table held_prices (
    id bigint generated always as identity primary key,
    import_id integer not null references imports,
    item_id integer not null references items on delete cascade,
    market smallint not null,
    label_id integer not null references groups,
    price numeric(12,2) not null,
    updated_at timestamptz(3) not null,
    rule text not null,
    reason text not null,
    held_at timestamptz(3) not null default now(),
    decision text check (decision in ('accepted', 'discarded')),
    decided_by text,
    decided_at timestamptz(3)
  )`,
  'create unique index held_prices_open on held_prices (item_id, market, label_id, updated_at) where decision is null',
  'create index held_prices_by_import on held_prices (import_id)',

  // Changes for other nodes to apply. xact shows which rows are certainly visible; sequence numbers do not.
  `create table change_log (
    seq bigint generated always as identity primary key,
    xact xid8 not null default pg_current_xact_id(),
    kind text not null check (kind in ('items', 'categories', 'groups', 'prices', 'accounts', 'operators')),
    ids integer[],
    payload bytea,
    at timestamptz(3) not null default now()
  )`,
  'alter table change_log alter column payload set storage external',
  'create index change_log_by_xact on change_log (xact, seq)',
  `create table change_log_floor (xact xid8 not null)`,
  `insert into change_log_floor values ('0')`,

  `create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz(3) not null default now(),
    actor text not null,
    action text not null,
    subject_type text not null,
    subject_id text not null,
    before jsonb,
    after jsonb,
    request_id text
  )`,
  'create index audit_log_by_subject on audit_log (subject_type, subject_id, id desc)',
  `create table idempotency_keys (
    scope text not null,
    key text not null,
    request_hash bytea not null,
    result bytea not null,
    created_at timestamptz(3) not null default now(),
    primary key (scope, key)
  )`,
  'create index idempotency_keys_by_age on idempotency_keys (created_at)',
]
