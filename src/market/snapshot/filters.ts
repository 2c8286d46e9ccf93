// Filters of listing searches: one rule per parameter, each with a row test and a part of the cache key.
import type { Interned } from '#catalogue/index/interned.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { fold, words } from '#index/fold.ts'
import type { Kind, PublishedTable } from './published.ts'

export interface ListingFilter {
  /** of a merged item, too */
  itemId?: number | undefined
  sellerName?: string | undefined
  setName?: string | undefined
  /** slug; includes everything below it */
  category?: string | undefined
  genre?: string | undefined
  games?: string[] | undefined
  languages?: string[] | undefined
  /** ids of groups (with all their types) or of types */
  gradeIds?: number[] | undefined
  minKurus?: number | undefined
  maxKurus?: number | undefined
  minPc?: number | undefined
  maxPc?: number | undefined
}

export type Test = (row: number) => boolean

/** A condition: its cache key, and a test of rows. */
export interface Condition {
  key: string
  test: Test
  /** for a condition with an index: the rows that meet it */
  rows?: () => Int32Array
  /** for a range condition: the sort it refers to, and its bounds in that order */
  range?: { by: 'price' | 'pc'; from: number; to: number }
}

export interface FilterWorld {
  table: PublishedTable
  catalogue: Catalogue
  /** case-folded names of sellers, by account id */
  sellers: ReadonlyMap<number, string>
}

/** Conditions that must all hold, cheapest test first. */
export function conditionsOf(filter: ListingFilter, { table, catalogue, sellers }: FilterWorld): Condition[] {
  const conditions: Condition[] = []
  const add = (name: string, value: unknown, test: Test) => conditions.push({ key: `${name}=${JSON.stringify(value)}`, test })
  const { items } = catalogue
  const itemRow = (row: number) => items.rowOf(table.itemId[row]!)
  const { sellerName, setName, category, genre, games, languages, gradeIds } = filter
  if (filter.itemId !== undefined) conditions.push(ofItem(filter.itemId, table, catalogue))
  addRange(conditions, 'price', filter.minKurus, filter.maxKurus, (row) => table.kurus[row]!)
  addRange(conditions, 'pc', filter.minPc, filter.maxPc, (row) => table.pcHundredths(row))
  if (languages && languages.length > 0) {
    const codes = sortedSet(languages.map((language) => language.toLowerCase()))
    add(
      'language',
      codes,
      byKind(table, ({ language }) => codes.includes(language)),
    )
  }
  if (gradeIds && gradeIds.length > 0) {
    const withVariants = gradesOf(catalogue, gradeIds)
    add(
      'grade',
      [...withVariants].sort((a, b) => a - b),
      byKind(table, ({ gradeId }) => withVariants.has(gradeId)),
    )
  }
  if (sellerName !== undefined) {
    const name = fold(sellerName)
    const fits = nameTest(name, sellers.values())
    add('seller', name, (row) => fits(sellers.get(table.sellerId[row]!) ?? ''))
  }
  if (games && games.length > 0) {
    const sortedGames = sortedSet(games)
    const isRequested = oneOf(sortedGames, items.games)
    add('game', sortedGames, (row) => isRequested(items.game[itemRow(row)]!))
  }
  if (genre !== undefined) add('genre', genre, (row) => items.genreOf(itemRow(row)) === genre)
  if (setName !== undefined) {
    const name = fold(setName)
    const { categories } = catalogue
    const fits = nameTest(
      name,
      categories.ids().map((id) => fold(categories.get(id)!.name)),
    )
    const named = categoriesWhere(catalogue, (found) => fits(fold(found.name)))
    add('set', name, (row) => named.has(items.categoryId[itemRow(row)]!))
  }
  if (category !== undefined) {
    const subtree = categoriesWhere(catalogue, (found) => found.slug === category)
    add('category', category, (row) => subtree.has(items.categoryId[itemRow(row)]!))
  }
  return conditions
}

/** Has an index, so that the offers of an item are found without a scan. */
function ofItem(itemId: number, table: PublishedTable, { items }: Catalogue): Condition {
  const row = items.rowOf(itemId)
  const id = row < 0 ? itemId : items.id[row]!
  return { key: `item=${id}`, test: (listing) => table.itemId[listing] === id, rows: () => table.ofItem(id) }
}

/** Tests folded names: if one is the whole text, only that; otherwise those with words that begin with each word of it. */
function nameTest(text: string, names: Iterable<string>): (name: string) => boolean {
  if (Iterator.from(names).some((name) => name === text)) return (name) => name === text
  const sought = words(text)
  return (name) => sought.length > 0 && sought.every((start) => words(name).some((word) => word.startsWith(start)))
}

function addRange(conditions: Condition[], by: 'price' | 'pc', from = -Infinity, to = Infinity, amountOf: (row: number) => number): void {
  if (from === -Infinity && to === Infinity) return
  const test = (row: number) => {
    const amount = amountOf(row)
    return amount >= from && amount <= to
  }
  conditions.push({ key: `${by}=${from}..${to}`, test, range: { by, from, to } })
}

/** A test of grade, label or language, evaluated once per kind. */
function byKind(table: PublishedTable, wants: (kind: Kind) => boolean): Test {
  const results: boolean[] = []
  return (row) => (results[table.kind[row]!] ??= wants(table.kindOf(row)))
}

function sortedSet(texts: string[]): string[] {
  return [...new Set(texts)].sort()
}

/** Tests whether a number stands for one of the texts. Texts that have no number yet are compared as text, because they may get one later. */
function oneOf(texts: string[], interned: Interned): (number: number) => boolean {
  const numbers = texts.map((text) => interned.find(text))
  if (numbers.includes(-1)) return (number) => texts.includes(interned.texts[number]!)
  const [first] = numbers
  return numbers.length === 1 ? (number) => number === first : (number) => numbers.includes(number)
}

/** Ids of the matching categories, with all below them. */
function categoriesWhere({ categories }: Catalogue, wants: (category: { name: string; slug: string }) => boolean): Set<number> {
  const matching = new Set<number>()
  for (const id of categories.ids()) {
    if (wants(categories.get(id)!)) for (const below of categories.subtree(id)) matching.add(below)
  }
  return matching
}

/** The named types and all types of the named groups; a listing without a grade (0) counts as ungraded. */
function gradesOf({ labels }: Catalogue, ids: number[]): Set<number> {
  const named = new Set(ids)
  const matching = new Set<number>()
  for (const { id, parentId, slug } of labels.all()) {
    if (parentId === null || !(named.has(id) || named.has(parentId))) continue
    matching.add(id)
    if (slug === 'ungraded') matching.add(0)
  }
  return matching
}
