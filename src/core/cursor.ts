// Cursors as clients see them: opaque strings that encode a few values. All other strings are rejected.

const VERSION = 1

/** Encodes values as a cursor. */
export function writeCursor(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([VERSION, ...parts])).toString('base64url')
}

/** Decodes a cursor; null for a string that `writeCursor` did not make. */
export function readCursor(cursor: string): unknown[] | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  // Decoding skips characters that are not base64url: accept only the exact string that we would write.
  if (Buffer.from(text).toString('base64url') !== cursor) return null
  let parts: unknown
  try {
    parts = JSON.parse(text)
  } catch {
    return null
  }
  return Array.isArray(parts) && parts[0] === VERSION ? (parts.slice(1) as unknown[]) : null
}
