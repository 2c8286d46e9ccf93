// Prices in flat columns compared with a map, under random changes and after packing.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PriceTable } from '#catalogue/index/price-table.ts'

/** The last price is too large for the short column. */
const LABELS = [4, 5, 8, 70_000]

test('each row has exactly the prices that were set and not removed', () => {
  const change = fc.record({
    what: fc.constantFrom('set', 'set', 'set', 'set', 'remove', 'clear', 'pack', 'reserve'),
    row: fc.nat(8),
    market: fc.nat(2),
    label: fc.constantFrom(...LABELS),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 150 }), (changes) => {
      const table = new PriceTable()
      const plain = new Map<string, number>()
      for (const [at, { what, row, market, label }] of changes.entries()) {
        if (what === 'set') {
          table.set(row, market, label, at + 0.5, at)
          plain.set(`${row} ${market} ${label}`, at)
        } else if (what === 'remove') {
          table.remove(row, market, label)
          plain.delete(`${row} ${market} ${label}`)
        } else if (what === 'clear') {
          table.clear(row)
          for (const key of plain.keys()) if (key.startsWith(`${row} `)) plain.delete(key)
        } else if (what === 'pack') table.pack()
        else table.reserve(row, at)
      }
      const found = new Map<string, number>()
      for (let row = 0; row <= 8; row += 1) {
        for (let at = table.start(row); at < table.start(row) + table.count(row); at += 1) {
          found.set(`${row} ${table.market[at]} ${table.label[at]}`, table.updatedAtMs[at]!)
          expect(table.minor[at]).toBe(table.updatedAtMs[at]! + 0.5)
          expect(table.find(row, table.market[at]!, table.label[at]!)).toBe(at)
        }
      }
      expect([...found].sort()).toEqual([...plain].sort())
    }),
  )
})
