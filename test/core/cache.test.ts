// The cache: it stays within its limit whatever is stored, and frequently read entries stay.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Cache } from '#core/cache.ts'

test('returns the latest value, and never exceeds its limit', () => {
  const step = fc.record({ key: fc.nat(60).map(String), weight: fc.integer({ min: 1, max: 5 }), set: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const cache = new Cache<string, { weight: number }>({ limit: 40, weigh: ({ weight }) => weight })
      const last = new Map<string, { weight: number }>()
      for (const { key, weight, set } of steps) {
        if (set) {
          const entry = { weight }
          cache.set(key, entry)
          last.set(key, entry)
        }
        const found = cache.get(key)
        if (set || found) expect(found).toBe(last.get(key))
      }
      const held = [...cache.entries()].map(([, value]) => value)
      expect(new Set(held).size).toBe(held.length)
      expect(held.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(40)
      cache.clear()
      expect([...cache.entries()].map(([, value]) => value)).toEqual([])
    }),
  )
})

test('every value is reported once when it is evicted, deleted or replaced', () => {
  const step = fc.record({ key: fc.nat(20).map(String), weight: fc.integer({ min: 1, max: 5 }), action: fc.constantFrom('set', 'get', 'delete') })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const removed: object[] = []
      const cache = new Cache<string, { weight: number }>({ limit: 20, weigh: ({ weight }) => weight, onRemoved: (value) => removed.push(value) })
      const stored: object[] = []
      for (const { key, weight, action } of steps) {
        if (action === 'set') {
          const value = { weight }
          stored.push(value)
          cache.set(key, value)
        } else cache[action](key)
      }
      const held = [...cache.entries()].map(([, value]) => value)
      expect(new Set([...removed, ...held])).toEqual(new Set(stored))
      expect(removed.length + held.length).toBe(stored.length)
      expect(cache.weight).toBe(held.reduce((sum, { weight }) => sum + weight, 0))
    }),
  )
})

test('an entry that is read regularly stays', () => {
  const cache = new Cache<string, number>({ limit: 10 })
  cache.set('often', -1)
  for (let i = 0; i < 100; i += 1) {
    cache.set(`once ${i}`, i)
    expect(cache.get('often')).toBe(-1)
  }
  expect(cache.get('once 0')).toBeUndefined()
})

test('with byLastUse, entries are evicted exactly in the order of their last use', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ key: fc.nat(15), set: fc.boolean() }), { maxLength: 200 }), (steps) => {
      const cache = new Cache<number, number>({ limit: 8, byLastUse: true })
      let order: number[] = []
      for (const { key, set } of steps) {
        if (!set && !order.includes(key)) {
          expect(cache.get(key)).toBeUndefined()
          continue
        }
        if (set) cache.set(key, key)
        else cache.get(key)
        order = [...order.filter((one) => one !== key), key].slice(-8)
        expect([...cache.entries()].map(([one]) => one)).toEqual(order)
      }
    }),
  )
})

test('entries of an earlier version are dropped', () => {
  let version = 0
  const cache = new Cache<string, number>({ limit: 10, version: () => version })
  cache.set('a', 1)
  expect(cache.get('a')).toBe(1)
  version += 1
  expect(cache.get('a')).toBeUndefined()
  cache.set('a', 2)
  version += 1
  cache.set('b', 3)
  expect([cache.get('a'), cache.get('b'), cache.size]).toEqual([undefined, 3, 1])
})
