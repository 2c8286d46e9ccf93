// Puts copies of collection records up for sale: listings that name their record, pending approval.
import { lockRecordsToList, type RecordToList } from '#collections/records/records-to-list.ts'
import { invalid, invalidFields, ServiceError } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { addListings, type ListingInput } from '../listings/add-listings.ts'
import { ListingBody } from '../listings/listing-body.ts'
import { flagsOf } from '../listings/listing-flags.ts'
import { ownListing } from '../listings/own-listing.ts'
import type { MarketCtx, OwnListing } from '../marketplace-types.ts'
import { MAX_UNITS, sku, title } from '../records/fields.ts'
import { forecastingNew } from '../visibility/forecast.ts'
import { usualWait } from '../visibility/usual-wait.ts'
import { listedCopies, countPlaces, lockIntake } from './store.ts'
import { listingOf } from './import-listings.ts'
import type { CreatedListing, IntakeCtx } from './types.ts'

export const MAX_LISTED_RECORDS = 500

export const LISTINGS_CREATED: MessageText = 'Listings created, pending approval'

const { item_id: _item, grade_id: _grade, title: _title, quantity: _quantity, certificate: _certificate, ...Stock } = ListingBody

export const RecordRow = Type.Object(
  {
    record_id: Type.Integer({ description: 'Record of the collection' }),
    quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_UNITS, description: 'Copies to sell; default: 1' })),
    title: Type.Optional(title()),
    sku: Type.Optional(sku()),
    ...Stock,
  },
  { additionalProperties: false, title: 'ListedRecord', description: 'Copies of a record to sell' },
)

export const listRecords = writeVerb(
  {
    name: 'listRecords',
    needs: OPERATION_PLAN.listRecords,
    input: Type.Object({
      id: id('collection'),
      rows: Type.Array(RecordRow, { minItems: 1, maxItems: MAX_LISTED_RECORDS, description: 'All become listings, or none' }),
    }),
  },
  (ctx: IntakeCtx & MarketCtx, { id: collectionId, rows }): Promise<CreatedListing[]> => {
    const sellerId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      const quota = await lockIntake(tx, sellerId)
      const ids = [...new Set(rows.map((row) => row.record_id))]
      const records = await lockRecordsToList(tx, ctx.viewer, collectionId, ids)
      const unknown = rows.flatMap(({ record_id: recordId }, i) =>
        records.has(recordId) ? [] : problem(`rows.${i}.record_id`, 'unknown_id', { thing: 'collection record', id: recordId }),
      )
      if (unknown.length > 0) throw invalidFields(unknown)
      refuseMoreThanOwned(rows, records, await listedCopies(tx, ids))
      if ((await countPlaces(tx, sellerId)) + rows.length > quota) throw invalid('rows', 'intake_full', { max: quota })
      const inputs = rows.map((row) => inputOf(ctx, row, records.get(row.record_id)!))
      const listings = ownListings(ctx, await addListings(tx, note, { sellerId, now: ctx.now() }, inputs))
      return ctx.rehearsal ? forecastingNew(tx, ctx, await usualWait(ctx.db, ctx.now()), listings) : listings
    })
  },
)

type Row = Static<typeof RecordRow>

/** @throws NOT_ENOUGH_OWNED if a record has fewer copies than its listings and these rows together */
function refuseMoreThanOwned(rows: readonly Row[], records: ReadonlyMap<number, RecordToList>, listed: Map<number, number>): void {
  for (const { record_id: id, quantity: wanted = 1 } of rows) {
    const [owned, before] = [records.get(id)!.quantity, listed.get(id) ?? 0]
    if (before + wanted > owned) throw new ServiceError('NOT_ENOUGH_OWNED', reason('copies_in_listings', { id, wanted, owned, listed: before }))
    listed.set(id, before + wanted)
  }
}

function inputOf(
  { catalogue }: IntakeCtx,
  { record_id: recordId, sku, ...fields }: Row,
  { item_id, grade_id, certificate }: RecordToList,
): ListingInput {
  return { ...listingOf(catalogue, { fields: { ...fields, grade_id, certificate }, sku: sku?.trim() ?? null }, item_id), recordId }
}

/** @throws VALIDATION_ERROR with every invalid field of the rows; CONFLICT if an SKU is taken */
function ownListings(ctx: MarketCtx, added: Awaited<ReturnType<typeof addListings>>): OwnListing[] {
  const problems = added.flatMap((one, i): Problem[] =>
    one instanceof ServiceError ? one.details.map((detail) => ({ ...detail, field: `rows.${i}.${detail.field}` })) : [],
  )
  if (problems.length > 0) throw invalidFields(problems)
  return added.map((one) => {
    if (one instanceof ServiceError) throw one
    return ownListing(ctx, one, flagsOf({ with_details: true }))
  })
}
