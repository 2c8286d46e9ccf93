// Growable typed columns: one number per row.

export type Column = Int32Array | Float64Array | Uint8Array | Uint16Array | Uint32Array

/** Columns of this size grow by a sixteenth, because spare memory costs more than copying; smaller ones grow by a quarter. */
const LARGE = 2 ** 20

/**
 * The column itself if it has `length` entries, otherwise a larger copy with spare entries (16 or more in
 * total); entries beyond the old end are `fill`.
 */
export function withCapacity<C extends Column>(column: C, length: number, fill = 0): C {
  if (length <= column.length) return column
  const make = column.constructor as new (length: number) => C
  const share = column.length < LARGE ? 4 : 16
  const larger = new make(Math.max(16, length, Math.ceil(column.length * (1 + 1 / share))))
  larger.set(column)
  if (fill !== 0) larger.fill(fill, column.length)
  return larger
}
