// A memory of recent results: within its limit whatever is asked, and what is asked for again and again stays.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Recent } from '#core/recent.ts'

test('gives back what was set last, and holds no more than its limit', () => {
  const step = fc.record({ key: fc.nat(60).map(String), weight: fc.integer({ min: 1, max: 5 }), set: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const recent = new Recent<string, { weight: number }>(40, ({ weight }) => weight)
      const last = new Map<string, { weight: number }>()
      for (const { key, weight, set } of steps) {
        if (set) {
          const entry = { weight }
          recent.set(key, entry)
          last.set(key, entry)
        }
        const found = recent.get(key)
        if (set || found) expect(found).toBe(last.get(key))
      }
      const held = [...recent.values()]
      expect(new Set(held).size).toBe(held.length)
      expect(held.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(40)
      recent.clear()
      expect([...recent.values()]).toEqual([])
    }),
  )
})

test('what is asked for between any others stays', () => {
  const recent = new Recent<string, number>(10)
  recent.set('often', -1)
  for (let i = 0; i < 100; i += 1) {
    recent.set(`once ${i}`, i)
    expect(recent.get('often')).toBe(-1)
  }
  expect(recent.get('once 0')).toBeUndefined()
})

test('what is offered takes the place of what nobody asks for, and of nothing else', () => {
  const recent = new Recent<string, number>(10)
  for (let i = 0; i < 12; i += 1) recent.set(`set ${i}`, i)
  const held = () => Array.from({ length: 12 }, (_, i) => recent.get(`set ${i}`)).filter((value) => value !== undefined).length
  expect(held()).toBe(10)
  recent.offer('new', () => -1)
  expect([held(), recent.get('new')]).toEqual([10, undefined])
  for (let i = 0; i < 40; i += 1) recent.offer(`offered ${i}`, () => i)
  expect(held()).toBe(0)
})
