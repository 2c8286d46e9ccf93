// The key that encrypts stored secrets: the configured one, otherwise one generated on this machine.
import { mkdirSync } from 'node:fs'
import type { Config } from '#config.ts'
import type { Log } from '#core/context.ts'
import { ensureSecret } from './local/data-dir.ts'

const KEY_FILE = 'secret.key'

/** What to do if stored secrets cannot be decrypted. */
export const WRONG_KEY_ADVICE = `set the old SECRET_KEY, or copy ${KEY_FILE} from the old DATA_DIR`

/** Returns the key; without a configured one, it is generated at the first use. */
export type SecretKey = () => string

/** The configured key, otherwise a key in the data directory; warns if other machines would have another. */
export function secretKeyOf({ secretKey, dataDir, databaseUrl }: Pick<Config, 'secretKey' | 'dataDir' | 'databaseUrl'>, log: Log): SecretKey {
  let found = secretKey
  return () => {
    if (found !== null) return found
    if (databaseUrl) log.warn({ dataDir }, 'SECRET_KEY is not set; using the key in DATA_DIR, which other nodes need too')
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return (found = ensureSecret(dataDir, KEY_FILE))
  }
}
