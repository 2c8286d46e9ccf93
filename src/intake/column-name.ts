// The name of a column of a user's file as it is compared, shown and stored.

/** Characters of a name that count. */
export const MAX_COLUMN_NAME = 100

/** The name without NUL, which the database does not store, and cut to the characters that count. */
export function columnName(name: string): string {
  return name.replaceAll('\0', '').slice(0, MAX_COLUMN_NAME).toWellFormed()
}
