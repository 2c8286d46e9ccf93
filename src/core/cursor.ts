// Cursors as clients see them: opaque texts of a few values, refused unless they are exactly as we write them.

const VERSION = 1

/** A cursor that holds these values. */
export function writeCursor(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([VERSION, ...parts])).toString('base64url')
}

/** The values in a cursor, null for a text that `writeCursor` did not make. */
export function readCursor(cursor: string): unknown[] | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  // Decoding skips characters that are not base64url: accept only a cursor as we write it.
  if (Buffer.from(text).toString('base64url') !== cursor) return null
  let parts: unknown
  try {
    parts = JSON.parse(text)
  } catch {
    return null
  }
  return Array.isArray(parts) && parts[0] === VERSION ? (parts.slice(1) as unknown[]) : null
}
