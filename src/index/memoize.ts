// Memoises functions of short texts: the cards of a game share a few thousand names, numbers and finishes.

const MAX_CACHED = 20_000

/** Returns a memoised function: texts that recur soon are computed only once. */
export function memoize<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= MAX_CACHED) known.clear()
    const made = make(text)
    known.set(text, made)
    return made
  }
}
