// Any number of generated listings and sales for the existing items, created by the database itself.
import { sql } from 'kysely'
import type { Db, Queryable } from '#db/schema.ts'

const SELLERS = 500
const SALES = 200_000
/** Every n-th listing belongs to the account that changes prices. */
const OWN = 5
/** Listings whose id leaves this remainder when divided by `of` are no longer published. */
const SOLD = { of: 20, remainder: 7 }

/** Ids of the owner's published listings, among ids from 1 on. */
export function ownPublished(listings: number): number[] {
  const ids = Array.from({ length: Math.floor(listings / OWN) }, (_, i) => OWN * (i + 1))
  return ids.filter((id) => id % SOLD.of !== SOLD.remainder)
}

/** Listing ids start at 1; about one in twenty is no longer published. */
export async function generateListings(db: Db, ownerId: number, listings: number): Promise<void> {
  await overItems(db, async (connection, items) => {
    const seller = await openSellers(connection)
    await sql`
      insert into listings (id, seller_id, item_id, grade_id, label_id, title, price, quantity, language, status, approved_price,
        approved, approved_at, published_at, expires_at, created_at, updated_at)
      select n, case when n % ${OWN}::int = 0 then ${ownerId}::int else ${seller}::int + n % ${SELLERS}::int end, i.id, g.id, g.id,
        i.name || ' ' || coalesce(i.code, '') || ' ' || g.name || ' ' || upper(l.language),
        (n * 7907::bigint % 900000 + 100) / 100.0, case when sold then 0 else 1 + n % 3 end, l.language,
        case when sold then 'sold' else 'active' end, 1, '{}', t.at, t.at, t.at + interval '60 days', t.at, t.at
      from generate_series(1, ${listings}::int) n
      cross join lateral (select (array['en','en','en','ja','ja','tr','de','fr'])[1 + n % 8] as language) l
      cross join lateral (select now() - make_interval(secs => n * 31::bigint % 2500000) as at) t
      cross join lateral (select n % ${SOLD.of}::int = ${SOLD.remainder}::int as sold) s
      join places p on p.place = n * 7919::bigint % ${items}::int
      join items i on i.id = p.id
      join groups g on g.id = (array[4,4,4,5,6,8,9,11])[1 + (n / 8) % 8]`.execute(connection)
    await sql`select setval('listings_id_seq', ${listings}::int)`.execute(connection)
  })
}

/** Sales of the last 90 days, of deleted listings. */
export async function generateSales(db: Db, sellerId: number): Promise<void> {
  await overItems(db, async (connection, items) => {
    await sql`
      insert into orders (order_id, request_hash, result, sold_at, created_at)
      select n, '\\x00', '{}', now(), now() from generate_series(1, ${SALES}::int) n`.execute(connection)
    await sql`
      insert into sales (order_id, line, seller_id, item_id, label_id, quantity, unit_price, payout, sold_at)
      select n, 1, ${sellerId}::int, p.id, 4, 1, (n * 131 % 90000 + 100) / 100.0, 1,
        now() - make_interval(secs => n * 37::bigint % 7776000)
      from generate_series(1, ${SALES}::int) n join places p on p.place = n * 31::bigint % ${items}::int`.execute(connection)
  })
}

async function openSellers(connection: Queryable): Promise<number> {
  const { rows } = await sql<{ first: number }>`
    with opened as (insert into accounts (name, plan) select 'Seller ' || n, 'plus' from generate_series(1, ${SELLERS}::int) n returning id)
    select min(id)::int as first from opened`.execute(connection)
  return rows[0]!.first
}

/** Calls `generate` with the number of items; the table `places` has their ids by position from 0 on. */
async function overItems(db: Db, generate: (connection: Queryable, items: number) => Promise<void>): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    // All references are valid; checking each foreign key would take longer than everything else.
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`create temp table places on commit drop as select (row_number() over (order by id) - 1)::int as place, id from items`.execute(tx)
    await sql`create unique index on places (place)`.execute(tx)
    await sql`analyze places`.execute(tx)
    const { rows } = await sql<{ items: number }>`select count(*)::int as items from places`.execute(tx)
    await generate(tx, rows[0]!.items)
  })
  await sql`vacuum analyze`.execute(db.kysely)
}
