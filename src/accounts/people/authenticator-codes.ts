// Codes of authenticator apps (TOTP): setting up the secret, and accepting each code once.
import { Secret, TOTP } from 'otpauth'
import type { Sealing } from '#core/sealing.ts'
import type { Db, Queryable } from '#db/schema.ts'
import { WRONG_KEY_ADVICE } from '#db/secret-key.ts'

const STEP_MS = 30_000
/** Codes of the previous and next step are also accepted, because clocks differ. */
const WINDOW = 1

export interface AppSecret {
  /** in base 32, to type in */
  secret: string
  /** the same as an `otpauth://` URI, to scan as a QR code */
  uri: string
}

export function newAppSecret(name: string): AppSecret {
  const totp = new TOTP({ issuer: 'Mintmark', label: name, secret: new Secret({ size: 20 }) })
  return { secret: totp.secret.base32, uri: totp.toString() }
}

/** The step of this code; null if it is not a currently valid code. */
export function stepOf(code: string, secret: string, now: Date): number | null {
  const digits = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(digits)) return null
  const timestamp = now.getTime()
  const delta = new TOTP({ secret }).validate({ token: digits, timestamp, window: WINDOW })
  return delta === null ? null : Math.floor(timestamp / STEP_MS) + delta
}

/** Whether the code is valid for the person and was not used before; marks it as used. */
export async function acceptCode(
  on: Queryable,
  { id, totp_secret: sealed }: { id: number; totp_secret: Buffer },
  code: string,
  { sealing, now }: { sealing: Sealing; now: Date },
): Promise<boolean> {
  const step = stepOf(code, sealing.unseal(sealed, id), now)
  if (step === null) return false
  const accept = on.updateTable('people').set({ totp_step: step }).where('id', '=', id).where('totp_step', '<', step)
  return (await accept.returning('id').executeTakeFirst()) !== undefined
}

/** @throws Error of one sentence if the stored secrets were encrypted with another key */
export async function checkPeopleSealing({ kysely }: Db, sealing: Sealing): Promise<void> {
  const row = await kysely.selectFrom('people').select(['id', 'totp_secret']).where('totp_secret', 'is not', null).limit(1).executeTakeFirst()
  if (!row) return
  try {
    sealing.unseal(row.totp_secret!, row.id)
  } catch (error) {
    throw new Error(`The stored authenticator app secrets were encrypted with a different key: ${WRONG_KEY_ADVICE}`, { cause: error })
  }
}
