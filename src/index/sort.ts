// Sorts rows by numeric keys without callbacks, and only as far as a page needs it.

/** Ranges up to this length are sorted by insertion. */
const SHORT = 16

/**
 * Reorders `rows` and `keys` (the key of each row, at the same index) by key ascending, so that positions `from`
 * (inclusive) to `to` (exclusive) hold what a full sort would put there; other positions are only partitioned.
 * Not stable: equal keys come in any order.
 */
export function sortByKeys(rows: Int32Array, keys: Float64Array, from = 0, to = rows.length): void {
  if (from < to) sortRange(rows, keys, 0, rows.length - 1, from, to)
}

/** Quicksort of positions low..high (both inclusive) that skips the parts outside the requested window. */
function sortRange(rows: Int32Array, keys: Float64Array, low: number, high: number, from: number, to: number): void {
  while (high - low >= SHORT) {
    const pivot = median(keys[low]!, keys[(low + high) >>> 1]!, keys[high]!)
    let left = low
    let right = high
    while (left <= right) {
      while (keys[left]! < pivot) left++
      while (keys[right]! > pivot) right--
      if (left > right) break
      const row = rows[left]!
      const key = keys[left]!
      keys[left] = keys[right]!
      rows[left++] = rows[right]!
      keys[right] = key
      rows[right--] = row
    }
    const wantLower = right >= from && low < to
    const wantUpper = high >= from && left < to
    if (!wantLower && !wantUpper) return
    // Recursing only into the shorter part keeps the stack depth logarithmic.
    const lowerIsShorter = right - low < high - left
    if (wantLower && wantUpper) {
      if (lowerIsShorter) sortRange(rows, keys, low, right, from, to)
      else sortRange(rows, keys, left, high, from, to)
    }
    if (wantUpper && (!wantLower || lowerIsShorter)) low = left
    else high = right
  }
  for (let at = low + 1; at <= high; at++) {
    const row = rows[at]!
    const key = keys[at]!
    let before = at - 1
    for (; before >= low && keys[before]! > key; before--) {
      rows[before + 1] = rows[before]!
      keys[before + 1] = keys[before]!
    }
    rows[before + 1] = row
    keys[before + 1] = key
  }
}

function median(a: number, b: number, c: number): number {
  return a < b ? (b < c ? b : a < c ? c : a) : a < c ? a : b < c ? c : b
}
