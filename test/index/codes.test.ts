// Collector numbers: which spellings mean the same code, and which do not.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalCode, numberOf, sameCode } from '#index/codes.ts'

test.each([
  ['004/102', '4/102', '4'],
  ['OP01-001', 'op1-1', 'op1-1'],
  ['op1 1', 'op1-1', 'op1-1'],
  ['SWSH 020', 'swsh20', 'swsh20'],
  ['TG12/TG30', 'tg12/tg30', 'tg12'],
  ['ST01-001_p1', 'st1-1p1', 'st1-1p1'],
  ['020/S-P', '20/s-p', '20'],
  ['4 / 102', '4/102', '4'],
  ['#4', '4', '4'],
  ['4/', '4', '4'],
  ['000', '0', '0'],
  ['012★', '12★', '12★'],
  ['12 ★', '12', '12'],
  ['0100', '100', '100'],
  ['!', '!', '!'],
  ['/', '/', '/'],
  ['', '', ''],
])('%j normalises to %j with the number %j', (code, normal, number) => {
  expect(normalCode(code)).toBe(normal)
  expect(numberOf(code)).toBe(number)
})

describe('equality', () => {
  test.each([
    ['4', '004/102'],
    ['04', '4'],
    ['4/102', '004/102'],
    ['4/102', '4'],
    ['op1 1', 'OP01-001'],
    ['OP1-001', 'op01-001'],
    ['op01 001', 'OP01-001'],
    ['swsh20', 'SWSH020'],
    ['tg12', 'TG12/TG30'],
    ['?', '?'],
  ])('%j finds %j', (query, code) => {
    expect(sameCode(query, code)).toBe(true)
  })

  test.each([
    ['4/102', '4/130'],
    ['123', '123★'],
    ['4', '14/102'],
    ['4', '40'],
    ['op1 1', 'OP01-010'],
    ['op1 1', 'OP11'],
    ['!', '?'],
    ['', '4'],
    ['-', '4'],
  ])('%j does not find %j', (query, code) => {
    expect(sameCode(query, code)).toBe(false)
  })

  test('is symmetric, for leading zeros and omitted totals', () => {
    const code = fc.record({
      prefix: fc.constantFrom('', 'TG', 'swsh', 'OP01-'),
      number: fc.integer({ min: 1, max: 300 }),
      total: fc.option(fc.integer({ min: 1, max: 300 })),
    })
    fc.assert(
      fc.property(code, code, fc.nat(3), (a, b, zeros) => {
        const written = (each: typeof a, pad: string): string =>
          `${each.prefix}${pad}${each.number}${each.total === null ? '' : `/${pad}${each.total}`}`
        const same = a.prefix === b.prefix && a.number === b.number && (a.total === b.total || a.total === null || b.total === null)
        expect(sameCode(written(a, '0'.repeat(zeros)), written(b, ''))).toBe(same)
        expect(sameCode(written(b, ''), written(a, '0'.repeat(zeros)))).toBe(same)
      }),
    )
  })
})
