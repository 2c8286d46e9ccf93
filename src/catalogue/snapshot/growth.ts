// Growth of typed arrays that hold one column of a table.

type Column = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array

/** The same column with room for `length` entries: itself where it is long enough, else a copy half as long again. */
export function grown<T extends Column>(column: T, length: number): T {
  if (column.length >= length) return column
  const Kind = column.constructor as new (length: number) => T
  const wider = new Kind(Math.max(length, Math.ceil(column.length * 1.5), 1024))
  wider.set(column as never)
  return wider
}
