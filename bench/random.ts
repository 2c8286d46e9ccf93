// Reproducible random numbers, so that runs can be compared.

/** Numbers from 0 to 1 by seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Shuffles in place. */
export function shuffled<T>(list: T[]): T[] {
  const random = randomNumbers(list.length)
  for (let i = list.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1))
    const moved = list[i]!
    list[i] = list[j]!
    list[j] = moved
  }
  return list
}
