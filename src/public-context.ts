// The context of a public request for verbs that read or write more than the catalogue.
import type { Keyring } from '#accounts/keys/keyring.ts'
import type { MeCtx } from '#accounts/keys/read-me.ts'
import type { CatalogueNode, MarketUse } from '#catalogue/context.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Market } from '#core/markets.ts'
import type { HasPrecondition } from '#core/precondition.ts'
import type { ChangeFeed } from '#db/changes/change-feed.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { LongPolls } from '#db/changes/long-polls.ts'
import { SharedLogReads } from '#db/changes/shared-log-reads.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import type { DumpCtx, DumpMaker } from '#dumps/maker.ts'
import type { MarketCtx, MarketNode } from '#market/marketplace-types.ts'
import type { PhotoCtx, PhotoNode } from '#photos/photo-types.ts'
import type { PriceArchive } from '#prices/archive/price-archive.ts'
import type { PriceRules } from '#prices/evidence/hold.ts'
import type { EventFeed } from '#webhooks/event-feed.ts'
import type { FeedCtx, WebhookCtx, WebhookRules } from '#webhooks/webhook-types.ts'
import type { SandboxCtx } from '#sandbox/sandbox-context.ts'
import type { Sandboxes } from '#sandbox/sandboxes.ts'
import type { World } from '#sandbox/world.ts'
import type { ApiRequest } from '#http/respond.ts'
import { writeHeadersOf } from '#http/write-headers.ts'

export interface PublicCtx
  extends WriteCtx,
    DumpCtx,
    CatalogueNode,
    MarketUse,
    HasPrecondition,
    WebhookCtx,
    MarketCtx,
    MeCtx,
    FeedCtx,
    PhotoCtx,
    SandboxCtx {
  viewer: Viewer
  db: Db
  now: () => Date
  currencies: Readonly<Record<Market, string>>
  rules: PriceRules
  polls: LongPolls
  logReads: SharedLogReads
  archive: PriceArchive
}

/** The parts of the node that the context uses. */
export interface PublicContextNode extends MarketNode, PhotoNode {
  config: { sourceCurrencies: Readonly<Record<Market, string>>; priceRules: PriceRules; rateLimits: MeCtx['rateLimits'] }
  keys: Pick<Keyring, 'usage'>
  db: Db
  feed: Pick<ChangeFeed, 'pull'>
  polls: LongPolls
  dumps: DumpMaker
  archive: PriceArchive
  catalogue: Catalogue
  webhooks: WebhookRules
  events: EventFeed
  now: () => Date
  /** null inside of a sandbox */
  sandboxes: Sandboxes | null
  /** the sandbox, inside of one; null outside */
  world: () => World | null
}

/** Creates the context of a request that passed the gate. */
export function publicContext(node: PublicContextNode): (viewer: Viewer, request: ApiRequest) => PublicCtx {
  const { config, keys, db, feed, polls, dumps, archive, catalogue, webhooks, events, market, listings, photos, now, sandboxes } = node
  const caughtUp = () => feed.pull()
  const logReads = new SharedLogReads(db)
  return (viewer, request) => {
    return {
      db,
      viewer,
      now,
      requestId: request.id,
      ...writeHeadersOf(request, viewer),
      caughtUp,
      catalogue,
      mayUse: (market) => catalogue.shows(market),
      webhooks,
      events,
      onDisconnect: request.onDisconnect,
      market,
      listings,
      photos,
      currencies: config.sourceCurrencies,
      rules: config.priceRules,
      rateLimits: config.rateLimits,
      usage: keys.usage!,
      polls,
      logReads,
      dumps,
      archive,
      sandboxes,
      world: node.world(),
    }
  }
}
