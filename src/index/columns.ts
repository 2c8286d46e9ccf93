// Growable typed columns: one number per row.

export type Column = Int32Array | Float64Array | Uint8Array | Uint16Array | Uint32Array

/** Columns of so many entries grow by a sixteenth, as room for later weighs more than copying by then; others by a quarter. */
const LARGE = 2 ** 20

/**
 * The column itself when it holds `length` entries, else a copy that has them and room for some more (16 or more in
 * all); entries beyond the old end hold `fill`.
 */
export function grown<C extends Column>(column: C, length: number, fill = 0): C {
  if (length <= column.length) return column
  const make = column.constructor as new (length: number) => C
  const share = column.length < LARGE ? 4 : 16
  const larger = new make(Math.max(16, length, Math.ceil(column.length * (1 + 1 / share))))
  larger.set(column)
  if (fill !== 0) larger.fill(fill, column.length)
  return larger
}
