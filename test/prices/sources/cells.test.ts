// Amounts and times in the notations of price files.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayOf, instantOf, priceOf, nonZeroPrice } from '#prices/sources/cells.ts'
import { problem } from '#core/problems.ts'

describe('priceOf', () => {
  it.each([
    ['399.01', 39901],
    [' $2,200.00 ', 220000],
    [0.1 + 0.2, 30],
    [13, 1300],
    ['0.005', 1],
    ['9,999,999,999.99', 999_999_999_999],
  ])('reads %j', (cell, minor) => expect(priceOf(cell, 'c')).toBe(minor))

  it.each(['', ' ', '-', 'N/A', null, undefined])('reads %j as no price', (cell) => {
    expect(priceOf(cell, 'c')).toBeNull()
  })

  it.each(['0', '$0.00', 0, '0.004', '-5.00', -0.01])('requires %j to be above 0', (cell) => {
    expect(priceOf(cell, 'c')).toEqual(problem('c', 'number', { above: 0 }))
  })

  it.each(['NaN', '1e309', Infinity, Number.NaN, 1e21, 'text', '10,000,000,000.00', '1 2', true, [], {}])('rejects %j by column', (cell) => {
    expect(priceOf(cell, 'marketPrice')).toMatchObject({ field: 'marketPrice', rule: 'number' })
  })

  it('reads 0 as no price for sources that do so', () => {
    expect(nonZeroPrice('$0.00', 'c')).toBeNull()
    expect(nonZeroPrice(0, 'c')).toBeNull()
    expect(nonZeroPrice('-1', 'c')).toEqual(problem('c', 'number', { above: 0 }))
    expect(nonZeroPrice('1', 'c')).toBe(100)
  })

  it('shortens messages', () => {
    expect(JSON.stringify(priceOf('x'.repeat(5_000_000), 'c')).length).toBeLessThan(120)
  })
})

describe('times', () => {
  it('reads days at the start of the day in UTC', () => {
    expect(dayOf('2025-02-22', 'c')).toBe(Date.UTC(2025, 1, 22))
    expect(dayOf('2025/02/22', 'c')).toBe(Date.UTC(2025, 1, 22))
    expect(dayOf('', 'c')).toBeNull()
  })

  it.each(['2025-02-30', '2025-13-01', '2025/02-22', '22.02.2025', '2025-2-2', '2025-02-22T00:00:00Z', 20250222])('rejects the day %j', (cell) =>
    expect(dayOf(cell, 'date')).toMatchObject({ field: 'date', rule: 'date' }),
  )

  it('reads times with a zone', () => {
    expect(instantOf('2026-06-29T02:55:18+0200', 'c')).toBe(Date.UTC(2026, 5, 29, 0, 55, 18))
    expect(instantOf('2025-02-08T07:57:15-05:00', 'c')).toBe(Date.UTC(2025, 1, 8, 12, 57, 15))
    expect(instantOf(undefined, 'c')).toBeNull()
  })

  it.each([
    '2026-03-28T19:29:00.276515',
    '2026-03-28',
    '2026-02-30T00:00:00Z',
    '2026-03-28T25:00:00Z',
    '2026-03-28T10:00:00+02',
    '2026-03-28T10:00:00Z00',
    'now',
  ])('rejects the time %j', (cell) => expect(instantOf(cell, 'updatedAt')).toMatchObject({ field: 'updatedAt', rule: 'time' }))

  it('reads back every time that it can write', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date('1996-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(instantOf(date.toISOString(), 'c')).toBe(date.getTime())
        expect(dayOf(date.toISOString().slice(0, 10), 'c')).toBe(date.getTime() - (date.getTime() % 86_400_000))
      }),
    )
  })

  it('rejects times before the hobby existed, and accepts future times, which are held later', () => {
    expect(dayOf('1995-12-31', 'date')).toEqual(problem('date', 'not_before', { from: '1996-01-01' }))
    expect(instantOf('1970-01-01T00:00:00Z', 'c')).toEqual(problem('c', 'not_before', { from: '1996-01-01' }))
    expect(dayOf('2099-01-01', 'date')).toBe(Date.UTC(2099, 0, 1))
  })
})
