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

/** The column itself if it can hold this value exactly, otherwise a copy of a wider type. */
export function fitting<C extends Column>(column: C, value: number): C | Uint32Array | Float64Array {
  if (column instanceof Float64Array || (value >= 0 && value < 2 ** (8 * column.BYTES_PER_ELEMENT) && Number.isInteger(value))) return column
  return column.BYTES_PER_ELEMENT < Uint32Array.BYTES_PER_ELEMENT ? fitting(Uint32Array.from(column), value) : Float64Array.from(column)
}

/** A copy without spare entries that consists of the entries at these positions. */
export function entriesAt<C extends Column>(column: C, positions: Uint32Array): C {
  const copy = new (column.constructor as new (length: number) => C)(positions.length)
  for (let to = 0; to < positions.length; to++) copy[to] = column[positions[to]!]!
  return copy
}
