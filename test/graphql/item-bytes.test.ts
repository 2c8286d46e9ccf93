// Cached bytes of items, and responses written from them: a lookup returns the latest bytes stored for that version.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ItemBytes } from '#graphql/execution/item-bytes.ts'
import { Output } from '#graphql/execution/output.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runs } from '../support/runs.ts'

const output = new Output()

/** The cached bytes; null if there are none. */
function read(cache: ItemBytes, selection: number, row: number, version: number): string | null {
  output.begin()
  return cache.copy(selection, row, version, output) ? output.finish().toString() : null
}

function textOf(selection: number, row: number, version: number): string {
  return `${selection}/${row}/${version} Pokémon 🎴`.padEnd(20 + ((selection * 31 + row * 7 + version) % 300), '.')
}

test('cached bytes are those stored, through growth, replacement and any changes', { tags: 'slow' }, () => {
  const step = fc.oneof(
    { weight: 200, arbitrary: fc.record({ selection: fc.integer({ min: 1, max: 6 }), row: fc.nat(20_000), version: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.constant('changed' as const) },
  )
  let found = 0
  const steps = fc.property(fc.array(step, { minLength: 2_000, maxLength: 4_000, size: 'max' }), (taken) => {
    const cache = new ItemBytes(1)
    const put = new Map<string, number>()
    let generation = 0
    cache.follow(generation)
    for (const one of taken) {
      if (one === 'changed') {
        cache.follow((generation += 1))
        put.clear()
        continue
      }
      const { selection, row, version } = one
      const before = read(cache, selection, row, version)
      if (before !== null) {
        expect([put.get(`${selection} ${row}`), before]).toEqual([version, textOf(selection, row, version)])
        found += 1
      }
      cache.put(selection, row, version, Buffer.from(textOf(selection, row, version)))
      put.set(`${selection} ${row}`, version)
      expect(read(cache, selection, row, version)).toBe(textOf(selection, row, version))
    }
  })
  fc.assert(steps, { numRuns: runs(5) })
  expect(found).toBeGreaterThan(0)
})

test('all rows of several selections are cached while they fit; beyond that, the oldest are evicted', () => {
  const cache = new ItemBytes(4 * 1024 * 1024)
  const bytes = Buffer.alloc(100, 'x')
  const count = () => {
    let there = 0
    for (const selection of [1, 2, 3]) for (let row = 0; row < 10_000; row += 1) if (read(cache, selection, row, 1) !== null) there += 1
    return there
  }
  for (const selection of [1, 2, 3]) for (let row = 0; row < 10_000; row += 1) cache.put(selection, row, 1, bytes)
  expect(count()).toBe(30_000)
  for (let row = 10_000; row < 30_000; row += 1) cache.put(4, row, 1, bytes)
  expect(read(cache, 1, 0, 1)).toBeNull()
  expect(read(cache, 3, 9_999, 1)).not.toBeNull()
  cache.follow(1)
  expect(count()).toBe(0)
})

test('very long items are not cached', () => {
  const cache = new ItemBytes(4 * 1024 * 1024)
  cache.put(1, 1, 1, Buffer.alloc(500_000, 'x'))
  expect(read(cache, 1, 1, 1)).toBeNull()
})

test('each selection has one number, however many there are', () => {
  const cache = new ItemBytes(1)
  const first = cache.numberOf('{ id }')
  expect(cache.numberOf('{ id }')).toBe(first)
  const seen = new Set([first])
  for (let i = 0; i < 30_000; i += 1) seen.add(cache.numberOf(`{ a${i}: id }`))
  expect(seen.size).toBe(30_001)
})

test('responses consist of the written texts and bytes, in order, of any size', { tags: 'slow' }, () => {
  const part = fc.oneof(
    fc.record({ text: fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(',', '', 'é', '🎴'), fc.constant('x'.repeat(70_000))) }),
    fc.record({ bytes: fc.uint8Array({ maxLength: 200 }) }),
  )
  const written = fc.property(fc.array(part, { maxLength: 40 }), fc.boolean(), (parts, givenUp) => {
    output.begin()
    if (givenUp) output.text += 'given up'
    output.begin()
    const expected: Buffer[] = []
    for (const one of parts) {
      const before = output.size()
      if ('text' in one) output.text += one.text
      else output.copy(Buffer.from(one.bytes), 0, one.bytes.length)
      const bytes = 'text' in one ? Buffer.from(one.text) : Buffer.from(one.bytes)
      expect(output.since(before).equals(bytes)).toBe(true)
      expected.push(bytes)
    }
    const page = output.finish()
    const others = [output, output].map((again) => {
      again.begin()
      again.text = 'another answer'
      return again.finish()
    })
    expect(others.map(String)).toEqual(['another answer', 'another answer'])
    expect(page.equals(Buffer.concat(expected))).toBe(true)
  })
  fc.assert(written, { numRuns: runs(50) })
})
