// The fields of field queries, with the values and tests of each.
import { DAY_MS } from '#core/duration.ts'
import { invalid } from '#core/errors.ts'
import { parseLabel } from '#core/labels.ts'
import { isMarket, MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { type Game, GAMES, gameOf } from '#games/games.ts'
import type { FinishRules } from '#games/schema.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { ColumnCondition, NumberColumn } from '#index/bits.ts'
import { numberOf, sameCode } from '#index/codes.ts'
import { fold } from '#index/fold.ts'
import type { TextIndex } from '#index/text.ts'
import { finishWords } from '../records/finishes.ts'
import { languageCode } from '../records/languages.ts'
import { GENRES } from '../records/catalogue-records.ts'
import type { CategoryTree } from '../index/category-tree.ts'
import type { Facet } from '../index/facets.ts'
import type { ItemTable } from '../index/items.ts'
import type { LabelTree } from '../index/label-tree.ts'
import { amountOf, hasChangedSince } from '../index/sorts.ts'
import type { Operator, Term } from './parse.ts'

/** The tables that contain the values of fields. */
export interface FieldTables {
  items: ItemTable
  categories: CategoryTree
  labels: LabelTree
}

/** The data that a query is evaluated against. */
export interface QueryData extends FieldTables {
  text: TextIndex
  /** position in MARKETS of the requested market; null for none */
  market: number | null
}

/** What the rows of a term pass: a condition on a column where there is one, because it is tested faster. */
export type Test = ColumnCondition | ((row: number) => boolean)

type Comparison = Exclude<Operator, ':' | '!='>

interface Field {
  aliases?: readonly string[]
  operators: readonly Operator[]
  /** whether its result may change when only prices change */
  priced?: boolean
  /** whether it tests attributes or details, which Starter does not get */
  gated?: boolean
  /** suggested values for the operator, if they form a list; may contain duplicates */
  values?: (catalogued: FieldTables, operator: Operator) => readonly string[]
  /** `operator` is never `!=`, which is the negation of `=` */
  test: (searched: QueryData, term: Term) => Test
}

const TEXT: readonly Operator[] = [':', '=', '!=']

const AMOUNT: readonly Operator[] = [':', '=', '!=', '<', '<=', '>', '>=']

const LIST: readonly Operator[] = [':', '=', '!=']

export const FIELDS: Readonly<Record<string, Field>> = {
  name: { aliases: ['n'], operators: TEXT, test: ({ items }, term) => byNumber(items.names.keys, items.name, matchesText(term)) },
  code: { operators: TEXT, test: codeTest },
  number: { aliases: ['no'], operators: AMOUNT, test: numberTest },
  set: { aliases: ['s', 'category'], operators: TEXT, test: setTest, values: setNames },
  rarity: { gated: true, aliases: ['r'], operators: AMOUNT, test: rarityTest, values: rarities },
  finish: {
    gated: true,
    aliases: ['f'],
    operators: TEXT,
    test: (searched, term) => byGame(searched, 'finish', (game) => matchesFinish(term, game.finishes)),
    values: facetValues('finish'),
  },
  lang: {
    gated: true,
    aliases: ['language', 'l'],
    operators: LIST,
    test: (searched, { value }) => byFacet(searched, 'language', hasEntry(value, languageCode)),
    values: facetEntries('language', languageCode),
  },
  illustrator: {
    gated: true,
    aliases: ['artist', 'a'],
    operators: TEXT,
    test: (searched, term) => byFacet(searched, 'illustrator', matchesText(term)),
    values: facetValues('illustrator'),
  },
  card: { gated: true, operators: TEXT, test: (searched, term) => byFacet(searched, 'card', matchesText(term)), values: facetValues('card') },
  type: {
    gated: true,
    aliases: ['t', 'color'],
    operators: LIST,
    test: (searched, { value }) => byFacet(searched, 'type', hasEntry(value)),
    values: facetEntries('type'),
  },
  regulation: {
    gated: true,
    operators: TEXT,
    test: (searched, term) => byFacet(searched, 'regulation', matchesText(term)),
    values: facetValues('regulation'),
  },
  product: {
    gated: true,
    operators: TEXT,
    test: (searched, term) => byFacet(searched, 'product', matchesText(term)),
    values: facetValues('product'),
  },
  hp: { gated: true, operators: AMOUNT, test: hpTest },
  game: {
    aliases: ['g'],
    operators: LIST,
    test: ({ items }, { value }) => byNumber(items.games.texts, items.game, (game) => game === value.toLowerCase()),
    values: ({ items }) => items.games.texts,
  },
  genre: { operators: LIST, test: genreTest, values: () => GENRES },
  market: { operators: LIST, test: marketTest, values: () => MARKETS },
  label: { operators: LIST, priced: true, test: labelTest, values: labelNames },
  price: { operators: AMOUNT, priced: true, test: priceTest(null) },
  ...Object.fromEntries(
    MARKETS.map((market, position): [string, Field] => [`price.${market}`, { operators: AMOUNT, priced: true, test: priceTest(position) }]),
  ),
  updated: { operators: AMOUNT, priced: true, test: updatedTest },
}

/** Fields by their names and aliases. */
export const NAMES = new Map(Object.entries(FIELDS).flatMap(([name, { aliases = [] }]) => [name, ...aliases].map((word) => [word, name] as const)))

function byNumber(values: readonly string[], column: NumberColumn, matches: (value: string, number: number) => boolean): ColumnCondition {
  return { column, passes: passesOf(values, matches) }
}

function passesOf(values: readonly string[], matches: (value: string, number: number) => boolean): Uint8Array {
  const passes = new Uint8Array(values.length + 1)
  for (let i = 0; i < values.length; i += 1) if (matches(values[i]!, i)) passes[i + 1] = 1
  return passes
}

/** @param matches whether a folded value matches; never true for the empty text, which represents a missing value */
function byFacet({ items: { facets } }: QueryData, facet: Facet, matches: (folded: string) => boolean): Test {
  return byNumber(facets.values[facet].keys, facets.columns[facet], (value) => value !== '' && matches(value))
}

/** The same by the words and rules of each item's game. */
function byGame({ items: { facets, games, game } }: QueryData, facet: Facet, matchesIn: (game: Game) => (folded: string) => boolean): Test {
  const { keys } = facets.values[facet]
  const width = keys.length + 1
  const passes = new Uint8Array(width * games.texts.length)
  const byData = new Map<Game, Uint8Array>()
  for (const [i, slug] of games.texts.entries()) {
    const ofGame = byData.getOrInsertComputed(gameOf(slug), (data) => {
      const matches = matchesIn(data)
      return passesOf(keys, (value) => value !== '' && matches(value))
    })
    passes.set(ofGame, i * width)
  }
  return { column: facets.columns[facet], passes, by: { column: game, width } }
}

function facetValues(facet: Facet): NonNullable<Field['values']> {
  return ({ items: { facets } }) => facets.values[facet].texts.filter((text) => text !== '')
}

function facetEntries(facet: Facet, canonical: (entry: string) => string = (entry) => entry): NonNullable<Field['values']> {
  return ({ items: { facets } }) =>
    facets.values[facet].keys.flatMap((list) => (list === '' ? [] : list.split(',').map((entry) => canonical(entry.trim()))))
}

function setNames({ categories }: FieldTables): string[] {
  return categories.ids().map((id) => categories.get(id)!.name)
}

function labelNames({ labels }: FieldTables): string[] {
  return labels.all().flatMap(({ name, parentId }) => (parentId === null ? [] : name))
}

function matchesText({ operator, value }: Term): (folded: string) => boolean {
  const foldedValue = fold(value)
  return operator === ':' ? (folded) => folded.includes(foldedValue) : (folded) => folded === foldedValue
}

function hasEntry(value: string, canonical: (entry: string) => string = (entry) => entry): (list: string) => boolean {
  const foldedValue = canonical(fold(value))
  return (list) => list.split(',').some((entry) => canonical(entry.trim()) === foldedValue)
}

/** `:` matches finishes that have all of the words, `=` only those without further words; a plain finish has no words. */
function matchesFinish({ operator, value }: Term, rules: FinishRules): (finish: string) => boolean {
  const words = finishWords(value, rules)
  return (finish) => {
    const has = finishWords(finish, rules)
    const fits = words.every((word) => has.includes(word))
    return fits && (has.length === words.length || (operator === ':' && words.length > 0))
  }
}

function compare(operator: Operator): (a: number, b: number) => boolean {
  return COMPARE[operator === ':' ? '=' : (operator as Comparison)]
}

const COMPARE: Readonly<Record<Comparison, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

function codeTest({ items }: QueryData, { value }: Term): Test {
  const queried = numberOf(value)
  const { texts } = items.codes
  return byNumber(items.codeNumbers(), items.code, (number, i) => number === queried && sameCode(texts[i]!, value))
}

/** Compares numbers only if they consist of digits. */
function numberTest({ items }: QueryData, term: Term): Test {
  const { operator, value } = term
  if (operator === ':' || operator === '=') {
    const queried = numberOf(value)
    return byNumber(items.codeNumbers(), items.code, (number) => number === queried)
  }
  const bound = wholeNumber(term)
  const holds = compare(operator)
  return byNumber(items.codeNumbers(), items.code, (number) => /^\d+$/u.test(number) && holds(Number(number), bound))
}

function setTest({ items, categories }: QueryData, { operator, value }: Term): Test {
  const foldedValue = fold(value)
  const ids = categories.ids()
  const passes = new Uint8Array(ids.reduce((largest, id) => Math.max(largest, id), 0) + 2)
  for (const id of ids) {
    const { name, slug, codes } = categories.get(id)!
    const folded = fold(name)
    const fits =
      folded === foldedValue ||
      slug === foldedValue ||
      codes.some((code) => fold(code) === foldedValue) ||
      (operator === ':' && folded.includes(foldedValue))
    if (fits) for (const one of categories.subtree(id)) passes[one + 1] = 1
  }
  return { column: items.categoryId, passes }
}

function rarityTest(searched: QueryData, term: Term): Test {
  if (term.operator === ':' || term.operator === '=') return byFacet(searched, 'rarity', matchesText(term))
  if (!GAMES.ranks.has(fold(term.value))) throw wrongValue(term, reason('one_of', { values: GAMES.rarities }))
  const holds = compare(term.operator)
  return byGame(searched, 'rarity', (game) => {
    const bound = rankOf(term.value, game)!
    return (rarity) => {
      const rank = rankOf(rarity, game)
      return rank !== undefined && holds(rank, bound)
    }
  })
}

function rarities(catalogued: FieldTables, operator: Operator): readonly string[] {
  const all = facetValues('rarity')(catalogued, operator)
  return TEXT.includes(operator) ? all : all.filter((rarity) => GAMES.ranks.has(fold(rarity)))
}

/** The rank of a rarity in a game, or, if the game has no such rarity, in the games that have it. */
function rankOf(rarity: string, game: Game): number | undefined {
  return game.ranks.get(fold(rarity)) ?? GAMES.ranks.get(fold(rarity))
}

/** The largest number of its column. */
const MAX_HP = 65_535

function hpTest({ items: { facets } }: QueryData, term: Term): Test {
  const bound = wholeNumber(term)
  const holds = compare(term.operator)
  const passes = new Uint8Array(MAX_HP + 2)
  for (let hp = 1; hp <= MAX_HP; hp += 1) if (holds(hp, bound)) passes[hp + 1] = 1
  return { column: facets.hp, passes }
}

function genreTest({ items }: QueryData, term: Term): Test {
  const genre = (GENRES as readonly string[]).indexOf(term.value.toLowerCase())
  if (genre < 0) throw wrongValue(term, reason('one_of', { values: [...GENRES] }))
  return byNumber(GENRES, items.genre, (_, number) => number === genre)
}

function marketTest({ items }: QueryData, term: Term): Test {
  const market = term.value.toLowerCase()
  if (!isMarket(market)) throw wrongValue(term, reason('one_of', { values: [...MARKETS] }))
  const position = MARKETS.indexOf(market)
  return (row) => items.isSelectedBy(position, row)
}

/** An item has a label if the requested market has a price under it; if no market is requested, if any market has one. */
function labelTest({ items: { prices }, labels, market }: QueryData, term: Term): Test {
  const label = parseLabel(term.value)
  if (!label) throw wrongValue(term, reason('label', { value: term.value }))
  const id = labels.ofLabel(label.label)?.id
  return (row) => {
    const end = prices.start(row) + prices.count(row)
    for (let at = prices.start(row); at < end; at += 1) {
      if (prices.label[at] === id && (market === null || prices.market[at] === market)) return true
    }
    return false
  }
}

/** @param of position of the market whose prices are compared; null for the displayed ones */
function priceTest(of: number | null): Field['test'] {
  return ({ items, labels, market }, term) => {
    const bound = parseMinor(term.value)
    if (bound === null) throw wrongValue(term, reason('number', { min: 0, decimals: 2 }))
    const holds = compare(term.operator)
    const fixed = of ?? market
    if (fixed === null) return (row) => holds(amountOf(items, labels, row, items.shown[row]!), bound)
    // A market with a price for an item selects it, and that takes one byte to read.
    return (row) => items.isSelectedBy(fixed, row) && holds(amountOf(items, labels, row, fixed), bound)
  }
}

/** Compares whole days, in UTC. */
function updatedTest({ items, market }: QueryData, term: Term): Test {
  const from = /^\d{4}-\d{2}-\d{2}$/u.test(term.value) ? Date.parse(term.value) : Number.NaN
  if (Number.isNaN(from)) throw wrongValue(term, reason('date', { format: 'YYYY-MM-DD' }))
  const since = (ms: number) => (row: number) => hasChangedSince(items, row, market ?? items.shown[row]!, ms)
  const [atDay, afterDay] = [since(from), since(from + DAY_MS)]
  switch (term.operator) {
    case '>=':
      return atDay
    case '>':
      return afterDay
    case '<':
      return (row) => !atDay(row)
    case '<=':
      return (row) => !afterDay(row)
    default:
      return (row) => atDay(row) && !afterDay(row)
  }
}

function wholeNumber(term: Term): number {
  if (!/^\d{1,9}$/u.test(term.value)) throw wrongValue(term, reason('integer', { min: 0 }))
  return Number(term.value)
}

function wrongValue({ field, at, value }: Term, must: Reason) {
  return invalid('query', 'query_value', { name: field!, at, value: value.slice(0, 40), must })
}
