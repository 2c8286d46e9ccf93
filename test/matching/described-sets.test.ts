// Which sets the rows of a list belong to: those that they name, unless their cards are different.
import { expect, it } from 'vitest'
import type { CardDescription } from '#matching/card-index.ts'
import { DescribedSets } from '#matching/described-sets.ts'
import { setOf } from './kit.ts'

const expedition = setOf('tcgdex', 'ecard1', 'Expedition Base Set')
const asian = setOf('tcgdex-asia', 'E1', 'Kihon', ['E1'])
const base = setOf('tcgdex', 'base1', 'Base Set', ['BS'])
const SETS = [expedition, asian, base]

const CARDS = ['Alakazam', 'Ampharos', 'Arbok', 'Blastoise', 'Butterfree']
const RECORDS = [
  ...CARDS.map((name, n) => ({ id: n + 1, category: expedition.ref, code: `${n + 1}/165`, name })),
  ...CARDS.map((_, n) => ({ id: n + 11, category: asian.ref, code: `00${n + 1}`, name: `Other ${n}` })),
  ...CARDS.map((name, n) => ({ id: n + 21, category: base.ref, code: `${n + 50}`, name })),
  { id: 31, category: 'cardmarket:boxes', code: null, name: 'Base Set Booster Box' },
]

const row = (description: Partial<CardDescription>): CardDescription => ({
  name: '',
  number: null,
  set: null,
  game: null,
  finish: null,
  ...description,
})

function described(rows: Partial<CardDescription>[]): { refs: string[]; products: number[]; named: boolean } {
  const sets = new DescribedSets(rows.map(row), SETS)
  sets.look(RECORDS.filter(({ category }) => sets.refs.has(category)))
  const named = sets.areNamed()
  if (!named) {
    sets.look(RECORDS)
    sets.choose()
  }
  return { refs: [...sets.refs].sort(), products: [...sets.products], named }
}

const list = (set: string) => CARDS.map((name, n) => ({ name, number: String(n + 1), set }))

it('finds sets by name or code if their cards agree', () => {
  expect(described(list('Expedition Base Set'))).toEqual({ refs: [expedition.ref], products: [], named: true })
})

it('finds the set whose cards agree if the list has the code of another set', () => {
  expect(described(list('E1'))).toEqual({ refs: [asian.ref, expedition.ref].sort(), products: [], named: false })
  expect(described(list('unknown'))).toEqual({ refs: [expedition.ref], products: [], named: false })
})

it('finds all sets with such a card for rows without a set', () => {
  expect(described([{ name: 'Arbok', number: '003/165' }])).toEqual({ refs: [expedition.ref], products: [], named: false })
})

it('finds products by name', () => {
  expect(described([{ name: 'Base Set Booster Box' }])).toEqual({ refs: [], products: [31], named: false })
})
