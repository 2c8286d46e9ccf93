// SortedRows compared with sorting and slicing plain arrays, under interleaved changes of keys, rows and filters.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RowBits } from '#index/bits.ts'
import { SortedRows } from '#index/order.ts'
import { rowsOf } from '../support/runs.ts'

/** Deterministic numbers from 0 to below `range`. */
function dice(seed: number): (range: number) => number {
  let state = seed | 0
  return (range) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return Math.floor(((state >>> 0) / 2 ** 32) * range)
  }
}

/** An order by `keys[row]`, then row, with the set of rows that it should contain. */
function fixture() {
  const keys: number[] = []
  const present = new Set<number>()
  const compare = (a: number, b: number): number => keys[a]! - keys[b]! || a - b
  const order = new SortedRows(compare)
  const naive = (filter: RowBits | null): number[] => [...present].filter((row) => filter === null || filter.has(row)).sort(compare)
  return { keys, present, compare, order, naive }
}

describe.each([
  { rows: 40, span: 8, steps: 200, perStep: 6 },
  { rows: 3000, span: 500, steps: 60, perStep: 40 },
  { rows: 6000, span: 1e9, steps: 40, perStep: 400 },
  { rows: 4000, span: 1e9, steps: 25, perStep: 2000 },
])('with $rows rows and keys below $span', ({ rows, span, steps, perStep }) => {
  test.each(rowsOf([1, 2, 3]))('equals filter, sort and slice (seed %i)', (seed) => {
    const roll = dice(seed * 7919)
    const { keys, present, compare, order, naive } = fixture()
    for (let row = 0; row < rows; row++) keys[row] = roll(span)
    for (let row = 0; row < rows; row++) if (roll(3) > 0) present.add(row)
    order.load(Int32Array.from(present), seed === 1 ? (row) => Math.floor(keys[row]! / 4) : undefined)
    // The last filter grows and shrinks across the size up to which a filter counts as sparse.
    const filters = [2, 10, 1.2, rows / 512].map((thinness) => {
      const bits = new RowBits()
      for (let row = 0; row < rows; row++) if (roll(thinness * 100) < 100) bits.add(row)
      return bits
    })
    for (let step = 0; step < steps; step++) {
      for (let each = roll(perStep); each > 0; each--) {
        const row = roll(rows)
        const what = roll(5)
        if (what < 3) {
          keys[row] = what === 0 ? span / 2 + 1 / (step + each + 2) : roll(span)
          present.add(row)
          order.mark(row)
        } else if (what === 3) {
          // A dropped row may be reused: its key may be anything by the time the order is repaired.
          present.delete(row)
          order.drop(row)
          keys[row] = Number.NaN
        } else {
          const filter = filters[roll(filters.length)]!
          if (!filter.delete(row)) filter.add(row)
        }
      }
      if (step % 10 === 9) filters[0]!.or(RowBits.of(Int32Array.of(roll(rows), roll(rows))))
      expect(order.size).toBe(present.size)
      for (const filter of [null, ...filters]) {
        const expected = naive(filter)
        const offset = roll(expected.length + 5)
        const limit = 1 + roll(30)
        expect(Array.from(order.slice(filter, offset, limit))).toEqual(expected.slice(offset, offset + limit))
        expect(Array.from(order.slice(filter, 0, limit))).toEqual(expected.slice(0, limit))

        const cursor = roll(span)
        const after = expected.filter((row) => keys[row]! > cursor)
        const page = order.sliceAfter((row) => keys[row]! - cursor, filter, limit)
        expect([...page.rows]).toEqual(after.slice(0, limit))
        expect(page.more).toBe(after.length > limit)
        expect(order.rank(filter, (row) => keys[row]! - cursor, true)).toBe(expected.length - after.length)
        expect(order.rank(filter, (row) => keys[row]! - cursor, false)).toBe(expected.filter((row) => keys[row]! < cursor).length)
      }
      const low = roll(span)
      const high = low + roll(span / 2)
      const from = roll(4) ? (row: number): number => keys[row]! - low : null
      const to = roll(4) ? (row: number): number => keys[row]! - high : null
      const inRange = naive(null).filter((row) => (!from || keys[row]! >= low) && (!to || keys[row]! <= high))
      expect(order.countRange(from, to)).toBe(inRange.length)
      expect([...order.collectRange(from, to, new RowBits()).toRows()]).toEqual(inRange.sort((a, b) => a - b))

      const hits = [...present].filter(() => roll(4) === 0)
      const ranked = hits.toSorted(compare)
      expect([...order.sortRows(Int32Array.from(hits))]).toEqual(ranked)
      const offset = roll(ranked.length + 3)
      expect([...order.firstRows(Int32Array.from(hits), offset, 20)]).toEqual(ranked.slice(offset, offset + 20))
    }
    expect(Array.from(order.slice(null, 0, rows))).toEqual(naive(null))
  })
})

test.each([
  ['always at the same place', (at: number) => (at < 1000 ? (at % 2 ? 1e12 : 0) : 1e6 - at)],
  ['always at the start', (at: number) => -at],
  ['always at the end', (at: number) => at],
])('stays correct when 30,000 rows are added one by one, %s', (_, keyOf) => {
  const { keys, order, compare } = fixture()
  for (let row = 0; row < 30_000; row++) {
    keys[row] = keyOf(row)
    order.mark(row)
    if (row % 3 === 0) expect(order.size).toBe(row + 1)
  }
  const all = order.slice(null, 0, 30_000)
  expect([...all]).toEqual(Array.from(keys, (_key, row) => row).sort(compare))
  expect(order.sortRows(Int32Array.from(keys.keys()))).toEqual(all)
})

test('rows that are removed and added again, or marked and removed, are handled correctly', () => {
  const { keys, order } = fixture()
  keys.push(3, 2, 1)
  order.load(Int32Array.of(0, 1, 2))
  order.drop(0)
  keys[0] = 0
  order.mark(0)
  order.mark(1)
  order.drop(1)
  order.drop(7)
  expect(Array.from(order.slice(null, 0, 9))).toEqual([0, 2])
})

test('an empty order, and one that became empty, have empty pages', () => {
  const { keys, order } = fixture()
  const bits = RowBits.of(Int32Array.of(1, 2))
  const expectEmpty = (): void => {
    expect(order.slice(null, 0, 10)).toHaveLength(0)
    expect(order.slice(bits, 0, 10)).toHaveLength(0)
    expect(order.sliceAfter(() => 1, bits, 10)).toEqual({ rows: new Int32Array(0), more: false })
    expect(
      order.countRange(
        () => 0,
        () => 0,
      ),
    ).toBe(0)
  }
  expectEmpty()
  keys.push(1, 1, 1)
  for (let row = 0; row < 3; row++) order.mark(row)
  expect(order.size).toBe(3)
  for (let row = 0; row < 3; row++) order.drop(row)
  expectEmpty()
})

test('loading by key column sorts like the comparator', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 200 }), (numbers) => {
      const { keys, order, compare } = fixture()
      keys.push(...numbers)
      const rows = Int32Array.from(numbers, (_, row) => row)
      order.load(rows, (row) => Math.floor(keys[row]! / 10))
      expect(Array.from(order.slice(null, 0, rows.length))).toEqual([...rows].sort(compare))
    }),
  )
})
