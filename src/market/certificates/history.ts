// What else is known about the copy that a certificate belongs to: the listing that offers it now, and who offered and sold it before.
import { sql } from 'kysely'
import { certificateWarnings, type Certificate } from '#catalogue/certificates/certificate.ts'
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { withMessage } from '#core/problems.ts'
import type { Queryable } from '#db/schema.ts'
import type { ListingRow } from '../listing-store.ts'
import { PUBLISHED, STATUSES } from '../records/rules.ts'

/** Events of each kind in a history; the newest are shown. */
const MAX_EVENTS = 20

const Time = (description: string) => Type.String({ format: 'date-time', description })
const Seller = Type.Object({ id: Type.Integer(), name: Type.String() }, { title: 'CertificateSeller' })

export const CertificateEventSchema = Type.Object(
  {
    kind: Type.Enum(['listing', 'sale']),
    listing_id: orNull(Type.Integer(), { description: 'null if the listing was deleted' }),
    seller: Seller,
    price: Type.Number({ description: 'In TL' }),
    at: Time('When it was listed or sold, UTC'),
    status: orNull(Type.Enum([...STATUSES]), { description: 'Status of the listing; null for a sale' }),
    cancelled_at: orNull(Time('UTC'), { description: 'When the sale was cancelled; null if it was not, and for a listing' }),
  },
  { title: 'CertificateEvent' },
)
export type CertificateEvent = Static<typeof CertificateEventSchema>

/** What the operator's file says about a certificate. */
export const CertificateFactsSchema = Type.Object(
  {
    item_id: Type.Integer({ description: 'Current id of the item' }),
    grade: Type.String(),
    label: orNull(Type.String(), { description: 'Label of its prices; null if the file does not state it' }),
    qualifier: orNull(Type.String()),
  },
  { title: 'CertificateFacts' },
)
export type CertificateFacts = Static<typeof CertificateFactsSchema>

export const CertificateReviewSchema = Type.Object(
  {
    conflict: orNull(
      Type.Object(
        {
          listing_id: Type.Integer(),
          title: Type.String(),
          seller: Seller,
          price: Type.Number({ description: 'In TL' }),
          published_at: orNull(Time('UTC')),
        },
        { title: 'CertificateConflict' },
      ),
      { description: 'The active listing with the same certificate; the listing cannot be approved while it is active' },
    ),
    known: orNull(CertificateFactsSchema, { description: "What the operator's file of certificates says; null if it does not have it" }),
    differs: Type.Array(Type.Enum(['item_id', 'grade', 'qualifier']), { description: 'Fields in which the listing differs from `known`' }),
    warnings: Type.Array(Type.Object({ message: Type.String(), ...ReasonFields }), {
      description: 'What looks unusual about number and grade',
    }),
    history: Type.Array(CertificateEventSchema, {
      description: `Listings of other sellers and sales with this certificate, newest first; at most ${MAX_EVENTS} of each`,
    }),
  },
  { title: 'CertificateReview' },
)
export type CertificateReview = Static<typeof CertificateReviewSchema>

type Certified = Pick<ListingRow, 'id' | 'seller_id' | 'item_id'> & { certificate: Certificate }

interface EventRow extends Omit<CertificateEvent, 'seller' | 'price' | 'at' | 'cancelled_at'> {
  of: number
  seller_id: number
  seller_name: string
  price: string
  at: Date
  cancelled_at: Date | null
}

/** Listings with a certificate, for the statements below. */
function keysOf(listings: readonly Certified[]) {
  return sql`unnest(${listings.map(({ id }) => id)}::int4[], ${listings.map((row) => row.seller_id)}::int4[],
    ${listings.map((row) => row.certificate.cert)}::text[], ${listings.map((row) => row.certificate.grader)}::text[]) as l(id, seller_id, cert, grader)`
}

const same = (table: string) =>
  sql.raw(`${table}.certificate->>'cert' = l.cert and ${table}.certificate->>'grader' = l.grader and ${table}.certificate is not null`)

/** Earlier listings of other sellers and sales of listings' certificates, newest first, by listing id; those without any are missing. */
export async function certificateHistories(
  on: Queryable,
  listings: readonly ListingRow[],
  most = MAX_EVENTS,
): Promise<Map<number, CertificateEvent[]>> {
  return eventsOf(on, certifiedOf(listings), most)
}

function certifiedOf(listings: readonly ListingRow[]): Certified[] {
  return listings.flatMap((row) => (row.certificate === null ? [] : [{ ...row, certificate: row.certificate }]))
}

async function eventsOf(on: Queryable, certified: readonly Certified[], most: number): Promise<Map<number, CertificateEvent[]>> {
  if (certified.length === 0) return new Map()
  const { rows } = await sql<EventRow>`
    select l.id as of, e.*, a.name as seller_name from ${keysOf(certified)} cross join lateral (
      (select 'listing' as kind, o.id as listing_id, o.seller_id, o.price, o.created_at as at, o.status, null::timestamptz as cancelled_at
        from listings o where ${same('o')} and o.seller_id <> l.seller_id order by o.id desc limit ${most})
      union all
      (select 'sale', s.listing_id, s.seller_id, s.unit_price, s.sold_at, null, c.cancelled_at
        from sales s left join sale_cancellations c on c.sale_id = s.id where ${same('s')} order by s.id desc limit ${most})
    ) e join accounts a on a.id = e.seller_id order by e.at desc, e.kind desc`.execute(on)
  const byListing = Map.groupBy(rows, ({ of }) => of)
  return new Map([...byListing].map(([id, events]) => [id, events.map(eventOf)]))
}

function eventOf({ of: _of, seller_id: id, seller_name: name, price, at, cancelled_at: cancelledAt, ...event }: EventRow): CertificateEvent {
  return { ...event, seller: { id, name }, price: Number(price), at: at.toISOString(), cancelled_at: cancelledAt?.toISOString() ?? null }
}

/** Whether another seller has offered or sold the copy. */
export function isOthers(history: readonly CertificateEvent[] | undefined, sellerId: number): boolean {
  return history?.some(({ seller }) => seller.id !== sellerId) ?? false
}

/** The data about certificates for decisions about listings, by listing id; listings without a certificate are missing. */
export async function reviewCertificates(on: Queryable, listings: readonly ListingRow[]): Promise<Map<number, CertificateReview>> {
  const certified = certifiedOf(listings)
  if (certified.length === 0) return new Map()
  const histories = await eventsOf(on, certified, MAX_EVENTS)
  const conflicts = await conflictsOf(on, certified)
  const facts = await fileFactsOf(
    on,
    certified.map(({ certificate }) => certificate),
  )
  return new Map(
    certified.map(({ id, item_id: itemId, certificate }, i) => {
      const known = facts[i] ?? null
      return [
        id,
        {
          conflict: conflicts.get(id) ?? null,
          known,
          differs: known ? differences(known, itemId, certificate) : [],
          warnings: certificateWarnings(certificate).map(withMessage),
          history: histories.get(id) ?? [],
        },
      ]
    }),
  )
}

function differences(known: CertificateFacts, itemId: number, { grade, qualifier }: Certificate): CertificateReview['differs'] {
  const fold = (text: string | null) => text?.toLowerCase() ?? null
  return [
    ...(known.item_id === itemId ? [] : ['item_id' as const]),
    ...(fold(known.grade) === fold(grade) ? [] : ['grade' as const]),
    ...(fold(known.qualifier) === fold(qualifier) ? [] : ['qualifier' as const]),
  ]
}

async function conflictsOf(on: Queryable, certified: readonly Certified[]): Promise<Map<number, NonNullable<CertificateReview['conflict']>>> {
  const { rows } = await sql<{ of: number; id: number; title: string; price: string; published_at: Date | null; seller_id: number; name: string }>`
    select l.id as of, o.id, o.title, o.price, o.published_at, o.seller_id, a.name from ${keysOf(certified)}
    join listings o on ${same('o')} and o.status = ${sql.lit(PUBLISHED)} and o.id <> l.id join accounts a on a.id = o.seller_id`.execute(on)
  return new Map(
    rows.map(({ of, id, title, price, published_at: published, seller_id: seller, name }) => [
      of,
      { listing_id: id, title, seller: { id: seller, name }, price: Number(price), published_at: published?.toISOString() ?? null },
    ]),
  )
}

/** What the operator's file says about certificates, in their order; null for those that it does not have. */
export async function fileFactsOf(
  on: Queryable,
  certificates: readonly Pick<Certificate, 'grader' | 'cert'>[],
): Promise<(CertificateFacts | null)[]> {
  const { rows } = await sql<CertificateFacts & { n: number }>`
    select k.n::int4 as n, live_item(f.item_id) as item_id, f.grade, f.label, f.qualifier
    from unnest(${certificates.map(({ cert }) => cert)}::text[], ${certificates.map(({ grader }) => grader)}::text[]) with ordinality as k(cert, grader, n)
    join certificates f using (cert, grader)`.execute(on)
  const facts = new Map(rows.map(({ n, ...row }) => [n, row]))
  return certificates.map((_, i) => facts.get(i + 1) ?? null)
}

/** All events of a certificate with their counts, newest first. */
export async function wholeHistory(on: Queryable, { cert, grader }: Pick<Certificate, 'grader' | 'cert'>, most: number) {
  const key = { id: 0, seller_id: 0, item_id: 0, certificate: { cert, grader, grade: '', qualifier: null, subgrades: null } }
  const { rows } = await sql<{ listings: number; sales: number; records: number }>`
    select
      (select count(*)::int4 from listings o where ${same('o')}) as listings,
      (select count(*)::int4 from sales s where ${same('s')}) as sales,
      (select count(*)::int4 from collection_items r where ${same('r')}) as records
    from ${keysOf([key])}`.execute(on)
  return { counts: rows[0]!, events: (await eventsOf(on, [key], most)).get(0) ?? [] }
}
