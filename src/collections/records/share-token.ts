// The token of a shared collection: random, and valid from one sharing to the end of it.
import { secretBytes } from '#core/process/secret-bytes.ts'
import type { StoredCollection } from './types.ts'

/** 192 bits: nobody finds a link by trying. */
const BYTES = 24

const TOKEN = /^[\w-]{32}$/

/** Whether a text may be a token; no other is looked up. */
export function isShareToken(text: string): boolean {
  return TOKEN.test(text)
}

/** Where a shared collection is shown, on the public listener. */
export const SHARED_PATH = '/shared/'

/** The token that a collection gets when its visibility is set; undefined if it keeps the one it has. */
export function tokenAfter(
  before: { visibility: StoredCollection['visibility']; token: string | null } | null,
  visibility: StoredCollection['visibility'],
): string | null | undefined {
  if (visibility === 'private') return null
  return before && before.visibility !== 'private' && before.token !== null ? undefined : secretBytes(BYTES).toString('base64url')
}
