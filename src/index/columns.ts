// Growable typed columns: one number per row, in arrays that grow by a quarter when a row lies past their end.

export type Column = Int32Array | Float64Array | Uint8Array | Uint32Array

/**
 * The column itself when it holds `length` entries, else a copy at least a quarter longer (and 16 or
 * more); entries beyond the old end hold `fill`.
 */
export function grown<C extends Column>(column: C, length: number, fill = 0): C {
  if (length <= column.length) return column
  const make = column.constructor as new (length: number) => C
  const larger = new make(Math.max(16, length, Math.ceil(column.length * 1.25)))
  larger.set(column)
  if (fill !== 0) larger.fill(fill, column.length)
  return larger
}
