// Growable typed columns: one number per row, in arrays that double when a row lies past their end.

export type Column = Int32Array | Float64Array | Uint8Array | Uint32Array

/**
 * The column itself when it holds `length` entries, else a copy at least doubled (to 16 or more);
 * entries beyond the old end hold `fill`.
 */
export function grown<C extends Column>(column: C, length: number, fill = 0): C {
  if (length <= column.length) return column
  const make = column.constructor as new (length: number) => C
  const larger = new make(Math.max(16, length, column.length * 2))
  larger.set(column)
  if (fill !== 0) larger.fill(fill, column.length)
  return larger
}
