// RowBits compared with a Set of numbers, under random changes and set operations.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowBits } from '#index/bits.ts'

const row = fc.integer({ min: 0, max: 300 })
const rows = fc.array(row, { maxLength: 80 })
const change = fc.oneof(
  fc.record({ kind: fc.constantFrom('add', 'delete'), row }),
  fc.record({ kind: fc.constantFrom('and', 'or', 'andNot', 'intersection', 'filter'), rows }),
  fc.record({ kind: fc.constant('clear') }),
  fc.record({ kind: fc.constant('read') }),
)

const sorted = (set: Iterable<number>): number[] => [...set].sort((a, b) => a - b)

test('has the same content as a plain set, and readers catch up by the journal', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      let bits = new RowBits()
      let plain = new Set<number>()
      let reader = { version: bits.version, rows: new Set<number>() }
      for (const step of changes) {
        if ('row' in step && step.kind === 'add') {
          expect(bits.add(step.row)).toBe(!plain.has(step.row))
          plain.add(step.row)
        } else if ('row' in step) {
          expect(bits.delete(step.row)).toBe(plain.delete(step.row))
        } else if ('rows' in step) {
          const other = RowBits.of(Int32Array.from(step.rows))
          const others = new Set(step.rows)
          expect(other.size).toBe(others.size)
          if (step.kind === 'or') {
            bits.or(other)
            plain = plain.union(others)
          } else if (step.kind === 'andNot') {
            bits.andNot(other)
            plain = plain.difference(others)
          } else {
            plain = plain.intersection(others)
            if (step.kind === 'and') bits.and(other)
            else {
              bits = step.kind === 'filter' ? bits.filter((one) => others.has(one)) : RowBits.intersection(bits, other)
              reader = { version: bits.version, rows: new Set(bits.toRows()) }
            }
          }
        } else if (step.kind === 'clear') {
          bits.clear()
          plain.clear()
        } else {
          const isComplete = bits.changesSince(reader.version, (changed, added) => {
            if (added) reader.rows.add(changed)
            else reader.rows.delete(changed)
          })
          if (!isComplete) reader.rows = new Set(bits.toRows())
          reader.version = bits.version
          expect(sorted(reader.rows)).toEqual(sorted(plain))
        }
        expect(bits.size).toBe(plain.size)
        expect([...bits.toRows()]).toEqual(sorted(plain))
      }
      const visited: number[] = []
      bits.forEach((each) => visited.push(each))
      expect(visited).toEqual(sorted(plain))
      const all = Int32Array.from({ length: 400 }, (_, each) => each)
      expect(bits.countIn(all)).toBe(plain.size)
      expect([...all].filter((each) => bits.has(each))).toEqual(sorted(plain))
    }),
  )
})

test('a reader that is too far behind the journal must start over', () => {
  const bits = new RowBits()
  const visit = (): void => {}
  expect(bits.changesSince(bits.version, visit)).toBe(true)
  const seen = bits.version
  for (let each = 0; each < 4096; each++) bits.add(each)
  let visited = 0
  expect(bits.changesSince(seen, () => visited++)).toBe(true)
  expect(visited).toBe(4096)
  bits.add(4096)
  expect(bits.changesSince(seen, visit)).toBe(false)
  expect(bits.changesSince(seen + 1, visit)).toBe(true)
})

test('selects the rows that pass conditions on columns', () => {
  const numbers = fc.array(fc.integer({ min: -1, max: 4 }), { minLength: 301, maxLength: 301 })
  const passes = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 })
  fc.assert(
    fc.property(rows, numbers, numbers, passes, passes, passes, (among, first, second, firstPasses, both, bothToo) => {
      const [column, groups] = [Int32Array.from(first), Uint16Array.from(second, (group) => Math.max(0, group % 2))]
      const bits = RowBits.of(Int32Array.from(among))
      const found = bits.having([
        { column, passes: Uint8Array.from(firstPasses, Number) },
        { column: Int32Array.from(second), passes: Uint8Array.from([...both, ...bothToo], Number), by: { column: groups, width: 6 } },
      ])
      const expected = new Set(among.filter((at) => firstPasses[first[at]! + 1] || (groups[at] === 1 ? bothToo : both)[second[at]! + 1]))
      expect([found.toRows().join(), found.size]).toEqual([sorted(expected).join(), expected.size])
    }),
  )
})
