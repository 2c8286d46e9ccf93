// What unique indexes refuse: two at once may want one value, and only the index knows who was second.

const UNIQUE_VIOLATION = '23505'

/** The unique index that refused a write; null for every other error. */
export function violatedIndex(error: unknown): string | null {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === UNIQUE_VIOLATION ? (constraint ?? '') : null
}

/** Runs a write. @throws what `refusal` makes of the name of the unique index that refused it, every other error as it is */
export async function mapUniqueViolation<T>(write: () => Promise<T>, refusal: (index: string) => Error | null): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const index = violatedIndex(error)
    throw (index === null ? null : refusal(index)) ?? error
  }
}
