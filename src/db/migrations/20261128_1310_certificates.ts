// Certificates of graded cards: the operator's file, and those of listings, sales and collection records.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const KEY = "(certificate->>'cert'), (certificate->>'grader')"

const STATEMENTS = [
  // cert: in capitals, without separators and leading zeros. item_id: may have been merged into another item since.
  `create table certificates (
    cert text not null,
    grader text not null,
    grade text not null,
    item_id integer not null,
    label text,
    qualifier text,
    updated_at timestamptz(3) not null,
    primary key (cert, grader)
  )`,
  // An object of grader, grade, cert, qualifier and subgrades, as src/catalogue/certificates/certificate.ts describes it.
  'alter table listings add column certificate jsonb',
  'alter table sales add column certificate jsonb',
  'alter table collection_items add column certificate jsonb',
  // One copy is on sale once, over all sellers.
  `create unique index listings_by_active_certificate on listings (${KEY}) where status = 'active' and certificate is not null`,
  `create index listings_by_certificate on listings (${KEY}, id) where certificate is not null`,
  `create index sales_by_certificate on sales (${KEY}, id) where certificate is not null`,
  `create index collection_items_by_certificate on collection_items (${KEY}) where certificate is not null`,
]
