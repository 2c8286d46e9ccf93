// What a node consists of: its data in memory, and what its listeners and tasks share.
import { apiKeyring, consoleSessions, operatorTokens, sellerSessions } from '#accounts/keys/keyring.ts'
import { type LimitStore, RateLimits } from '#accounts/limits/rate-limits.ts'
import { openAuditArchive } from '#audit/archive/audit-file.ts'
import { imageAddresses } from '#catalogue/records/image-addresses.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Log } from '#core/context.ts'
import { chance } from '#core/process/time-and-chance.ts'
import { openSealing } from '#core/sealing.ts'
import { ChangeFeed } from '#db/changes/change-feed.ts'
import { LongPolls } from '#db/changes/long-polls.ts'
import type { Db } from '#db/schema.ts'
import { secretKeyOf } from '#db/secret-key.ts'
import { DumpMaker } from '#dumps/maker.ts'
import { openDumpStore } from '#dumps/open-store.ts'
import { RequestCounts } from '#http/request-counts.ts'
import type { ImageProxy } from '#images/image-proxy.ts'
import { Scheduler } from '#jobs/scheduler.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'
import { ListingViews } from '#market/views/listing-views.ts'
import type { MarketSettings } from '#market/marketplace-types.ts'
import type { Network } from '#outbound/dial.ts'
import { openPhotoFiles } from '#photos/photo-files.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { SourceFetches } from '#public-sources/source-fetches.ts'
import { EventFeed } from '#webhooks/event-feed.ts'
import { guardOf, webhookRules } from '#webhooks/rules.ts'
import { SearchTerms } from '#stats/searches/search-terms.ts'
import type { LiveConfig } from '#live-settings/changeable.ts'
import { settingsFollower } from '#live-settings/live-config.ts'
import type { Config } from '../config.ts'
import { StartFile } from '../start-file.ts'

export interface PartsOptions {
  /** changes of settings are made in it */
  config: LiveConfig
  db: Db
  log: Log
  /** the current time; default: the database's clock */
  now?: (() => Date) | undefined
  /** numbers from 0 to 1 for what clients can see of chance, such as the times of retries; default: those of the process */
  random?: (() => number) | undefined
  /** ports on which the node listens */
  ports: () => number[]
  /** address of the public listener once it has opened */
  publicUrl: () => string | null
  /** whether these are the parts of a sandbox */
  test?: boolean
}

export type NodeParts = ReturnType<typeof createParts>

/** Creates the parts; nothing is loaded yet. */
export function createParts({ config, db, log, now: clock, random = chance, ports, publicUrl, test = false }: PartsOptions) {
  const feed = new ChangeFeed(db, { warn: log.warn.bind(log), info: (message) => log.info({}, message) })
  const now = clock ?? (() => feed.now())
  const webhooks = webhookRules(config, db, log, ports, !test)
  const keys = apiKeyring({ db, log, now }, test)
  const operators = operatorTokens({ db, log, now }, config.operatorToken)
  const sessions = { consoleSessions: consoleSessions({ db, log, now }, config.operatorToken), sellerSessions: sellerSessions({ db, log, now }) }
  const cachedRows = config.without.has('query-cache') ? 0 : undefined
  const readyOnce = config.without.has('ready-bytes')
  // Responses are built only after the public listener has opened.
  const addresses = imageAddresses(() => config.publicUrl ?? publicUrl() ?? '', config.imageProxy)
  const catalogue = new Catalogue(db, { ...config, marketOrder: () => config.marketOrder, cachedRows, readyOnce, now, addresses })
  const listings = new ListingSnapshot({ db, catalogue, now, timeZone: config.timeZone, readyBytesMb: config.readyBytesMb, readyOnce, cachedRows })
  const polls = new LongPolls()
  const events = new EventFeed(db, polls)
  // Before those that use the settings.
  feed.add(settingsFollower(config, db.kysely, log))
  for (const follower of [keys, operators, sessions.consoleSessions, sessions.sellerSessions, catalogue, listings, polls]) feed.add(follower)
  const { dataDir, startFileMinutes } = config
  const imageNetwork: Network = { guard: guardOf(config, db, ports, config.imageAllowCidrs), resolve: webhooks.resolve }
  const dumpStore = openDumpStore(config)
  const archive = openPriceArchive(config)
  const market: MarketSettings = config
  return {
    config,
    db,
    log,
    scheduler: new Scheduler(log),
    now,
    random,
    feed,
    polls,
    keys,
    operators,
    ...sessions,
    catalogue,
    listings,
    views: new ListingViews({ db, now }),
    searches: new SearchTerms({ db, now, secret: secretKeyOf(config, log) }),
    market,
    webhooks,
    peopleSealing: openSealing(secretKeyOf(config, log), 'mintmark totp secrets'),
    signInSealing: openSealing(secretKeyOf(config, log), 'mintmark sign-in cookies'),
    events,
    limits: new RateLimits(config.rateLimits, sharedCounting(config, db, log)),
    requests: new RequestCounts(),
    dumpStore,
    dumps: new DumpMaker({ ...config, db, log, now, store: dumpStore, archive, currencies: config.sourceCurrencies }),
    archive,
    auditArchive: openAuditArchive(config),
    photos: { files: openPhotoFiles(config), perAccount: config.photosPerAccount },
    startFile:
      startFileMinutes === 0
        ? null
        : new StartFile({ dataDir, db, log, feed, catalogue, listings, settings: () => ({ marketOrder: config.marketOrder }) }),
    fetches: new SourceFetches({
      db,
      log,
      now,
      folder: config.sourcesDir,
      network: { guard: guardOf(config, db, ports, []), resolve: webhooks.resolve, mirror: config.sourcesMirror },
    }),
    imageNetwork,
    ...imageOpening({ config, log, now }, imageNetwork),
  }
}

/** Null if no other node or process counts requests. */
function sharedCounting({ alone }: Config, db: Db, log: Log): LimitStore | null {
  return alone ? null : { db, log }
}

/** Opens the image proxy when it is first needed: the console needs it only once it shows a picture from elsewhere. */
function imageOpening({ config, log, now }: Pick<PartsOptions, 'config' | 'log'> & { now: () => Date }, network: Network) {
  let proxy: Promise<ImageProxy> | null = null
  const openImages = () =>
    (proxy ??= import('#images/image-proxy.ts')
      .then(({ openImageProxy }) => openImageProxy({ ...config, network, log, now }))
      .catch((error: unknown) => {
        proxy = null
        throw error
      }))
  return { openImages, closeImages: async () => (await proxy)?.close() }
}
