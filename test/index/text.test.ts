// TextIndex compared with plain string matching over all rows, under random documents, replacements, removals and queries.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RowBits } from '#index/bits.ts'
import { normalCode, sameCode } from '#index/codes.ts'
import { isOneTypo } from '#index/dictionary.ts'
import { fold, words } from '#index/fold.ts'
import { type Doc, TextIndex, tierOf } from '#index/text.ts'
import { runs } from '../support/runs.ts'

/** Optimal string alignment distance, by the textbook table. */
function distance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_each, j) => i + j))
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      table[i]![j] = Math.min(table[i - 1]![j]! + 1, table[i]![j - 1]! + 1, table[i - 1]![j - 1]! + change)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        table[i]![j] = Math.min(table[i]![j]!, table[i - 2]![j - 2]! + 1)
      }
    }
  }
  return table[a.length]![b.length]!
}

/** A folded code as typed, without separators and normalised, and the parts before and after the slash in each of these forms. */
function codeForms(code: string): string[] {
  const [number = '', ...rest] = code.split('/')
  const spellings = (part: string): string[] => [part, normalCode(part), part.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '')]
  const total = rest.join('-').trim()
  if (normalCode(total) === '' || words(total).length === 0) return spellings(number.trim())
  return spellings(number.trim()).flatMap((first) => spellings(total).map((second) => `${first}/${second}`))
}

/** The tier of a document; null if it does not match. */
function naiveTier(search: string, doc: Doc): number | null {
  const query = fold(search)
  if (query === '') return null
  const queryWords = query.split(' ')
  const name = fold(doc.name)
  const texts = [name, ...doc.more.map(fold)]
  const textWords = texts.flatMap(words)
  const code = doc.code ? fold(doc.code) : null
  const forms = code ? codeForms(code) : []
  const everyWord = (has: (part: string) => boolean, hasCode: (word: string) => boolean): boolean =>
    queryWords.every((word) => {
      const parts = words(word)
      const inTexts = parts.length > 0 ? parts.every(has) : texts.some((text) => text.includes(word))
      return inTexts || hasCode(word)
    })
  const equalsCode = (word: string): boolean => code !== null && sameCode(word, code)
  const hasCode = (word: string): boolean => equalsCode(word) || (words(word).length > 0 && forms.some((form) => form.includes(word)))
  const has = (part: string): boolean => textWords.some((word) => word.includes(part))
  const near = (part: string): boolean => has(part) || (part.length >= 4 && textWords.some((word) => distance(part, word) <= 1))
  if (equalsCode(query)) return 0
  if (!everyWord(has, hasCode)) return everyWord(near, hasCode) ? 5 : null
  if (name === query) return 1
  const parts = new Set(queryWords.flatMap((word) => (words(word).length > 0 ? words(word) : [word])))
  const startsOne = queryWords.every((word) => {
    const inner = words(word)
    return inner.length > 0 ? inner.every((part) => words(name).some((each) => each.startsWith(part))) : name.includes(word)
  })
  if (parts.size > 1 && startsOne && words(name).every((word) => parts.has(word))) return 1
  if (name.startsWith(query)) return 2
  return everyWord((part) => textWords.some((word) => word.startsWith(part)), equalsCode) ? 3 : 4
}

function expectSame(index: TextIndex, docs: Map<number, Doc>, search: string): void {
  const expected: [number, number][] = []
  for (const [row, doc] of docs) {
    const tier = naiveTier(search, doc)
    if (tier !== null) expected.push([row, tier])
  }
  expected.sort(([a], [b]) => a - b)
  const { rows, ranks } = index.ranked(search)
  const ranked = Array.from(rows, (row, at) => [row, tierOf(ranks[at]!)] as const).sort(([a], [b]) => a - b)
  expect({ search, ranked }).toEqual({ search, ranked: expected })
  const filtered = Array.from(index.filter(search)).sort((a, b) => a - b)
  expect({ search, filtered }).toEqual({
    search,
    filtered: expected.filter(([, tier]) => tier < 5).map(([row]) => row),
  })
}

const NAMES = [
  'Pikachu',
  'Pikachu V',
  'Raichu-GX',
  'Ho-Oh',
  'Mr. Mime',
  "Farfetch'd",
  'Nidoran♀',
  'Nidoran ♂',
  'Pokémon Center',
  'Monkey.D.Luffy',
  'リザードン',
  'がーでぃ',
  'Işık Şövalyesi',
  'Type: Null',
  'Porygon2',
  'N',
  'Mewtwo & Mew-GX',
  '- Promo -',
]
const CODES = ['004/102', '4/102', '4', '4/130', '14/102', 'OP01-001', 'OP1-001', 'op01 010', 'TG12/TG30', 'TG12', 'SWSH020', '!', '?', 'H4']
const MORE = ['Base Set', 'Base Set 2', 'Sword & Shield', 'Romance Dawn', '151', 'Çok Özel']

const letters = fc.string({ unit: fc.constantFrom(...'abcAİıé -.4é'), maxLength: 8 })
const doc: fc.Arbitrary<Doc> = fc.record({
  name: fc.oneof(
    fc.constantFrom(...NAMES),
    letters,
    fc.tuple(fc.constantFrom(...NAMES), letters).map((two) => two.join(' ')),
  ),
  code: fc.option(fc.oneof(fc.constantFrom(...CODES), fc.string({ unit: fc.constantFrom(...'ab014/- '), maxLength: 6 }))),
  more: fc.array(fc.oneof(fc.constantFrom(...MORE), letters), { maxLength: 2 }),
})
/** A text with one letter added, dropped, changed or swapped with the next. */
const typo = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.nat(12), fc.constantFrom('add', 'drop', 'change', 'swap')).map(([whole, at, kind]) => {
    const [before, after] = [whole.slice(0, at), whole.slice(at)]
    if (kind === 'add') return `${before}e${after}`
    if (kind === 'drop') return before + after.slice(1)
    if (kind === 'change') return `${before}o${after.slice(1)}`
    return before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2)
  })
const storedText = fc.constantFrom(...NAMES, ...CODES, ...MORE)
const part = fc.tuple(storedText, fc.nat(6), fc.nat(6)).map(([text, from, length]) => text.slice(from, from + length + 1))
const queryPart = fc.oneof(storedText, part, typo(storedText), letters, fc.constantFrom('-', '/', 'op1 1', 'op1-1', '04', 'pikahcu', 'é'))
const query = fc.array(queryPart, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '))

test('finds and ranks like a plain match of every row', () => {
  const change = fc.tuple(fc.nat(30), fc.option(doc, { freq: 4 }))
  const steps = fc.array(fc.tuple(fc.array(change, { maxLength: 12 }), fc.array(query, { maxLength: 4 })), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(steps, (each) => {
      const index = new TextIndex()
      const docs = new Map<number, Doc>()
      for (const [changes, queries] of each) {
        for (const [row, changed] of changes) {
          if (changed) {
            docs.set(row, changed)
            index.set(row, changed)
          } else {
            docs.delete(row)
            index.remove(row)
          }
        }
        expect(index.size).toBe(docs.size)
        for (const search of queries) expectSame(index, docs, search)
      }
    }),
    { numRuns: runs(400) },
  )
})

test('accepts one typo like the edit distance', () => {
  const short = fc.string({ unit: fc.constantFrom(...'abc'), maxLength: 7 })
  fc.assert(
    fc.property(short, fc.oneof(short, typo(short)), (a, b) => {
      expect(isOneTypo(a, b)).toBe(distance(a, b) === 1)
    }),
    { numRuns: runs(3_000) },
  )
})

describe('a catalogue page', () => {
  const index = new TextIndex()
  const docs: Doc[] = [
    { name: 'Charizard', code: '004/102', more: ['Base Set'] },
    { name: 'Charizard ex', code: '4', more: ['Base Set 2'] },
    { name: 'Dark Charizard', code: '004/130', more: ['Team Rocket'] },
    { name: 'Monkey.D.Luffy', code: 'OP01-001', more: ['Romance Dawn'] },
    { name: 'Pokémon Breeder', code: '76/102', more: ['Base Set'] },
    { name: "Farfetch'd", code: 'TG12/TG30', more: ['Lost Origin'] },
    { name: 'Işıklı Şövalye', code: 'SWSH020', more: ['Promosyon'] },
  ]
  docs.forEach((each, row) => index.set(row, each))

  test.each<[search: string, ranked: [row: number, tier: number][]]>([
    [
      'charizard',
      [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
    ],
    ['CHARIZARD EX', [[1, 1]]],
    [
      '4/102',
      [
        [0, 0],
        [1, 0],
      ],
    ],
    [
      '0004',
      [
        [0, 0],
        [1, 0],
        [2, 0],
      ],
    ],
    [
      'charizard 4/102',
      [
        [0, 3],
        [1, 3],
      ],
    ],
    [
      'chraizard',
      [
        [0, 5],
        [1, 5],
        [2, 5],
      ],
    ],
    [
      'chraizard base',
      [
        [0, 5],
        [1, 5],
      ],
    ],
    ['op1 1', [[3, 0]]],
    ['op01-001', [[3, 0]]],
    ['op01001', [[3, 4]]],
    ['luffy', [[3, 3]]],
    ['pokemon', [[4, 2]]],
    ['farfetchd', [[5, 1]]],
    ['tg12', [[5, 0]]],
    ['ISIKLI sovalye', [[6, 1]]],
    ['swsh20', [[6, 0]]],
    [
      'base',
      [
        [0, 3],
        [1, 3],
        [4, 3],
      ],
    ],
    [
      'zar',
      [
        [0, 4],
        [1, 4],
        [2, 4],
      ],
    ],
    ['-', []],
    ['', []],
    [' ( ) ', []],
    ["'", []],
  ])('%s', (search, ranked) => {
    const { rows, ranks } = index.ranked(search)
    expect(Array.from(rows, (row, at) => [row, tierOf(ranks[at]!)] as const).sort(([a], [b]) => a - b)).toEqual(ranked)
  })
})

test('a query with too many words or parts uses the first of them', () => {
  const index = new TextIndex()
  index.set(0, { name: 'a b c d e f g h i j k l', code: null, more: [] })
  expect(Array.from(index.filter('a b c d e f g h i j k l m n o p q r s t u v w x y z'))).toEqual([0])
  expect(Array.from(index.filter(Array.from({ length: 100 }, (_, at) => at).join('-')))).toEqual([])
  expect(index.ranked('ab-cd.'.repeat(60)).rows).toHaveLength(0)
})

test('ranks a row the same, independent of earlier searches', () => {
  const index = new TextIndex()
  index.set(0, { name: 'Big Red Fox', code: null, more: ['Harbour Set'] })
  index.set(1, { name: 'Cub', code: null, more: ['Harbour Set'] })
  const before = index.ranked('red fox')
  index.ranked('harbour cub')
  expect(index.ranked('red fox')).toEqual(before)
})

test('finds the same in a subset of rows as in all rows', () => {
  const index = new TextIndex()
  for (let row = 0; row < 200; row++) {
    const name = NAMES[row % NAMES.length]!
    index.set(row, {
      name,
      code: row % 3 === 0 ? CODES[row % CODES.length]! : null,
      more: [MORE[row % MORE.length]!],
      aliases: row % 5 === 0 ? ['Glurak'] : [],
      groupCodes: row % 7 === 0 ? ['sv3'] : [],
      tags: row % 2 === 0 ? 'holo' : 'normal',
    })
  }
  const every = RowBits.of(Int32Array.from({ length: 200 }, (_, row) => row))
  for (const search of ['i', 'e a', 'glurak', 'holo', '4', 'sv3', 'sv3 4', 'mime set', '004/102', '-', '- a', 'ho-oh', 'zzz', '']) {
    const found = Array.from(index.filter(search)).sort((a, b) => a - b)
    for (const rows of [every, every.filter((row) => row % 3 > 0), RowBits.of(new Int32Array([60]))]) {
      const expected = found.filter((row) => rows.has(row))
      expect({ search, found: Array.from(index.among(search, rows).toRows()) }).toEqual({ search, found: expected })
    }
  }
})
