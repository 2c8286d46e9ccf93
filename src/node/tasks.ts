// The periodic tasks of a node: what every node does for itself, what a worker does for the service, and housekeeping.
import { forgetOldUsage } from '#accounts/keys/usage.ts'
import { forgetOldAudit, monthsOfAudit, sealOldMonths } from '#audit/archive/archive-audit.ts'
import { recordWorth } from '#collections/record-worth.ts'
import { HOUR_MS, MINUTE_MS } from '#core/duration.ts'
import { trimChangeLog } from '#db/changes/change-feed.ts'
import { forgetOldIdempotencyKeys } from '#db/changes/idempotency.ts'
import { archiveOldMonths, mayArchive, type MonthTable } from '#files/month-archive.ts'
import type { Heartbeat } from '#jobs/heartbeat.ts'
import { judgeWaiting } from '#market/approval/judge.ts'
import { forgetOldListingImports } from '#market/intake/import-store.ts'
import { forgetOldPriceJobs } from '#market/jobs/store.ts'
import { expireListings } from '#market/listings/expire-listings.ts'
import { forgetOldNotices } from '#market/notices/notice-store.ts'
import { expireOffers } from '#market/offers/expire-offers.ts'
import { forgetOldOffers } from '#market/offers/offer-store.ts'
import { forgetOldViews } from '#market/views/listing-views.ts'
import { runDueRules } from '#market/repricing/run-due-rules.ts'
import type { Mailer } from '#notifications/mail.ts'
import { forgetOldNotifications, tellFindings } from '#notifications/tell.ts'
import type { CopyCtx } from '#photos/copy-pictures.ts'
import { forgetPhotos } from '#photos/photo-store.ts'
import { forgetOldPictures } from '#photos/picture-copies.ts'
import { monthsOfPrices } from '#prices/archive/archive-months.ts'
import { forgetOldPrices, forgetOldStatements } from '#prices/history/retention.ts'
import { failBrokenImports } from '#prices/imports/imports.ts'
import { prepareMonths } from '#prices/records/months.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { rankReviews } from '#prices/reviews/rank-reviews.ts'
import { failBrokenFetches } from '#public-sources/fetch-store.ts'
import { rewriteStorage } from '#privacy/rewrite-storage.ts'
import { runErasures } from '#privacy/run-erasures.ts'
import { recordDay } from '#stats/day-counts.ts'
import { forgetSearches } from '#stats/searches/search-terms.ts'
import { forgetOldEvents } from '#webhooks/retention.ts'
import { followChanges } from '#watches/follow-changes.ts'
import { tellGoals } from '#watches/tell-goals.ts'
import type { NodeCtx } from './context.ts'
import type { NodeParts } from './parts.ts'

/** Milliseconds between two runs. */
const EVERY = {
  pull: 400,
  ratesOfTheDay: 1_000,
  eventFeed: 1_000,
  expiry: 5_000,
  watches: 5_000,
  approvalRules: 1_000,
  repricing: MINUTE_MS,
  collectionWorth: 10 * MINUTE_MS,
  brokenImports: 10_000,
  erasures: 5_000,
  heartbeat: 15_000,
  keyUses: 10_000,
  listingViews: 10_000,
  searchTerms: 10_000,
  priceEvidence: HOUR_MS,
  priceReviews: 5_000,
  pictureCopies: 10_000,
  dumps: MINUTE_MS,
  dayCounts: HOUR_MS,
  archives: HOUR_MS,
  notifications: 2 * MINUTE_MS,
  notificationDelivery: 2_000,
  housekeeping: 10 * MINUTE_MS,
} as const
/** Writes wait while the start file is written, so a disk that takes longer gets its file only when the node stops. */
const MAX_LOCKED_MS = 2_000

type Task = [name: string, intervalMs: number, run: () => Promise<unknown>]

/** @param queue of these tasks, if only one of them may run at a time */
function schedule({ scheduler }: NodeParts, tasks: readonly Task[], queue?: string): void {
  for (const [name, intervalMs, run] of tasks) scheduler.add({ name, intervalMs, run, ...(queue !== undefined && { queue }) })
}

/** What keeps the data in memory current, and writes what a node counts. */
export function scheduleOwnTasks(node: NodeParts, listeners: { public: boolean }): void {
  const { catalogue, events, feed, keys, operators, consoleSessions, sellerSessions, searches, views } = node
  const ofPublic: Task[] = [
    ['event-feed', EVERY.eventFeed, async () => events.look()],
    ['listing-views', EVERY.listingViews, () => views.flush()],
    ['search-terms', EVERY.searchTerms, () => searches.flush()],
  ]
  schedule(node, [
    ...(listeners.public ? ofPublic : []),
    ['rates-of-the-day', EVERY.ratesOfTheDay, async () => catalogue.followClock()],
    // In case notifications do not arrive.
    ['change-feed', EVERY.pull, () => feed.pull()],
    ['api-key-uses', EVERY.keyUses, () => keys.flush()],
    ['operator-token-uses', EVERY.keyUses, () => operators.flush()],
    ['console-session-uses', EVERY.keyUses, () => consoleSessions.flush()],
    ['seller-session-uses', EVERY.keyUses, () => sellerSessions.flush()],
  ])
}

/** The service's background work, which any of its workers may do. @param signal aborts the archiving of a month and the copying of pictures */
export function scheduleWork(node: NodeParts, ctx: NodeCtx, heartbeat: Heartbeat, signal: AbortSignal): void {
  const { archive, auditArchive, catalogue, config, db, dumps, imageNetwork: network, listings, now, photos } = node
  const { auditArchiveMonths, marketNames, priceArchiveMonths, priceRules, sourceCurrencies: currencies, timeZone } = config
  const archiveOld = async (table: MonthTable, keepMonths: number, prepare?: typeof sealOldMonths) => {
    if (keepMonths === 0 || !(await mayArchive(table.archives, db))) return
    const archiving = { db, now: now(), signal }
    const run = async () => {
      await prepare?.(table, archiving)
      await archiveOldMonths(table, archiving, keepMonths)
    }
    await run().catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }
  schedule(node, [
    ['listing-expiry', EVERY.expiry, () => expireListings(ctx)],
    ['offer-expiry', EVERY.expiry, () => expireOffers(ctx)],
    ['watches', EVERY.watches, () => followChanges(ctx)],
    ['goal-watches', EVERY.watches, () => tellGoals({ ...ctx, catalogue, listings, currencies })],
    ['approval-rules', EVERY.approvalRules, () => judgeWaiting(ctx)],
    ['repricing', EVERY.repricing, () => runDueRules({ ...ctx, catalogue, listings })],
    ['collection-worth', EVERY.collectionWorth, () => recordWorth({ db, now, catalogue, currencies, market: { timeZone } })],
    ['price-evidence', EVERY.priceEvidence, () => judgeAllPrices(ctx)],
    ['day-counts', EVERY.dayCounts, () => recordDay({ ...ctx, marketNames }, timeZone)],
    ['price-reviews', EVERY.priceReviews, () => rankReviews(db, priceRules.currencies, now())],
    ['dumps', EVERY.dumps, () => dumps.makeDue(catalogue.items.live.size === 0)],
    ['price-archive', EVERY.archives, () => archiveOld(monthsOfPrices(archive.files), priceArchiveMonths)],
    ['audit-archive', EVERY.archives, () => archiveOld(monthsOfAudit(auditArchive), auditArchiveMonths, sealOldMonths)],
    ...(config.copyPictures
      ? [['picture-copies', EVERY.pictureCopies, pictureCopies({ ...ctx, catalogue, photos, network }, signal)] satisfies Task]
      : []),
    ['notifications', EVERY.notifications, () => tellFindings(node)],
    ...notificationChannels(node, signal),
    ['erasures', EVERY.erasures, () => erasures(node, signal)],
    ['worker-heartbeat', EVERY.heartbeat, () => heartbeat.beat()],
  ])
}

/** A task for each configured channel, so that a slow mail server delays no webhook. Their modules are loaded when they are needed. */
function notificationChannels({ config, db, log, now, webhooks: network }: NodeParts, signal: AbortSignal): Task[] {
  const ctx = { db, log, config, now, network }
  const { webhook, email } = config.notify
  let mailer: Promise<Mailer> | undefined
  const deliver = () => import('#notifications/deliver.ts')
  const mail = (to: NonNullable<typeof email>) =>
    (mailer ??= import('#notifications/mail.ts').then(({ openMailer }) => {
      const opened = openMailer(to)
      signal.addEventListener('abort', () => opened.close())
      return opened
    }))
  return [
    ...(webhook ? [['notification-webhooks', EVERY.notificationDelivery, async () => (await deliver()).deliverWebhooks(ctx)] satisfies Task] : []),
    ...(email
      ? [['notification-emails', EVERY.notificationDelivery, async () => (await deliver()).deliverEmails(ctx, await mail(email))] satisfies Task]
      : []),
  ]
}

/** Carries out erasures. The embedded database and the start file are then written anew, without old versions of rows. */
async function erasures({ config, db, feed, now, photos, log, startFile }: NodeParts, signal: AbortSignal): Promise<void> {
  await runErasures({ db, now, files: photos.files, log }, signal)
  if (config.databaseUrl !== null) return
  const rewritten = await rewriteStorage(db, now())
  if (!rewritten || !startFile) return
  // The node reloads its memory first.
  await feed.pull()
  await startFile.write({ unlessWithinMs: 0, maxLockedMs: MAX_LOCKED_MS })
}

/** Loads its module when it first runs, because other roles do not need its HTTP client. */
function pictureCopies(ctx: CopyCtx, signal: AbortSignal): () => Promise<void> {
  let copier: Promise<() => Promise<void>> | undefined
  return async () => (await (copier ??= import('#photos/copy-pictures.ts').then(({ pictureCopier }) => pictureCopier(ctx, signal))))()
}

/** Writes the start file; nodes that share one check its age at slightly different times. */
export function scheduleStartFile(node: NodeParts): void {
  const { startFile } = node
  const intervalMs = node.config.startFileMinutes * MINUTE_MS
  if (startFile) schedule(node, [['start-file', intervalMs, () => startFile.write({ unlessWithinMs: intervalMs * 0.9, maxLockedMs: MAX_LOCKED_MS })]])
}

/** Deletes expired data and prepares the months to come. */
export function housekeeping(node: NodeParts): [name: string, run: () => Promise<unknown>][] {
  const { auditArchive, config, db, now, photos } = node
  return [
    ['change-log-trimming', () => trimChangeLog(db, now())],
    ['idempotency-key-expiry', () => forgetOldIdempotencyKeys(db, now())],
    ['price-months', () => prepareMonths(db, now())],
    ['price-retention', () => forgetOldPrices(node, config.priceHistoryDays, now())],
    ['price-statement-retention', () => forgetOldStatements(db, config.priceHistoryDays, now())],
    ['audit-retention', () => forgetOldAudit({ db, files: auditArchive }, config.auditLogDays, now())],
    ['webhook-retention', () => forgetOldEvents(db, config.webhookLogDays, now())],
    ['listing-import-retention', () => forgetOldListingImports(db, now())],
    ['price-job-retention', () => forgetOldPriceJobs(db, config.priceJobDays, now())],
    ['notice-retention', () => forgetOldNotices(db, config.noticeDays, now())],
    ['offer-retention', () => forgetOldOffers(db, config.offerDays, now())],
    ['listing-view-retention', () => forgetOldViews(db, now())],
    ['search-term-retention', () => forgetSearches(db, now())],
    ['photo-retention', () => forgetPhotos(db, photos.files, now())],
    ['picture-copy-retention', () => forgetOldPictures(db, now())],
    ['notification-retention', () => forgetOldNotifications(db, now())],
    ['key-usage-retention', () => forgetOldUsage(db, now())],
  ]
}

/** Any node does this for all nodes. */
export function scheduleHousekeeping(node: NodeParts): void {
  schedule(
    node,
    housekeeping(node).map(([name, run]) => [name, EVERY.housekeeping, run]),
    'housekeeping',
  )
  const failBroken = async () => {
    await failBrokenImports(node.db, node.now())
    await failBrokenFetches(node.db, node.now())
  }
  schedule(node, [['broken-imports', EVERY.brokenImports, failBroken]])
}
