// Texts stored as words and found by parts of them, and lists in one array, compared with plain maps and arrays under random changes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RowBits } from '#index/bits.ts'
import { fold } from '#index/fold.ts'
import { Postings } from '#index/postings.ts'
import { parseQuery } from '#index/query.ts'
import { utf8 } from '#index/utf8.ts'
import { MAX_WORDS } from '#index/vocabulary.ts'
import { TokenizedTexts } from '#index/tokenized-texts.ts'

const WORDS = ['charizard', 'CHAR', 'Chár', 'ard', '004/102', 'psa-10', 'Çelik', 'リザードン', '★', '(foil)', '--', 'δ', '', 'x'.repeat(50)]
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(' '))

function rowsWith({ terms }: TokenizedTexts, part: string): number[] {
  const found = new RowBits()
  terms.collect(terms.infix(part), found)
  return [...found.toRows()]
}

test('an infix is found in every text that contains it, and texts are returned unchanged, while texts are added and removed', () => {
  const changes = fc.array(fc.tuple(fc.nat(20), fc.option(fc.oneof(text, fc.string({ unit: 'grapheme' })))), { maxLength: 60 })
  fc.assert(
    fc.property(changes, fc.nat(60), fc.constantFrom(...WORDS, 'a', 'ar', '(', '-', '02'), (steps, packedAfter, sought) => {
      const worded = new TokenizedTexts()
      const texts = new Map<number, string>()
      for (const [at, [row, nextText]] of steps.entries()) {
        const next = nextText?.toWellFormed() ?? null
        expect(worded.set(row, next === null ? null : utf8(next))).toBe((texts.get(row) ?? null) !== next)
        if (next === null) texts.delete(row)
        else texts.set(row, next)
        if (at === packedAfter) worded.pack()
      }
      for (let row = 0; row <= 20; row += 1) expect(worded.get(row)).toBe(texts.get(row) ?? null)
      for (const part of parseQuery(sought).parts) {
        const expected = [...texts].filter(([, rowText]) => fold(rowText).includes(part.text)).map(([row]) => row)
        expect(rowsWith(worded, part.text)).toEqual(expected.sort((a, b) => a - b))
      }
    }),
  )
})

test('terms of very many rows are found, counted and removed like others', () => {
  const worded = new TokenizedTexts()
  for (let row = 0; row < 5_000; row += 1) worded.set(row, utf8(`common ${row % 2 ? 'odd' : 'even'} n${row}`))
  worded.pack()
  expect(['common', 'odd', 'n4999'].map((part) => rowsWith(worded, part).length)).toEqual([5_000, 2_500, 1])
  expect(worded.terms.count(worded.terms.infix('even'))).toBe(2_500)
  for (let row = 0; row < 5_000; row += 1) if (row !== 7) worded.set(row, null)
  expect([...rowsWith(worded, 'common'), ...rowsWith(worded, 'odd'), ...rowsWith(worded, 'even')]).toEqual([7, 7])
  worded.set(8, utf8('common'))
  expect(rowsWith(worded, 'omm')).toEqual([7, 8])
})

test('words without a number are stored and found as well', () => {
  const worded = new TokenizedTexts()
  const rows = MAX_WORDS + 100
  for (let row = 0; row < rows; row += 1) worded.set(row, utf8(`w${row} w${row} all`))
  expect(worded.get(rows - 1)).toBe(`w${rows - 1} w${rows - 1} all`)
  expect(rowsWith(worded, `w${rows - 1}`)).toEqual([rows - 1])
  worded.set(rows - 1, utf8('other'))
  expect(rowsWith(worded, `w${rows - 1}`)).toEqual([])
  expect(rowsWith(worded, 'all')).toHaveLength(rows - 1)
})

test('replacing long texts repeatedly does not affect others', () => {
  const worded = new TokenizedTexts()
  worded.set(1, utf8('Charizard 4/102'))
  for (let round = 0; round < 30; round += 1) worded.set(2, utf8(`${round}`.padEnd(60_000, 'x')))
  expect([worded.get(1), worded.get(2)]).toEqual(['Charizard 4/102', '29'.padEnd(60_000, 'x')])
  expect(() => worded.set(1, utf8('ş'.repeat(40_000)))).toThrow(RangeError)
  expect(worded.get(1)).toBe('Charizard 4/102')
})

test('lists contain what was added and not removed, whenever they are packed', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('add', 'add', 'add', 'remove', 'clear', 'pack'), fc.nat(5), fc.nat(30)), { maxLength: 200 })
  fc.assert(
    fc.property(steps, (changes) => {
      const lists = new Postings()
      const plain = Array.from({ length: 6 }, () => new Set<number>())
      for (const [what, list, value] of changes) {
        if (what === 'add' && !plain[list]!.has(value)) {
          lists.add(list, value)
          plain[list]!.add(value)
        } else if (what === 'remove') {
          if (lists.length(list) > 0) lists.remove(list, value)
          plain[list]!.delete(value)
        } else if (what === 'clear') {
          lists.clear(list)
          plain[list]!.clear()
        } else if (what === 'pack') lists.pack()
      }
      for (const [list, values] of plain.entries()) {
        expect([...lists.view(list)].sort((a, b) => a - b)).toEqual([...values].sort((a, b) => a - b))
      }
    }),
  )
})
