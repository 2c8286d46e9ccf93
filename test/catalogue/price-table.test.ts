// Prices in flat columns compared with a map, under random changes and after packing.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PriceTable } from '#catalogue/index/price-table.ts'
import { NO_FIGURE } from '#prices/evidence/evidence-payload.ts'

/** The last price is too large for the short column. */
const LABELS = [4, 5, 8, 70_000]

test('each row has exactly the prices that were set and not removed', () => {
  const change = fc.record({
    what: fc.constantFrom('set', 'set', 'set', 'set', 'remove', 'clear', 'pack', 'reserve'),
    row: fc.nat(8),
    market: fc.nat(2),
    label: fc.constantFrom(...LABELS),
    minor: fc.constantFrom(1, 250, 2 ** 32 - 1, 2 ** 32, 99_999_999_999),
    updatedAtMs: fc.constantFrom(0, Date.UTC(2026), Date.UTC(2026) + 7, Date.UTC(2200)),
    avg7: fc.constantFrom(null, NO_FIGURE, 5, 300),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 150 }), (changes) => {
      const table = new PriceTable()
      const plain = new Map<string, { minor: number; updatedAtMs: number; avg7: number | null }>()
      for (const [at, { what, row, market, label, minor, updatedAtMs, avg7 }] of changes.entries()) {
        if (what === 'set') {
          const key = `${row} ${market} ${label}`
          const place = table.set(row, market, label, minor, updatedAtMs)
          if (avg7 !== null)
            table.setEvidence(place, { verdict: 0, flags: 0, confirmedMinutes: 0, avg7, avg30: NO_FIGURE, low: NO_FIGURE, high: NO_FIGURE })
          const figure = avg7 === null ? (plain.get(key)?.avg7 ?? null) : avg7 === NO_FIGURE ? null : avg7
          plain.set(key, { minor, updatedAtMs, avg7: figure })
        } else if (what === 'remove') {
          table.remove(row, market, label)
          plain.delete(`${row} ${market} ${label}`)
        } else if (what === 'clear') {
          table.clear(row)
          for (const key of plain.keys()) if (key.startsWith(`${row} `)) plain.delete(key)
        } else if (what === 'pack') table.pack()
        else table.reserve(row, at)
      }
      const found: typeof plain = new Map()
      for (let row = 0; row <= 8; row += 1) {
        for (let at = table.start(row); at < table.start(row) + table.count(row); at += 1) {
          const values = { minor: table.minor[at]!, updatedAtMs: table.updatedAtMs.at(at), avg7: table.figure(at, 0) }
          found.set(`${row} ${table.market[at]} ${table.label[at]}`, values)
          expect(table.find(row, table.market[at]!, table.label[at]!)).toBe(at)
        }
      }
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(plain))
    }),
  )
})
