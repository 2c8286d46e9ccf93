// Text for LIKE patterns.

/** The text with the signs that LIKE gives a meaning to made plain. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
