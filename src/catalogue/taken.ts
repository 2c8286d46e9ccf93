// What a unique index refuses, as an answer for people.
import { conflict } from '#core/errors.ts'

const UNIQUE_VIOLATION = '23505'

/** Runs a write; a ref or slug that is taken (perhaps just now, by another) becomes 409. */
export async function refuseTaken<T>(thing: 'item' | 'category', run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const { code, constraint = '' } = error as { code?: string; constraint?: string }
    if (code !== UNIQUE_VIOLATION) throw error
    throw conflict('taken', { thing, field: constraint.includes('slug') ? 'slug' : 'ref' })
  }
}
