// A small node for tests of accounts: a pool, a change feed, the keyrings and the operator's listener, with a clock that tests set.
import { apiKeyring, consoleSessions, operatorTokens, sellerSessions } from '#accounts/keys/keyring.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { openSealing } from '#core/sealing.ts'
import { ChangeFeed, CHANGES_CHANNEL } from '#db/changes/change-feed.ts'
import { readConfig } from '#config.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { DumpMaker } from '#dumps/maker.ts'
import { openAuditArchive } from '#audit/archive/audit-file.ts'
import { openPhotoFiles } from '#photos/photo-files.ts'
import { SourceFetches } from '#public-sources/source-fetches.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { DumpFolder } from '#dumps/dump-folder.ts'
import { Notices } from '#jobs/notices.ts'
import { Scheduler } from '#jobs/scheduler.ts'
import { openProcessMetrics } from '#operator/metrics.ts'
import { operatorServer } from '#operator/server.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { webhookRules } from '#webhooks/rules.ts'
import { Clock, type Reply, send as sendTo, type Sending, silent } from '../support/node.ts'

/** The caller of a keyring outside of a request. */
export const CALLER = { ip: '192.0.2.1', socket: {}, headers: {} }
export const BOOTSTRAP_TOKEN = 'bootstrap token of the tests'
export type TestNode = Awaited<ReturnType<typeof openNode>>

/** A node on the database; several nodes on one database follow each other's changes. */
export async function openNode(databaseUrl: string, clock = new Clock()) {
  const db = openPool<Schema>({ url: databaseUrl, max: 12, applicationName: 'mintmark-test' })
  const feed = new ChangeFeed(db, { warn: () => {}, info: () => {} })
  await feed.open()
  const { now } = clock
  const keys = apiKeyring({ db, log: silent, now })
  const operators = operatorTokens({ db, log: silent, now }, BOOTSTRAP_TOKEN)
  const sessions = consoleSessions({ db, log: silent, now }, BOOTSTRAP_TOKEN)
  const sellers = sellerSessions({ db, log: silent, now })
  for (const follower of [keys, operators, sessions, sellers]) feed.add(follower)
  const scheduler = new Scheduler(silent)
  const notices = new Notices(db)
  notices.follow(CHANGES_CHANNEL, () => feed.noticed())
  scheduler.add({ name: 'change-feed', intervalMs: 400, run: () => feed.pull() })
  const config = readConfig({ DATABASE_URL: databaseUrl, TRUST_PROXY: 'loopback' })
  const webhooks = webhookRules(config, db, silent, () => [])
  const catalogue = new Catalogue(db, { ...config, readyBytesMb: 1, now })
  const requests = new RequestCounts()
  const measured = {
    catalogue,
    images: null,
    requests,
    limits: { countedAlone: 0 },
    feed,
    scheduler,
    keys,
    operators,
    consoleSessions: sessions,
    sellerSessions: sellers,
  }
  const metrics = openProcessMetrics(measured, null)
  const archive = openPriceArchive(config)
  const app = await operatorServer({
    config,
    db,
    log: silent,
    feed,
    keys,
    operators,
    consoleSessions: sessions,
    processMetrics: async () => [await metrics()],
    now,
    webhooks,
    peopleSealing: openSealing(() => 'secret key of these tests', 'mintmark totp secrets'),
    signInSealing: openSealing(() => 'secret key of these tests', 'mintmark sign-in cookies'),
    market: config,
    catalogue,
    dumps: new DumpMaker({ ...config, db, log: silent, now, store: new DumpFolder(config.dumpsDir), archive, currencies: config.sourceCurrencies }),
    fetches: new SourceFetches({ db, log: silent, now, folder: config.sourcesDir, network: { ...webhooks, mirror: null } }),
    requests,
    archive,
    auditArchive: openAuditArchive(config),
    sandboxes: { remove: async () => {} },
    photos: { files: openPhotoFiles(config), perAccount: config.photosPerAccount },
    openImages: () => Promise.reject(new Error('no images in these tests')),
  })
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  const ctx: PriceWriteCtx = {
    rules: config.priceRules,
    db,
    viewer: { kind: 'operator', name: 'test' },
    now,
    requestId: null,
    idempotency: null,
    caughtUp: () => feed.pull(),
  }
  const close = async () => {
    await app.close()
    await scheduler.stop()
    notices.close()
    await feed.close()
    await keys.close()
    await operators.close()
    await sessions.close()
    await db.close()
  }
  return { db, feed, keys, operators, ctx, clock, baseUrl, close }
}

/** Sends a request with the bootstrap token. */
export function send(
  node: TestNode,
  method: string,
  path: string,
  { token = BOOTSTRAP_TOKEN, ...sending }: Omit<Sending, 'method'> & { token?: string } = {},
): Promise<Reply<never>> {
  return sendTo(node.baseUrl + path, token, { method, ...sending })
}
