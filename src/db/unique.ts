// Maps violations of unique indexes to errors: if two concurrent writes use the same value, only the index knows which one is second.

const UNIQUE_VIOLATION = '23505'

/** The unique index that a write violates; null for every other error. */
export function violatedIndex(error: unknown): string | null {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === UNIQUE_VIOLATION ? (constraint ?? '') : null
}

/** Runs a write. @throws the error that `refusal` returns for the name of the violated index; other errors unchanged */
export async function mapUniqueViolation<T>(write: () => Promise<T>, refusal: (index: string) => Error | null): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const index = violatedIndex(error)
    throw (index === null ? null : refusal(index)) ?? error
  }
}
