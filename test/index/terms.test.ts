// Texts found by the parts of their words, and packed texts, against plain maps of strings under random changes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowBits } from '#index/bits.ts'
import { fold } from '#index/fold.ts'
import { PackedTexts } from '#index/packed.ts'
import { parseQuery } from '#index/query.ts'
import { TermRows } from '#index/terms.ts'

const WORDS = ['charizard', 'char', 'ard', '004/102', 'psa-10', 'çelik', 'リザードン', '★', '(foil)', '--', 'δ']
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => words.join(' '))

test('a part is found in every text that contains it, while texts come and go', () => {
  const changes = fc.array(fc.tuple(fc.nat(20), fc.option(text)), { maxLength: 60 })
  fc.assert(
    fc.property(changes, fc.constantFrom(...WORDS, 'a', 'ar', '(', '-', '02'), (steps, sought) => {
      const terms = new TermRows()
      const texts = new Map<number, string>()
      for (const [row, next] of steps) {
        const before = texts.get(row)
        if (before !== undefined) terms.delete(row, before)
        texts.delete(row)
        if (next === null) continue
        terms.add(row, fold(next))
        texts.set(row, fold(next))
      }
      for (const part of parseQuery(sought).parts) {
        const found = new RowBits()
        terms.collect(terms.infix(part.text), found)
        const wanted = [...texts].filter(([, known]) => known.includes(part.text)).map(([row]) => row)
        expect([...found.toRows()]).toEqual(wanted.sort((a, b) => a - b))
      }
    }),
  )
})

test('terms of very many rows are found, counted and taken out as others are', () => {
  const terms = new TermRows()
  for (let row = 0; row < 5_000; row += 1) terms.add(row, `common ${row % 2 ? 'odd' : 'even'} n${row}`)
  const rowsOf = (part: string) => {
    const found = new RowBits()
    terms.collect(terms.infix(part), found)
    return found.toRows()
  }
  expect([rowsOf('common').length, rowsOf('odd').length, rowsOf('n4999').length]).toEqual([5_000, 2_500, 1])
  expect(terms.count(terms.infix('even'))).toBe(2_500)
  for (let row = 0; row < 5_000; row += 1) if (row !== 7) terms.delete(row, `common ${row % 2 ? 'odd' : 'even'} n${row}`)
  expect([...rowsOf('common'), ...rowsOf('odd'), ...rowsOf('even')]).toEqual([7, 7])
  terms.add(8, 'common')
  expect([...rowsOf('omm')]).toEqual([7, 8])
})

test('packed texts are given back as they were put in, however often they are replaced', () => {
  const packed = new PackedTexts()
  const plain = new Map<number, string | null>()
  fc.assert(
    fc.property(fc.nat(50), fc.option(fc.string({ unit: 'grapheme', maxLength: 400 })), (row, one) => {
      const set = (text: string | null) => {
        packed.set(row, text)
        plain.set(row, text)
      }
      set(one)
      set(one === null ? null : one.toWellFormed())
      for (const [known, wanted] of plain) expect(packed.get(known)).toBe(wanted)
    }),
  )
  for (let round = 0; round < 300; round += 1) packed.set(99, `${round}`.padEnd(60_000, 'x'))
  for (const [known, wanted] of plain) expect(packed.get(known)).toBe(wanted)
  expect(packed.get(99)).toBe('299'.padEnd(60_000, 'x'))
  expect(() => packed.set(1, 'ş'.repeat(40_000))).toThrow(RangeError)
})
