// Texts as UTF-8 bytes, so that texts that are only copied or compared are never decoded.

/** A UTF-8 text within a larger buffer. */
export interface Utf8 {
  bytes: Buffer
  from: number
  /** exclusive end */
  to: number
}

/** The bytes of a text, in memory of their own. */
export function utf8(text: string): Utf8 {
  const bytes = Buffer.from(text)
  return { bytes, from: 0, to: bytes.length }
}

/** A copy of the text in memory of its own. */
export function copyOf({ bytes, from, to }: Utf8): Utf8 {
  return { bytes: Buffer.from(bytes.subarray(from, to)), from: 0, to: to - from }
}

export function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString()
}
