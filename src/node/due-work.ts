// The background work of a service by the times at which it is due: the same tasks as `tasks.ts` schedules, for a clock that is moved.
import { recordWorth } from '#collections/record-worth.ts'
import { localDay } from '#core/time.ts'
import type { DueWork } from '#jobs/due-work.ts'
import { areUnjudged, judgeWaiting } from '#market/approval/judge.ts'
import { expireListings, nextExpiry } from '#market/listings/expire-listings.ts'
import { expireOffers } from '#market/offers/expire-offers.ts'
import { nextOfferExpiry } from '#market/offers/offer-store.ts'
import { nextVacationChange } from '#market/records/vacation-store.ts'
import { nextRuleRun, runDueRules } from '#market/repricing/run-due-rules.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { followChanges, nextComparison } from '#watches/follow-changes.ts'
import { nextGoalDay } from '#watches/goal-store.ts'
import { tellGoals } from '#watches/tell-goals.ts'
import { waitingAccounts } from '#webhooks/delivery/queue.ts'
import { deliverDue } from '#webhooks/delivery/sender.ts'
import type { NodeCtx } from './context.ts'
import type { NodeParts } from './parts.ts'
import { housekeeping } from './tasks.ts'

const EPOCH = new Date(0)

/**
 * What becomes due in a service, in the order in which it runs at one moment. What other nodes do at fixed intervals is done at midnight here, and
 * prices, which age by days, are judged once a week.
 * @param signedAt the clock of webhook receivers, who reject signatures of other times; default: `now`
 */
export function dueWork(node: NodeParts, ctx: NodeCtx, signedAt?: () => Date): DueWork[] {
  const { catalogue, config, db, events, feed, listings, log, now, random, webhooks } = node
  const { sourceCurrencies: currencies, timeZone, webhookRetryDelaysMs: retryDelaysMs } = config
  const { kysely } = db
  const midnight = (after: Date) => nextMidnight(after, timeZone)
  const delivering = {
    db,
    log,
    now,
    random,
    network: webhooks,
    sealing: webhooks.sealing,
    livemode: webhooks.livemode,
    retryDelaysMs,
    ...(signedAt && { signedAt }),
  }
  const work: [name: string, next: DueWork['next'], run: () => Promise<unknown>][] = [
    ['listing-expiry', () => nextExpiry(kysely), () => expireListings(ctx)],
    ['offer-expiry', () => nextOfferExpiry(kysely), () => expireOffers(ctx)],
    ['vacations', (after) => nextVacationChange(kysely, after), async () => {}],
    ['approval-rules', async () => ((await areUnjudged(db)) ? EPOCH : null), () => judgeWaiting(ctx)],
    ['price-evidence', (after) => nextMonday(after, timeZone), () => judgeAllPrices(ctx)],
    ['repricing', () => nextRuleRun(kysely), () => runDueRules({ ...ctx, catalogue, listings })],
    ['collection-worth', midnight, () => recordWorth({ db, now, catalogue, currencies, market: { timeZone } })],
    ['watches', () => nextComparison(kysely, timeZone), () => followChanges(ctx)],
    ['goal-watches', () => nextGoalDay(kysely, timeZone), () => tellGoals({ ...ctx, catalogue, listings, currencies })],
    ['webhooks', () => nextDelivery(node), () => deliverDue(delivering)],
    ['housekeeping', midnight, () => keepHouse(node)],
  ]
  return work.map(([name, next, run]) => ({
    name,
    next,
    run: async () => {
      catalogue.followClock()
      await run()
      await feed.pull()
      events.look()
    },
  }))
}

async function nextDelivery({ db }: NodeParts): Promise<Date | null> {
  const waiting = await waitingAccounts(db)
  return waiting.length === 0 ? null : new Date(Math.min(...waiting.map(({ dueAt }) => dueAt.getTime())))
}

async function keepHouse(node: NodeParts): Promise<void> {
  for (const [, run] of housekeeping(node)) await run()
}

/** The next midnight before a Monday in a zone, after a time. */
function nextMonday(after: Date, zone: string): Date {
  const today = Temporal.PlainDate.from(localDay(after, zone))
  return new Date(today.add({ days: 8 - today.dayOfWeek }).toZonedDateTime(zone).epochMilliseconds)
}

/** The next midnight in a zone, after a time. */
function nextMidnight(after: Date, zone: string): Date {
  const today = Temporal.PlainDate.from(localDay(after, zone))
  return new Date(today.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds)
}
