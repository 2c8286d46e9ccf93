// Text for LIKE patterns.

/** Escapes the characters that have a meaning in LIKE. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
