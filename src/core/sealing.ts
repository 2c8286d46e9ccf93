// Secrets that are stored: encrypted at rest with a key that is not in the database.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { secretBytes } from '#core/process/secret-bytes.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts and decrypts secrets of accounts or people. A secret that was encrypted for one owner cannot be decrypted for another. */
export interface Sealing {
  seal(secret: string, ownerId: number): Buffer
  /** @throws Error if it was encrypted with another key or for another owner */
  unseal(sealed: Buffer, ownerId: number): string
}

/**
 * @param keyText returns the SECRET_KEY; called at the first use, because it may have to be generated
 * @param purpose what is encrypted: each purpose has its own key
 */
export function openSealing(
  keyText: () => string,
  purpose: 'mintmark webhook secrets' | 'mintmark totp secrets' | 'mintmark sign-in cookies',
): Sealing {
  let derived: Buffer | null = null
  const key = () => (derived ??= Buffer.from(hkdfSync('sha256', keyText(), '', purpose, 32)))
  return {
    seal(secret, ownerId) {
      const nonce = secretBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(String(ownerId)))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text])
    },
    unseal(sealed, ownerId) {
      const decipher = createDecipheriv('aes-256-gcm', key(), sealed.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(String(ownerId)))
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const start = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([start, decipher.final()]).toString('utf8')
    },
  }
}
