// Shuffles lists reproducibly, so that runs can be compared.
import { randomNumbers } from '#core/random.ts'

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
