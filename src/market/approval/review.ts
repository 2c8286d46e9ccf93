// Data for a decision about a listing: reference prices, the seller's history, and changes since approval.
import { sql } from 'kysely'
import { PHOTO_KEY } from '#catalogue/records/image-addresses.ts'
import { DAY_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { Rates } from '#prices/rates/rates.ts'
import { CertificateReviewSchema, reviewCertificates } from '../certificates/history.ts'
import { referencePrices } from '../references.ts'
import type { ListingRow } from '../listing-store.ts'
import { changedSinceApproval } from '../listing-content.ts'
import type { MarketSettings } from '../marketplace-types.ts'

const ReferencePriceSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    state: Type.Enum([...STATES]),
    price: Type.Number({ description: 'In `currency`' }),
    currency: Type.String({ description: 'ISO 4217 code' }),
    confirmed_at: Type.String({ format: 'date-time', description: 'When it was last set or confirmed, UTC' }),
    rate: orNull(
      Type.Object(
        { rate: Type.Number({ description: 'Turkish lira for one unit' }), day: Type.String({ format: 'date' }) },
        { title: 'ReferenceRate' },
      ),
      { description: 'Latest known rate; null for lira and if none is known' },
    ),
    price_try: orNull(Type.Number(), { description: 'In TL at that rate' }),
    ratio: orNull(Type.Number(), { description: 'Price of the listing ÷ `price_try`, two decimals; null if the price is not trusted' }),
  },
  { title: 'ReferencePrice' },
)

const SellerRecordSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    sales: Type.Integer({ description: 'Order lines sold, excluding cancelled ones' }),
    approved: Type.Integer({ description: "Approvals of the seller's listings" }),
    rejected: Type.Integer({ description: "Rejections of the seller's listings, excluding requested changes" }),
    account_age_days: Type.Integer(),
  },
  { title: 'SellerRecord' },
)
type SellerRecord = Static<typeof SellerRecordSchema>

export const ListingReviewSchema = Type.Object(
  {
    item: Type.Object(
      {
        id: Type.Integer(),
        name: Type.String(),
        code: orNull(Type.String()),
        category: Type.String(),
        finish: orNull(Type.String()),
        images: Type.Array(Type.Object({ url: Type.String(), order: Type.Integer() })),
      },
      { title: 'ReviewedItem' },
    ),
    label: Type.String({ description: 'Item whose prices it is compared with', examples: ['Near Mint'] }),
    references: Type.Array(ReferencePriceSchema, { description: 'Prices of the item with that label, in the order of `MARKET_ORDER`' }),
    price_ratio: orNull(Type.Number(), { description: '`ratio` of the first trusted reference; null if there is none' }),
    seller: SellerRecordSchema,
    photo_of_other_seller: Type.Boolean({
      description: 'Whether one of its photos is the upload of another account, or a copy of what the service serves for it',
    }),
    linked_pictures: Type.Array(
      Type.Object(
        {
          url: Type.String({ description: 'Its address in `images`' }),
          copied_from: orNull(Type.String(), { description: 'The address that the seller linked; null if it could not be copied' }),
          problem: orNull(Type.Enum(['missing', 'failed', 'slow', 'unusable', 'full']), {
            description:
              'Why it could not be copied: the source has none, fails or is slow, the image is damaged or of another format, or the account has too many photos',
          }),
        },
        { title: 'LinkedPicture' },
      ),
      { description: 'Pictures that the seller linked from elsewhere and that were copied, or could not be; others are still waiting' },
    ),
    certificate: orNull(CertificateReviewSchema, { description: 'What is known of its certificate; null for a listing without one' }),
  },
  { title: 'ListingReview' },
)
export type ListingReview = Static<typeof ListingReviewSchema>

/** Facts about a listing when it becomes pending, recorded with its decision. */
export interface ListingFacts {
  /** fields that differ from the approved version; null if it was never approved */
  changed_fields: string[] | null
  price_ratio: number | null
  seller_sales: number
  seller_approved: number
  seller_rejected: number
  seller_age_days: number
}

interface Reviewing {
  now: Date
  market: Pick<MarketSettings, 'sourceCurrencies' | 'marketOrder'>
}

/** By listing id. */
export async function reviewListings(on: Queryable, listings: readonly ListingRow[], reviewing: Reviewing): Promise<Map<number, ListingReview>> {
  if (listings.length === 0) return new Map()
  const [items, references, photos, linked, certificates, sellers] = await Promise.all([
    itemsOf(on, listings),
    referencesOf(on, listings, reviewing),
    photosOfOthers(on, listings),
    linkedPictures(on, listings),
    reviewCertificates(on, listings),
    sellerRecords(
      on,
      listings.map((row) => row.seller_id),
      reviewing.now,
    ),
  ])
  return new Map(
    listings.map((row) => {
      const of = references.get(row.id) ?? []
      const seller = sellers.get(row.seller_id)!
      const pictures = { photo_of_other_seller: photos.has(row.id), linked_pictures: linked.get(row.id) ?? [] }
      return [
        row.id,
        { ...items.get(row.id)!, references: of, price_ratio: ratioOf(of), seller, ...pictures, certificate: certificates.get(row.id) ?? null },
      ]
    }),
  )
}

/** By listing id, as the transaction sees them. */
export async function factsOf(on: Queryable, listings: readonly ListingRow[], reviewing: Reviewing): Promise<Map<number, ListingFacts>> {
  if (listings.length === 0) return new Map()
  const references = await referencesOf(on, listings, reviewing)
  const sellers = await sellerRecords(
    on,
    listings.map((row) => row.seller_id),
    reviewing.now,
  )
  return new Map(
    listings.map((row) => {
      const { sales, approved, rejected, account_age_days: age } = sellers.get(row.seller_id)!
      const facts: ListingFacts = {
        changed_fields: changedSinceApproval(row)?.map(({ field }) => field) ?? null,
        price_ratio: ratioOf(references.get(row.id) ?? []),
        seller_sales: sales,
        seller_approved: approved,
        seller_rejected: rejected,
        seller_age_days: age,
      }
      return [row.id, facts]
    }),
  )
}

/** Only this market decides, so that a rule's bound means the same for every listing. */
function ratioOf(references: readonly { ratio: number | null }[]): number | null {
  return references.find(({ ratio }) => ratio !== null)?.ratio ?? null
}

async function referencesOf(on: Queryable, listings: readonly ListingRow[], { now, market }: Reviewing) {
  const nowMs = now.getTime()
  const rates = await Rates.loadAt(on, nowMs)
  return referencePrices(on, listings, { nowMs, rates, currencies: market.sourceCurrencies, order: market.marketOrder })
}

async function itemsOf(on: Queryable, listings: readonly ListingRow[]): Promise<Map<number, Pick<ListingReview, 'item' | 'label'>>> {
  const rows = await on
    .selectFrom('listings as l')
    .innerJoin('items as i', 'i.id', 'l.item_id')
    .innerJoin('categories as c', 'c.id', 'i.category_id')
    .innerJoin('groups as g', 'g.id', 'l.label_id')
    .select(['l.id as listing_id', 'i.id', 'i.name', 'i.code', 'i.images', 'i.attributes', 'c.name as category', 'g.name as label'])
    .where('l.id', 'in', [...new Set(listings.map(({ id }) => id))])
    .execute()
  return new Map(
    rows.map(({ listing_id, label, attributes, images, ...item }) => [
      listing_id,
      {
        item: {
          ...item,
          finish: attributes.find(({ name }) => name === 'Finish')?.value ?? null,
          images: images.map(({ url, order }) => ({ url, order })),
        },
        label,
      },
    ]),
  )
}

/** Ids of the listings with a photo whose upload is that of another account, or a file served for it. */
async function photosOfOthers(on: Queryable, listings: readonly ListingRow[]): Promise<Set<number>> {
  const used = listings.flatMap(({ id, seller_id: seller, images }) =>
    images.flatMap(({ url }) => {
      const key = PHOTO.exec(url)?.[1]
      return key === undefined ? [] : [{ id, seller, key }]
    }),
  )
  if (used.length === 0) return new Set()
  const { rows } = await sql<{ id: number }>`
    select distinct u.id from jsonb_to_recordset(${JSON.stringify(used)}::jsonb) as u(id int4, seller int4, key text) join photos p using (key)
    where exists (
      select from photos o
      where (o.sha256 = p.sha256 or o.size_hashes @> array[p.sha256]) and o.account_id <> u.seller and o.remove_after is null
    )`.execute(on)
  return new Set(rows.map(({ id }) => id))
}

const PHOTO = new RegExp(PHOTO_KEY)

/** What copying the listings' pictures has led to, by listing id. */
async function linkedPictures(on: Queryable, listings: readonly ListingRow[]): Promise<Map<number, ListingReview['linked_pictures']>> {
  const pictures = listings.flatMap(({ id, seller_id: seller, images }) =>
    images.map(({ url, order }) => ({ id, seller, url, order, key: PHOTO.exec(url)?.[1] ?? null })),
  )
  if (pictures.length === 0) return new Map()
  const { rows } = await sql<{ id: number } & ListingReview['linked_pictures'][number]>`
    select u.id, u.url, copied.url as copied_from, failed.problem
    from jsonb_to_recordset(${JSON.stringify(pictures)}::jsonb) as u(id int4, seller int4, url text, "order" int4, key text)
    left join photos p on p.key = u.key and p.account_id = u.seller
    left join lateral (select c.url from picture_copies c where c.photo_id = p.id order by c.id limit 1) copied on true
    left join picture_copies failed on failed.account_id = u.seller
      and failed.url_hash = sha256(convert_to(u.url, 'UTF8')) and (failed.next_at is null or failed.problem = 'full')
    where copied.url is not null or failed.problem is not null
    order by u.id, u."order"`.execute(on)
  const byListing = Map.groupBy(rows, ({ id }) => id)
  return new Map([...byListing].map(([id, linked]) => [id, linked.map(({ id: _id, ...picture }) => picture)]))
}

async function sellerRecords(on: Queryable, ids: readonly number[], now: Date): Promise<Map<number, SellerRecord>> {
  const { rows } = await sql<Omit<SellerRecord, 'account_age_days'> & { created_at: Date }>`
    select a.id, a.name, a.created_at,
      (select count(*)::int4 from uncancelled_sales s where s.seller_id = a.id) as sales, d.approved, d.rejected
    from accounts a cross join lateral (
      select count(*) filter (where decision = 'approve')::int4 as approved, count(*) filter (where decision = 'reject')::int4 as rejected
      from listing_decisions where seller_id = a.id and decision is not null and undone_at is null
    ) d
    where a.id = any(${[...new Set(ids)]}::int4[])`.execute(on)
  return new Map(
    rows.map(({ created_at: since, ...record }) => [
      record.id,
      { ...record, account_age_days: Math.max(0, Math.floor((now.getTime() - since.getTime()) / DAY_MS)) },
    ]),
  )
}
