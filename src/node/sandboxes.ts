// The sandboxes of a node: where their databases are, how they are opened, and the task that removes those that are no longer used.
import { createHash } from 'node:crypto'
import { MINUTE_MS } from '#core/duration.ts'
import { migrationNames } from '#db/migrate.ts'
import { SandboxDatabases } from '#sandbox/databases.ts'
import { sampleVersion, templateFiller } from '#sandbox/sample.ts'
import { deleteUnused, usedDatabases } from '#sandbox/sandbox-store.ts'
import { Sandboxes } from '#sandbox/sandboxes.ts'
import type { NodeParts } from './parts.ts'
import { worldOpener } from './world.ts'

const REMOVE_EVERY_MS = MINUTE_MS

/** The sandboxes of the service, none of them open yet. */
export function openSandboxes(node: NodeParts, ports: () => number[], publicUrl: () => string | null): Sandboxes {
  const { config, db, limits, log, now } = node
  const directUrl = config.databaseListenUrl
  const databases = new SandboxDatabases({ db, directUrl, templateVersion, fill: templateFiller(config.priceRules) })
  const open = worldOpener({ config, log, limits, ports, publicUrl })
  return new Sandboxes({ db, log, databases, open, now, max: config.sandboxes })
}

/** Removes sandboxes that were not used for days, and the databases of those that are gone, such as an erased account's. */
export function scheduleSandboxRemoval({ scheduler, db, now }: NodeParts, sandboxes: Sandboxes): void {
  const run = async () => {
    await deleteUnused(db, now())
    await sandboxes.databases.dropOthers(() => usedDatabases(db))
  }
  scheduler.add({ name: 'sandbox-removal', intervalMs: REMOVE_EVERY_MS, run, queue: 'housekeeping' })
}

/** A new schema or another sample makes a new template. */
function templateVersion(): string {
  const hash = createHash('sha256')
  for (const name of migrationNames()) hash.update(name)
  return hash.update(sampleVersion()).digest('hex').slice(0, 12)
}
