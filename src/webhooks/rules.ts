// Webhook settings of a node, its own addresses, and the encryption key of stored secrets.
import pg from 'pg'
import type { Config } from '#config.ts'
import type { Log } from '#core/context.ts'
import { readDatabaseAddress } from '#core/network/database-address.ts'
import { openSealing, type Sealing } from '#core/sealing.ts'
import { secretKeyOf, WRONG_KEY_ADVICE } from '#db/secret-key.ts'
import type { Db } from '#db/schema.ts'
import { openResolver } from '#outbound/resolve.ts'
import { openGuard, type TargetGuard } from '#outbound/target-guard.ts'
import type { WebhookRules } from './webhook-types.ts'

/**
 * @param listening ports that the node listens on
 * @param livemode false in a sandbox
 */
export function webhookRules(config: Config, db: Db, log: Log, listening: () => number[], livemode = true): WebhookRules {
  const guard = guardOf(config, db, listening, config.webhookAllowCidrs)
  const sealing = openSealing(secretKeyOf(config, log), 'mintmark webhook secrets')
  return { guard, sealing, resolve: openResolver(), zone: config.timeZone, livemode }
}

/** @param allowCidrs ranges that are allowed although they are not public */
export function guardOf(config: Config, db: Db, listening: () => number[], allowCidrs: readonly string[]): TargetGuard {
  return openGuard({
    allowCidrs,
    allowHttp: config.webhookAllowHttp,
    ownPorts: () => [config.port, config.operatorPort, ...listening()],
    databasePorts: [config.databaseListenUrl ?? [], config.databaseReplicaUrl ?? [], db.url].flat().flatMap(portsOf),
  })
}

function portsOf(url: string): number[] {
  const { servers } = readDatabaseAddress(url)
  return servers.length > 0 ? servers.map(({ port }) => port) : [new pg.Client({ connectionString: url }).port]
}

/** @throws Error with a one-sentence message if the stored secrets were encrypted with another key */
export async function checkSealing(db: Db, sealing: Sealing): Promise<void> {
  const row = await db.kysely.selectFrom('webhooks').select(['account_id', 'sealed_secret']).limit(1).executeTakeFirst()
  if (!row) return
  try {
    sealing.unseal(row.sealed_secret, row.account_id)
  } catch (error) {
    const problem = 'The stored webhook secrets were encrypted with a different key'
    throw new Error(`${problem}: ${WRONG_KEY_ADVICE}`, { cause: error })
  }
}
