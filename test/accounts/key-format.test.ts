// Keys: generated well formed, rejected after a change of any character, uniformly random.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashKey, isWellFormed, last4, newKey } from '#accounts/credentials/key-format.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('new keys have the documented format and are well-formed for their kind only', () => {
  for (let i = 0; i < 200; i++) {
    expect(newKey('api')).toMatch(/^mintmark_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/)
    expect(isWellFormed(newKey('api'), 'api')).toBe(true)
    expect(isWellFormed(newKey('operator'), 'operator')).toBe(true)
    expect(isWellFormed(newKey('operator'), 'api')).toBe(false)
  }
})

test('changing any character makes a key malformed', () => {
  const place = fc.integer({ min: 0, max: 'mintmark_'.length + 48 })
  fc.assert(
    fc.property(place, fc.constantFrom(...BASE62, '_', ' ', 'ş', '\0'), (at, character) => {
      const key = newKey('api')
      const changed = key.slice(0, at) + character + key.slice(at + 1)
      expect(isWellFormed(changed, 'api')).toBe(changed === key)
    }),
    { numRuns: 2000 },
  )
})

test('no text other than a generated key is well-formed', () => {
  fc.assert(fc.property(fc.string({ maxLength: 80 }), (text) => !isWellFormed(text, 'api') && !isWellFormed(text, 'operator')))
  const key = newKey('api')
  for (const text of ['', `${key}0`, key.slice(0, -1), key.toUpperCase(), `${key}\n`, ` ${key}`]) {
    expect(isWellFormed(text, 'api')).toBe(false)
  }
})

test('all characters of the alphabet are equally likely', () => {
  const counts = new Map<string, number>()
  const keys = 3000
  for (let i = 0; i < keys; i++) for (const c of newKey('api').slice(9, 52)) counts.set(c, (counts.get(c) ?? 0) + 1)
  const expected = (keys * 43) / 62
  const chiSquare = [...BASE62].reduce((sum, c) => sum + ((counts.get(c) ?? 0) - expected) ** 2 / expected, 0)
  // 61 degrees of freedom: above 140 by chance once in ten million runs; a modulo bias of bytes gives over 800.
  expect(chiSquare).toBeLessThan(140)
})

test('only the SHA-256 and the last four characters of a key are stored', () => {
  expect(hashKey('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(last4('mintmark_abcdef')).toBe('cdef')
})
