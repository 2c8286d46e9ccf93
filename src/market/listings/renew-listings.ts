// Renews own listings, by id or by end of period: a new period from now on, without approval if nothing has changed.
import { invalid } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { type Reason, reason, withMessage } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import type { ListingStatus, Queryable, Tx } from '#db/schema.ts'
import { PUBLISHED, QUEUED, STATUSES, TABLE } from '../records/rules.ts'
import { type Vacation, withVacation } from '../records/vacation.ts'
import { lockVacation } from '../records/vacation-store.ts'
import { type ListingRow, lockListings, updatePeriods } from '../listing-store.ts'
import { Forecasting, type MarketWriteCtx } from '../marketplace-types.ts'
import { DryRun, forecastingEach } from '../visibility/forecast.ts'
import { takenCertificates } from '../certificates/taken.ts'
import { expireAllDue } from './expire-listings.ts'
import { daysAfter, decisionOn, priceValues } from './transition.ts'

export const MAX_RENEWED = 1_000
const FARTHEST_DAYS = 365

export const RenewedListingSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the listing' }),
    status: orNull(Type.Enum([...STATUSES]), {
      description: '`pending` if it changed since its approval or its certificate is on sale in another listing; null if it is not yours',
    }),
    expires_at: orNull(Type.String({ format: 'date-time' }), { description: 'End of the period, local time with offset' }),
    refused: orNull(Type.Object({ message: Type.String(), ...ReasonFields }), { description: 'Why it was not renewed; null if it was' }),
    ...Forecasting,
  },
  { title: 'RenewedListing', description: 'Result of renewing a listing' },
)
export type RenewedListing = Static<typeof RenewedListingSchema>

export interface Renewal {
  listings: RenewedListing[]
  /** whether more listings end within the requested days */
  more: boolean
  message: MessageText
}

export const renewListings = verb(
  {
    name: 'renewListings',
    needs: OPERATION_PLAN.renewListings,
    writes: true,
    input: Type.Object({
      ids: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: MAX_RENEWED, description: 'Ids of your listings' })),
      ending_within_days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: FARTHEST_DAYS,
          description: `Instead of \`ids\`: listings whose period ends within this many days, the next ${MAX_RENEWED} to end`,
        }),
      ),
      ...DryRun,
    }),
  },
  async (ctx: MarketWriteCtx, { dry_run: dryRun = false, ...request }): Promise<Renewal> => {
    if ((request.ids === undefined) === (request.ending_within_days === undefined))
      throw invalid('ids', 'exactly_one', { field: 'ending_within_days' })
    if (!dryRun) return renew(ctx, request)
    const idsOf = async (tx: Tx) => (await idsToRenew(tx, ctx, request)).slice(0, MAX_RENEWED)
    return forecastingEach(ctx, idsOf, (rehearsal) => renew(rehearsal, request))
  },
)

interface RenewalRequest {
  ids?: number[]
  ending_within_days?: number
}

/** One more than the maximum of a renewal, to detect that there are more listings. */
async function idsToRenew(tx: Tx, { viewer, now }: MarketWriteCtx, { ids, ending_within_days: days }: RenewalRequest): Promise<number[]> {
  if (ids) return [...new Set(ids)]
  return idsEndingBy(tx, ownAccount(viewer), renewable(), now(), daysAfter(now(), days!), MAX_RENEWED + 1)
}

/** Ids of a seller's listings in these statuses whose period ends by then, next end first. */
async function idsEndingBy(on: Queryable, sellerId: number, statuses: readonly ListingStatus[], now: Date, by: Date, limit: number) {
  const ending = on.selectFrom('listings').select('id').where('seller_id', '=', sellerId).where('status', 'in', statuses)
  const rows = await ending.where('expires_at', '>', now).where('expires_at', '<=', by).orderBy('expires_at').orderBy('id').limit(limit).execute()
  return rows.map(({ id }) => id)
}

async function renew(ctx: MarketWriteCtx, request: RenewalRequest): Promise<Renewal> {
  const sellerId = ownAccount(ctx.viewer)
  return change(ctx, async (tx, note) => {
    const now = ctx.now()
    const requestedIds = await idsToRenew(tx, ctx, request)
    const ids = requestedIds.slice(0, MAX_RENEWED)
    const locked = await lockListings(tx, ids)
    const listings = new Map([...locked].filter(([, row]) => row.seller_id === sellerId))
    await expireAllDue(tx, note, ctx, listings)
    const returning = [...listings.values()].filter((row) => isReturning(row, now))
    const renewing = {
      taken: await takenCertificates(tx, returning),
      now,
      periodDays: ctx.market.listingPeriodDays,
      vacation: await lockVacation(tx, sellerId, 'read', now),
    }
    const renewed: ListingRow[] = []
    const outcomes = ids.map((id): RenewedListing => {
      const before = listings.get(id)
      if (!before) return refusal(id, null, reason(locked.has(id) ? 'not_owner' : 'not_found', { thing: 'listing', id }))
      const after = renewal(before, renewing)
      if ('refused' in after) return refusal(id, before, after.refused)
      renewed.push(after)
      const auditedFields = ({ status, expires_at }: ListingRow) => ({ status, expires_at })
      note.audit({ action: 'listing.renew', subject: 'listing', id, before: auditedFields(before), after: auditedFields(after) })
      return { id, status: after.status, expires_at: after.expires_at && localTime(after.expires_at, ctx.market.timeZone), refused: null }
    })
    await updatePeriods(tx, renewed, now)
    if (renewed.length > 0)
      note.changed(
        'listings',
        renewed.map(({ id }) => id),
      )
    return { listings: outcomes, more: requestedIds.length > ids.length, message: messageOf(outcomes) }
  })

  function refusal(id: number, row: ListingRow | null, { rule, params }: Reason): RenewedListing {
    const expiresAt = row?.expires_at ?? null
    return {
      id,
      status: row?.status ?? null,
      expires_at: expiresAt && localTime(expiresAt, ctx.market.timeZone),
      refused: withMessage({ rule, params }),
    }
  }
}

/** Statuses in which the table allows a renewal. */
function renewable() {
  return STATUSES.filter((status) => !('refused' in TABLE[status].renew))
}

/** Whether a renewal publishes the listing again. */
function isReturning(row: ListingRow, now: Date): boolean {
  const decision = decisionOn(row, 'renew', now)
  return row.status !== PUBLISHED && 'to' in decision && decision.to === PUBLISHED
}

interface Renewing {
  /** listings whose certificate is on sale in another one */
  taken: ReadonlyMap<number, number>
  now: Date
  periodDays: number
  vacation: Vacation | null
}

/** The listing with its next status and, unless it needs approval, the new period; or why it is rejected. */
function renewal(row: ListingRow, { taken, now, periodDays, vacation }: Renewing): ListingRow | { refused: Reason } {
  const decision = decisionOn(row, 'renew', now, { certificateFree: !taken.has(row.id) })
  if ('refused' in decision) return decision
  const status = decision.to
  const next = { ...row, status, version: row.version + 1 }
  if (status === QUEUED) return next
  const end = withVacation(daysAfter(now, periodDays), vacation, now)
  const isBack = status === PUBLISHED && row.status !== PUBLISHED
  return {
    ...next,
    ...priceValues(status, row.price),
    // An operator may have set a later end than the new period would have.
    expires_at: row.expires_at !== null && row.expires_at > end ? row.expires_at : end,
    // Renewing a visible listing does not make it the newest.
    ...(isBack && { published_at: now }),
  }
}

function messageOf(outcomes: readonly RenewedListing[]): MessageText {
  return outcomes.some((one) => one.refused !== null) ? 'Listings renewed, except those refused' : 'Listings renewed'
}
