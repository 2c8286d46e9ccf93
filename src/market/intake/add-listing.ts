// Adds one listing of the caller, with the checks of a row of a file. Nothing is parked: the item must be clear.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { shortText } from '#catalogue/records/fields.ts'
import { invalid, ServiceError } from '#core/errors.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { change, executeDryRun } from '#db/changes/change.ts'
import { itemsNumbered, itemsOfPrinting, PrintingFields } from '#intake/numbered-items.ts'
import { addListings } from '../listings/add-listings.ts'
import { flagsOf } from '../listings/listing-flags.ts'
import { ListingBody } from '../listings/listing-body.ts'
import { ownListing } from '../listings/own-listing.ts'
import { completed, gradeOf, knownCertificates } from '../certificates/known.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { sku, title } from '../records/fields.ts'
import { gradeIdOf, requireLiveItem } from '../references.ts'
import { DryRun, forecastingNew } from '../visibility/forecast.ts'
import { usualWait } from '../visibility/usual-wait.ts'
import { listingOf } from './import-listings.ts'
import { countPlaces, lockIntake } from './store.ts'
import type { CreatedListing, IntakeCtx } from './types.ts'

const { item_id, grade_id: _grade, title: _title, ...Stock } = ListingBody

const CardFields = Type.Object(PrintingFields, {
  additionalProperties: false,
  title: 'ListedCard',
  description: 'The card by set and number, instead of `item_id`',
})

const NewListingBody = Type.Object({
  item_id: Type.Optional(item_id),
  card: Type.Optional(CardFields),
  label: Type.Optional(shortText('Condition or grade, such as `Near Mint` or `PSA 10`; default: none')),
  sku: Type.Optional(sku()),
  title: Type.Optional(title()),
  ...Stock,
  ...DryRun,
})

export const LISTING_CREATED: MessageText = 'Listing created, pending approval'

export const addListing = verb(
  {
    name: 'addListing',
    needs: OPERATION_PLAN.addListing,
    writes: true,
    input: NewListingBody,
  },
  async (ctx: IntakeCtx & MarketCtx, { dry_run: dryRun = false, ...input }): Promise<CreatedListing> => {
    if (!dryRun) return add(ctx, input)
    const wait = await usualWait(ctx.db, ctx.now())
    return executeDryRun(ctx, async (tx, rehearsal) => {
      const listing = await add(rehearsal, input)
      return (await forecastingNew(tx, ctx, wait, [listing]))[0]!
    })
  },
)

type NewListing = Omit<Static<typeof NewListingBody>, 'dry_run'>

function add(ctx: IntakeCtx & MarketCtx, { item_id: itemId, card, label, sku, certificate: body, ...fields }: NewListing): Promise<CreatedListing> {
  const { catalogue } = ctx
  const sellerId = ownAccount(ctx.viewer)
  return change(ctx, async (tx, note) => {
    const quota = await lockIntake(tx, sellerId)
    const [known = null] = body ? await knownCertificates(tx, sellerId, [body]) : []
    if (body && !known && itemId === undefined && card === undefined) throw invalid('certificate.cert', 'certificate_unknown')
    const item = known && itemId === undefined && card === undefined ? known.itemId : itemOf(catalogue, itemId, card)
    const certificate = body ? completed(body, known) : null
    const gradeId = label === undefined ? certificate && gradeOf(catalogue, certificate, known) : gradeIdOf(catalogue, label)
    if (label !== undefined && gradeId === null) throw invalid('label', 'label', { value: label })
    const entry = { fields: { ...fields, grade_id: gradeId, certificate }, sku: sku?.trim() ?? null }
    const listing = listingOf(catalogue, entry, item)
    if ((await countPlaces(tx, sellerId)) >= quota) throw invalid('body', 'intake_full', { max: quota })
    const [added] = await addListings(tx, note, { sellerId, now: ctx.now() }, [listing])
    if (added instanceof ServiceError) throw added
    return ownListing(ctx, added!, flagsOf({ with_details: true }))
  })
}

/** @throws VALIDATION_ERROR if not exactly one item is meant */
function itemOf(catalogue: Catalogue, itemId: number | undefined, card: Static<typeof CardFields> | undefined): number {
  if ((itemId === undefined) === (card === undefined)) throw invalid('item_id', 'exactly_one', { field: 'card' })
  if (itemId !== undefined) {
    const row = catalogue.items.rowOf(itemId)
    return requireLiveItem(new Map(row < 0 ? [] : [[itemId, catalogue.items.id[row]!]]), itemId)
  }
  const items = itemsOfPrinting(itemsNumbered(catalogue, [card!])[0]!, card!.finish)
  if (items.length !== 1) throw invalid('card', items.length === 0 ? 'card_fits_none' : 'card_fits_several')
  return items[0]!
}
