// One form for all spellings of names, numbers and finishes.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { byPlainness, FIT, finishFit, finishRules, finishSlug, finishWords } from '#catalogue/records/finishes.ts'
import { looseName, normalName } from '#matching/names.ts'
import { bareNumber, normalNumber, sharedPrefix } from '#matching/numbers.ts'

const POKEMON = finishRules('pokemon')
const ONE_PIECE = finishRules('onepiece')

it.each([
  ['normal', ['normal', 'Normal', 'Unlimited', 'unlimited normal', 'unstamped', '']],
  ['holo', ['holo', 'Holofoil', 'Unlimited Holofoil', 'unlimited-holofoil', 'Foil', 'Holo Unlimited']],
  ['reverse', ['reverse', 'Reverse Holofoil', 'reverse-holofoil', 'Reverse Holo', 'reverseHolofoil']],
  ['first-edition', ['1st Edition', 'firstEdition', 'firstEdition normal', '1st-edition', 'normal-1st-edition', '1st Edition Normal']],
  ['holo-first-edition', ['1st Edition Holofoil', 'firstEdition holo', 'holo-shadowless-1st-edition', 'Holo 1st Edition']],
  ['holo-shadowless', ['Shadowless Holofoil', 'holo shadowless', 'Holo Shadowless']],
  ['parallel-1', ['_p1', 'Parallel 1', 'parallel-1', 'P1']],
  ['reprint-2', ['_r2', 'Reprint 2']],
  ['holo-cosmos', ['holo-cosmos', 'Cosmos Holofoil', 'Cosmos Foil']],
  ['reverse-pokeball', ['reverse-pokeball', 'Reverse Holo Pokeball']],
] as const)('the finish %s', (slug, spellings) => {
  const rules = /^(?:parallel|reprint)/.test(slug) ? ONE_PIECE : POKEMON
  expect(spellings.map((spelling) => finishSlug(spelling, rules))).toEqual(spellings.map(() => slug))
})

it('a finish slug is its own slug', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('Holo', 'Reverse', '1st', 'Edition', 'Shadowless', 'Staff', 'P1', 'Unlimited', 'x y'), { maxLength: 5 }),
      (parts) => {
        for (const rules of [POKEMON, ONE_PIECE]) {
          const slug = finishSlug(parts.join(' '), rules)
          expect(finishSlug(slug, rules)).toBe(slug)
        }
      },
    ),
  )
})

it('finishes are compared by their words; an item without a finish counts as plain', () => {
  const fitted = (described: string | null, has: string | null) =>
    finishFit(described === null ? null : finishWords(described, POKEMON), has === null ? null : finishWords(has, POKEMON), POKEMON)
  expect([fitted('Holofoil', 'holo'), fitted('Parallel 1', 'parallel-1'), fitted(null, null), fitted('normal', 'normal')]).toEqual(
    Array(4).fill(FIT.same),
  )
  expect([
    fitted('1st Edition', 'holo-first-edition'),
    fitted('Parallel', 'parallel-1'),
    fitted('normal', null),
    fitted('holo', null),
    fitted(null, 'holo'),
    fitted(null, 'reverse'),
  ]).toEqual(Array(6).fill(FIT.alike))
  expect([
    fitted('holo', 'normal'),
    fitted('normal', 'holo'),
    fitted('reverse', null),
    fitted('reverse', 'normal'),
    fitted('Parallel 2', 'parallel-1'),
    fitted('holo', 'holo-shadowless'),
  ]).toEqual(Array(6).fill(FIT.none))
})

it('the plainest finish comes first', () => {
  expect(['reverse', 'holo-first-edition', 'holo', null, 'parallel-1', 'normal'].sort(byPlainness(POKEMON))).toEqual([
    null,
    'normal',
    'holo',
    'reverse',
    'parallel-1',
    'holo-first-edition',
  ])
})

it('numbers lose leading zeros, totals and the prefix of their set', () => {
  expect(['004/102', 'TG01/TG30', 'SWSH020', '103a', '!', 'OP01-001', '２５'].map(normalNumber)).toEqual([
    '4',
    'tg1',
    'swsh20',
    '103a',
    '!',
    'op1-1',
    '25',
  ])
  expect(sharedPrefix(['swsh1', 'swsh2', 'swsh3', 'swsh4', '5'])).toBe('swsh')
  expect(sharedPrefix(['1', '2', 'h1', 'h2'])).toBe('')
  expect(sharedPrefix(['h1', 'h2', 'h3'])).toBe('')
  expect(sharedPrefix([])).toBe('')
  expect([bareNumber('swsh20', 'swsh'), bareNumber('20', 'swsh'), bareNumber('swsh', 'swsh')]).toEqual(['20', '20', 'swsh'])
})

it('names keep what distinguishes cards, loose names keep less', () => {
  const distinct = [
    'Nidoran ♀',
    'Nidoran ♂',
    'Charizard',
    'Charizard ex',
    'Charizard VMAX',
    'Dark Charizard',
    'Charizard δ',
    'Unown A',
    'Unown B',
    'モンキー・D・ルフィ',
  ]
  expect(new Set(distinct.map(normalName)).size).toBe(distinct.length)
  expect(looseName("Professor's Research (Professor Oak)")).toBe(looseName("Professor's Research"))
  expect(looseName('Basic Fire Energy')).toBe(looseName('Fire Energy'))
  expect(looseName('(all in brackets)')).not.toBe('')
})

it('normalising a name is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      expect(normalName(normalName(name))).toBe(normalName(name))
    }),
  )
})
