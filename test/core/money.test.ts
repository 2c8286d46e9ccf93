// Exact money: plain decimals, JSON numbers and the formats in which sources print amounts.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_MINOR, minorOfNumber, minorToNumber, minorToText, parseMinor, parseSourceAmount } from '#core/money.ts'

const minors = fc.integer({ min: 0, max: MAX_MINOR })

describe('plain decimals', () => {
  it('are read back as written, as text and as a JSON number', () => {
    fc.assert(
      fc.property(minors, (minor) => {
        expect(parseMinor(minorToText(minor))).toBe(minor)
        expect(minorOfNumber(JSON.parse(JSON.stringify(minorToNumber(minor))))).toBe(minor)
      }),
    )
  })

  it.each([
    ['0', 0],
    ['7', 700],
    ['168.5', 16850],
    ['168.56', 16856],
    ['9999999999.99', MAX_MINOR],
  ])('reads %s', (text, minor) => {
    expect(parseMinor(text)).toBe(minor)
  })

  it.each(['', '-1', '+1', '1,5', '1.', '.5', '1.234', '1e3', ' 1', '10000000000', '0x10', '١'])('rejects "%s"', (text) => {
    expect(parseMinor(text)).toBeNull()
  })

  it.each([Number.NaN, Infinity, -0.01, 0.1 + 0.2, 1e-7, 1e21, 1e10])('rejects the number %d', (value) => {
    expect(minorOfNumber(value)).toBeNull()
  })

  it('writes small and negative amounts with two decimals', () => {
    expect([0, 5, 50, 100, -5, -1234].map(minorToText)).toEqual(['0.00', '0.05', '0.50', '1.00', '-0.05', '-12.34'])
  })
})

describe('amounts as sources print them', () => {
  it.each([
    ['$1,049.00', 104900],
    ['0.58€', 58],
    ['57,99 €', 5799],
    ['57,99\u00a0€', 5799],
    ['1.671,68 €', 167168],
    ['1,671.68€', 167168],
    ['1 671,68 €', 167168],
    ['1\u202f671,68 €', 167168],
    ['$2,200.00 ', 220000],
    ['EUR 12.5', 1250],
    ['12 TL', 1200],
    ['1,234', 123400],
    ['1.234', 123],
    ['0,123', 12],
    ['0.125', 13],
    ['0.1249999', 12],
    ['0.30000000000000004', 30],
    ['12345,678', 1234568],
    ['1.234.567', 123456700],
    ['1,234,567.5', 123456750],
    ['9,999,999,999.99', MAX_MINOR],
  ])('reads "%s"', (text, minor) => expect(parseSourceAmount(text)).toBe(minor))

  it.each([
    '',
    '$',
    '-5',
    '($5.00)',
    '1.23.45',
    '1,23.45',
    '1.234.56',
    '1,2,3',
    '5.',
    '.5',
    '1€50',
    '10 20',
    '$600+',
    'N/A',
    '1e309',
    'Infinity',
    '$3,000–$5,800',
    '9,999,999,999.999',
    '10000000000',
    '¥400,000 (≈$2,797)',
  ])('rejects "%s"', (text) => {
    expect(parseSourceAmount(text)).toBeNull()
  })

  it('reads every amount in every common notation', () => {
    fc.assert(
      fc.property(minors, fc.constantFrom('en-US', 'de-DE', 'tr-TR', 'fr-FR', 'pt-BR'), (minor, locale) => {
        const format = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' })
        expect(parseSourceAmount(format.format(minor / 100))).toBe(minor)
      }),
    )
  })

  it('returns quickly for long texts', () => {
    expect(parseSourceAmount('1,'.repeat(2_000_000))).toBeNull()
  })
})
