// Memoises functions of short texts: the cards of a game share a few thousand names, numbers and finishes.

const MAX_CACHED = 20_000

/** Returns a memoised function: texts that recur soon are computed only once. */
export function memoize<T>(make: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>()
  return (text) => {
    const found = cache.get(text)
    if (found !== undefined) return found
    if (cache.size >= MAX_CACHED) cache.clear()
    const result = make(text)
    cache.set(text, result)
    return result
  }
}
