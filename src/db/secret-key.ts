// The key that encrypts stored secrets: as it is set, else one of this machine's own.
import { mkdirSync } from 'node:fs'
import type { Config } from '#config.ts'
import type { Log } from '#core/context.ts'
import { ensureSecret } from './data-dir.ts'

const KEY_FILE = 'secret.key'

/** What to do where stored secrets cannot be decrypted. */
export const WRONG_KEY_ADVICE = `set the old SECRET_KEY, or copy ${KEY_FILE} from the old DATA_DIR`

/** Gives the key; it is made at the first use, where none is set. */
export type SecretKey = () => string

/** As it is set, else a key in the data directory; warns where other machines would have another. */
export function secretKeyOf({ secretKey, dataDir, databaseUrl }: Pick<Config, 'secretKey' | 'dataDir' | 'databaseUrl'>, log: Log): SecretKey {
  let found = secretKey
  return () => {
    if (found !== null) return found
    if (databaseUrl) log.warn({ dataDir }, 'SECRET_KEY is not set; using the key in DATA_DIR, which other nodes need too')
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return (found = ensureSecret(dataDir, KEY_FILE))
  }
}
