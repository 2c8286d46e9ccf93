// Folding and words: spellings that must become equal, and folding twice changes nothing.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { fold, startsWord, words } from '#index/fold.ts'

test.each([
  ['Pokémon', 'pokemon'],
  ['İIıi ŞşĞğÇçÖöÜü', 'iiii ssggccoouu'],
  ["Farfetch'd", 'farfetchd'],
  ['Farfetch’d', 'farfetchd'],
  ['Farfetch´d', 'farfetchd'],
  ['Ｐｉｋａｃｈｕ　Ｖ', 'pikachu v'],
  ['Straße ﬁ Æther Øystein Łódź œuf', 'strasse fi aether oystein lodz oeuf'],
  ['ｶﾞｰﾃﾞｨ', 'ガーディ'],
  ['ガ カ', 'ガ カ'],
  ['Nidoran♀\ufe0f ♂ δ ★ ◇', 'nidoran♀ ♂ δ ★ ◇'],
  ['  two\u00a0\t words ', 'two words'],
  ['', ''],
])('folds %j to %j', (text, folded) => {
  expect(fold(text)).toBe(folded)
})

test('folding is idempotent', () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: fc.constantFrom(..."aI ıİşßæ'’´`ÅΣς゙カガ　ﬁ♀\u0301\u0307\ufe0f-./\n\t²½") }),
  )
  fc.assert(
    fc.property(text, (each) => {
      expect(fold(fold(each))).toBe(fold(each))
    }),
    { numRuns: 2000 },
  )
})

test('ASCII text gives the same result by the fast path', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      const long = fold(`${text}é`)
      expect(fold(`${text}e`)).toBe(long)
    }),
  )
})

test.each([
  ['monkey.d.luffy', ['monkey', 'd', 'luffy']],
  ['ho-oh & raichu-gx (op01/x)', ['ho', 'oh', 'raichu', 'gx', 'op01', 'x']],
  ['nidoran♀ ♂', ['nidoran', '♀', '♂']],
  ['リザードン ex', ['リザードン', 'ex']],
  ['- / .', []],
  ['', []],
])('words of %j are %j', (folded, expected) => {
  expect(words(folded)).toEqual(expected)
})

test('startsWord agrees with words() about where words start', () => {
  const folded = fc.string({ unit: fc.constantFrom(...'ab1 -♀é゙カ𝟘字𠀀') }).map(fold)
  fc.assert(
    fc.property(folded, (text) => {
      let at = 0
      for (const word of words(text)) {
        at = text.indexOf(word, at)
        expect(startsWord(text, at)).toBe(true)
        const letters = [...word]
        let inside = at
        for (const letter of letters.slice(0, -1)) {
          inside += letter.length
          expect(startsWord(text, inside)).toBe(false)
        }
        at += word.length
      }
    }),
  )
})
