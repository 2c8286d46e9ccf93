// Webhook secrets: made at random, and encrypted at rest with a key that is not in the database.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomInt } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 48
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts and decrypts the secrets of accounts; what is sealed for one account does not open for another. */
export interface Sealing {
  seal(secret: string, accountId: number): Buffer
  /** @throws Error when it was sealed with another key or for another account */
  unseal(sealed: Buffer, accountId: number): string
}

export function newSecret(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

/** @param keyText gives the SECRET_KEY; asked at the first use, because it may have to be made */
export function openSealing(keyText: () => string): Sealing {
  let derived: Buffer | null = null
  const key = () => (derived ??= Buffer.from(hkdfSync('sha256', keyText(), '', 'mintmark webhook secrets', 32)))
  return {
    seal(secret, accountId) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(String(accountId)))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text])
    },
    unseal(sealed, accountId) {
      const decipher = createDecipheriv('aes-256-gcm', key(), sealed.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(String(accountId)))
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const start = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([start, decipher.final()]).toString('utf8')
    },
  }
}
