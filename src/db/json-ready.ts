// Rows of the database as JSON carries them.

type Iso<Value> = Value extends Date ? string : Value
type JsonReady<Row> = { [Name in keyof Row]: Iso<Row[Name]> }

/** A row with its moments as ISO text, so that a result read back from the idempotency store is the same as a fresh one. */
export function jsonReady<Row extends object>(row: Row): JsonReady<Row> {
  const entries = Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value])
  return Object.fromEntries(entries) as JsonReady<Row>
}
