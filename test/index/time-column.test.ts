// Times in seconds and milliseconds, compared with a plain list under random changes and after writing and reading.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { partsOf, readParts } from '#index/stored.ts'
import { TimeColumn } from '#index/time-column.ts'

const time = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((seconds) => seconds * 1_000),
  fc.integer({ min: 0, max: Date.UTC(9_999) }),
  fc.constantFrom(0.5, -1, -1_500, 2 ** 32 * 1_000, Date.UTC(2026) + 0.25),
)

test('every time is returned as it was set', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(40), time), { minLength: 1, maxLength: 60 }), (steps) => {
      const column = new TimeColumn()
      const plain = new Map<number, number>()
      for (const [position, at] of steps) {
        column.set(position, at)
        plain.set(position, at)
      }
      for (const [position, at] of plain) expect(column.at(position)).toBe(at)
      const parts = partsOf((columns) => column.store(columns)).map(({ type, lengths, pieces }) => ({
        type,
        lengths,
        bytes: Uint8Array.from(Buffer.concat([...pieces()])),
      }))
      const { columns, end } = readParts(parts)
      const read = new TimeColumn()
      read.store(columns)
      end()
      const kept = [...plain.keys()].reverse()
      read.keep(Uint32Array.from(kept))
      expect(kept.map((_, position) => read.at(position))).toEqual(kept.map((position) => plain.get(position)))
    }),
  )
})
