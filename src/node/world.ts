// Opens a sandbox: a node without timers on a database of its own, whose clock does not run until it is advanced.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { changeAccount } from '#accounts/change-account.ts'
import type { RateLimits } from '#accounts/limits/rate-limits.ts'
import type { Log } from '#core/context.ts'
import { machineNow } from '#core/process/time-and-chance.ts'
import type { Plan } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { Viewer } from '#core/verb.ts'
import { migrate } from '#db/migrate.ts'
import type { Db } from '#db/schema.ts'
import type { LiveConfig } from '#live-settings/changeable.ts'
import { liveConfig } from '#live-settings/live-config.ts'
import type { OpenWorld } from '#sandbox/sandboxes.ts'
import type { World } from '#sandbox/world.ts'
import type { NodeCtx } from './context.ts'
import { dueWork } from './due-work.ts'
import { createParts, type NodeParts } from './parts.ts'

/** Memory for cached responses of a sandbox: it has few items, and few requests. */
const READY_BYTES_MB = 1

/** Retries are due exactly after their delay: the same periods must give the same times, however they are divided. */
const noDelay = () => 0

/** Of the service's own node, what its sandboxes share with it. */
export interface WorldHost {
  config: LiveConfig
  log: Log
  /** requests in sandboxes count as requests of their account */
  limits: RateLimits
  ports: () => number[]
  publicUrl: () => string | null
}

/** Opens sandboxes as parts of this node. */
export function worldOpener(host: WorldHost): OpenWorld {
  return async ({ db, id, generation, accountId, now: start, home }) => {
    await migrateIfOlder(db, host.log)
    let atMs = start.getTime()
    const clock: World['clock'] = {
      now: () => new Date(atMs),
      moveTo: (to) => {
        atMs = Math.max(atMs, to.getTime())
      },
    }
    const config = worldConfig(host.config, `${id}_${generation}`)
    const parts = createParts({
      config,
      db,
      log: host.log,
      now: clock.now,
      random: noDelay,
      ports: host.ports,
      publicUrl: host.publicUrl,
      test: true,
    })
    const node: NodeParts = { ...parts, limits: host.limits }
    const { feed, catalogue, listings, market } = node
    await feed.open()
    await catalogue.load()
    await listings.load()
    await feed.pull()
    const bare = { db, now: clock.now, requestId: null, idempotency: null, precondition: null, market, rules: config.priceRules, config }
    const ctx = (viewer: Viewer): NodeCtx => ({ ...bare, caughtUp: () => feed.pull(), viewer })
    const operator = { ...ctx({ kind: 'operator', name: 'sandbox' }), catalogue }
    const world: World = {
      id,
      accountId,
      generation,
      home,
      db,
      clock,
      operator,
      work: dueWork(node, ctx({ kind: 'operator', name: 'worker' }), machineNow),
      catchUp: async () => {
        await feed.pull()
        catalogue.followClock()
        node.events.look()
      },
      usePlan: planFollower(operator, accountId),
      handle: (request, response) => void app.server.emit('request', request, response),
      close: async () => {
        node.polls.close()
        await app.close()
        await feed.close()
        await node.dumps.close()
        await node.keys.close().catch(() => {})
        await db.close()
        // Nothing is stored there, but parts of the node may create their folders.
        rmSync(config.dumpsDir, { recursive: true, force: true })
      },
    }
    const { publicServer } = await import('../public.ts')
    const app = await publicServer({
      ...node,
      images: null,
      notReady: () => null,
      demoKey: null,
      testKeys: null,
      livemode: false,
      sandboxes: null,
      world: () => world,
    })
    return world
  }
}

/** A sandbox of an earlier release is brought up to date when it is first opened; one of a later release is used as it is, as in a rolling upgrade. */
async function migrateIfOlder(db: Db, log: Log): Promise<void> {
  await migrate(db).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.startsWith('The database is newer'))) throw error
    log.info({}, 'A sandbox has the schema of a later release')
  })
}

/** The service's settings, without those that need files or send requests in the background: any node must be able to open the sandbox. */
function worldConfig(config: LiveConfig, name: string): LiveConfig {
  const folder = join(config.dataDir, 'sandboxes', name)
  return {
    ...liveConfig(config),
    alone: true,
    dumpHour: null,
    dumpsS3: null,
    dumpsDir: folder,
    archiveDir: folder,
    photosDir: folder,
    photosPerAccount: 0,
    copyPictures: false,
    priceArchiveMonths: 0,
    auditArchiveMonths: 0,
    startFileMinutes: 0,
    imageProxy: false,
    readyBytesMb: READY_BYTES_MB,
    notify: { webhook: null, email: null },
    demo: false,
  }
}

function planFollower(operator: NodeCtx, accountId: number): (plan: Plan) => Promise<void> {
  let known: Plan | null = null
  return async (plan) => {
    if (plan === known) return
    const account = await operator.db.kysely.selectFrom('accounts').select('plan').where('id', '=', accountId).executeTakeFirst()
    if (account && account.plan !== plan) await call(changeAccount, operator, { id: accountId, plan })
    known = plan
  }
}
