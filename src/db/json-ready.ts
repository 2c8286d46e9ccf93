// Converts database rows to values that JSON can represent.

type Iso<Value> = Value extends Date ? string : Value
type JsonReady<Row> = { [Name in keyof Row]: Iso<Row[Name]> }

/** A row with its times as ISO text, so that a result from the idempotency store equals a fresh one. */
export function jsonReady<Row extends object>(row: Row): JsonReady<Row> {
  const entries = Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value])
  return Object.fromEntries(entries) as JsonReady<Row>
}
