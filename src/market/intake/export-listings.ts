// Exports the caller's unsold listings as CSV, oldest first; importing the file restores them without loss,
// and sending it as a price job applies edited prices and stock.
import { sql } from 'kysely'
import { csvLine } from '#core/files/csv.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Db, StoredCertificate } from '#db/schema.ts'
import { type CertificateColumn, certificateCell, isCertificateColumn } from '#intake/certificate-cells.ts'
import { SOLD_OUT } from '../records/rules.ts'
import { LISTING_CSV_COLUMNS } from './csv-rows.ts'

type Column = (typeof LISTING_CSV_COLUMNS)[number]
type PlainColumn = Exclude<Column, 'images' | CertificateColumn>
type Row = Record<PlainColumn, string | number | null> & {
  listing_id: number
  images: { url: string; order: number }[]
  certificate: StoredCertificate | null
}

const BATCH = 2_000

export const exportListings = verb(
  { name: 'exportListings', needs: OPERATION_PLAN.exportListings, input: Type.Object({}) },
  ({ db, viewer }: ReadCtx): AsyncIterable<string> => lines(db, ownAccount(viewer)),
)

async function* lines(db: Db, sellerId: number): AsyncIterable<string> {
  yield csvLine(LISTING_CSV_COLUMNS)
  for (let last = 0; ; ) {
    const { rows } = await sql<Row>`
      select l.id as listing_id, l.status, l.sku, l.item_id, i.name, i.code as number, c.name as set,
             (select a ->> 'value' from jsonb_array_elements(i.attributes) a where a ->> 'name' = 'Finish' limit 1) as finish,
             g.name as grade, l.language, l.quantity, l.quantity as exported_quantity, l.price, l.title, l.description, l.images, l.shipping_payer,
             l.offers_enabled::text as offers_enabled, l.min_offer_price, l.certificate
      from listings l
      join items i on i.id = l.item_id join categories c on c.id = i.category_id left join groups g on g.id = l.grade_id
      where l.seller_id = ${sellerId} and l.status <> ${SOLD_OUT} and l.id > ${last} order by l.id limit ${BATCH}`.execute(db.kysely)
    if (rows.length > 0) yield rows.map((row) => csvLine(LISTING_CSV_COLUMNS.map((column) => cellOf(row, column)))).join('')
    if (rows.length < BATCH) return
    last = rows.at(-1)!.listing_id
  }
}

function cellOf(row: Row, column: Column): string | number | null {
  if (isCertificateColumn(column)) return certificateCell(column, row.certificate)
  if (column !== 'images') return row[column]
  // A URL may contain the character that separates two URLs.
  return row.images
    .toSorted((a, b) => a.order - b.order)
    .map(({ url }) => url.replaceAll('|', '%7C'))
    .join('|')
}
