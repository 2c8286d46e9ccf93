// What the webhooks take from a node: its settings, its own addresses, and the key of the stored secrets.
import { mkdirSync } from 'node:fs'
import pg from 'pg'
import type { Config } from '#config.ts'
import type { Log } from '#core/context.ts'
import { ensureSecret } from '#db/data-dir.ts'
import type { Db } from '#db/schema.ts'
import { openResolver } from '#outbound/resolve.ts'
import { openGuard } from '#outbound/target-guard.ts'
import { openSealing, type Sealing } from './sealed-secret.ts'
import type { WebhookRules } from './types.ts'

const KEY_FILE = 'secret.key'

/** @param listening ports that the node listens on by now */
export function webhookRules(config: Config, db: Db, log: Log, listening: () => number[]): WebhookRules {
  const guard = openGuard({
    allowCidrs: config.webhookAllowCidrs,
    allowHttp: config.webhookAllowHttp,
    ownPorts: () => [config.port, config.operatorPort, ...listening()],
    databasePort: new pg.Client({ connectionString: db.pool.options.connectionString }).port,
  })
  return { guard, sealing: openSealing(() => config.secretKey ?? ownKey(config, log)), resolve: openResolver(), zone: config.timeZone }
}

function ownKey({ dataDir, databaseUrl }: Config, log: Log): string {
  if (databaseUrl) log.warn({ dataDir }, 'SECRET_KEY is not set: a key in DATA_DIR encrypts webhook secrets; other machines need the same')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  return ensureSecret(dataDir, KEY_FILE)
}

/** @throws Error of one sentence when the stored secrets were encrypted with another key */
export async function checkSealing(db: Db, sealing: Sealing): Promise<void> {
  const row = await db.kysely.selectFrom('webhooks').select(['account_id', 'sealed_secret']).limit(1).executeTakeFirst()
  if (!row) return
  try {
    sealing.unseal(row.sealed_secret, row.account_id)
  } catch (error) {
    const problem = 'The stored webhook secrets were encrypted with another key'
    throw new Error(`${problem}: set the old SECRET_KEY, or copy ${KEY_FILE} from the old DATA_DIR`, { cause: error })
  }
}
