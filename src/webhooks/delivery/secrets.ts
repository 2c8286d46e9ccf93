// Secrets that sign an account's webhooks: generating and unsealing them, and who may see them.
import { secretNumber } from '#core/process/secret-bytes.ts'
import { DAY_MS } from '#core/duration.ts'
import type { Sealing } from '#core/sealing.ts'
import { maySeeSecrets, type Viewer } from '#core/verb.ts'
import type { Secrets } from './sign.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 48

/** How long the previous secret signs beside the current one after a rotation. */
export const OVERLAP_MS = DAY_MS

export function newSecret(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[secretNumber(ALPHABET.length)]).join('')
}

export interface SealedSecrets {
  accountId: number
  sealedSecret: Buffer
  /** the secret before a rotation, while it is valid */
  previousSealedSecret: Buffer | null
}

export function secretsOf({ accountId, sealedSecret, previousSealedSecret }: SealedSecrets, sealing: Sealing): Secrets {
  return {
    current: sealing.unseal(sealedSecret, accountId),
    previous: previousSealedSecret && sealing.unseal(previousSealedSecret, accountId),
  }
}

/** The webhook as its caller may see it. Applied to stored results, too: the key may have been restricted since. */
export function visibleTo<T extends { secret: string | null }>(viewer: Viewer, webhook: T): T {
  return maySeeSecrets(viewer) ? webhook : { ...webhook, secret: null }
}
