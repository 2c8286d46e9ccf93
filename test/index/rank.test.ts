// Pages of ranked matches against sorting all of them by tier, name and row.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowBits } from '#index/bits.ts'
import { KeptOrder } from '#index/order.ts'
import { pageByTier } from '#index/rank.ts'
import { TIERS } from '#index/text.ts'

test('gives the page that sorting all matches gives', () => {
  const hit = fc.record({
    row: fc.nat(400),
    tier: fc.constantFrom(...Object.values(TIERS)),
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    kept: fc.boolean(),
  })
  const hits = fc.uniqueArray(hit, { selector: (each) => each.row, maxLength: 120 })
  fc.assert(
    fc.property(hits, fc.boolean(), fc.nat(130), fc.nat(40), (found, filtered, offset, limit) => {
      const names = new Map(found.map((each) => [each.row, each.name]))
      const order = new KeptOrder((a, b) => names.get(a)!.localeCompare(names.get(b)!) || a - b)
      const rows = Int32Array.from(found, (each) => each.row)
      order.load(rows)
      const among = filtered
        ? RowBits.of(
            Int32Array.from(
              found.filter((each) => each.kept),
              (each) => each.row,
            ),
          )
        : null
      const expected = found
        .filter((each) => !filtered || each.kept)
        .sort((a, b) => a.tier - b.tier || a.name.localeCompare(b.name) || a.row - b.row)
        .map((each) => each.row)
      const page = pageByTier({ rows, tiers: Uint8Array.from(found, (each) => each.tier) }, among, order, offset, limit)
      expect(page.total).toBe(expected.length)
      expect([...page.rows]).toEqual(expected.slice(offset, offset + limit))
    }),
  )
})
