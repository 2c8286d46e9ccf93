// Finds items in memory by set and collector number: sets by any of their names or codes, numbers in any spelling.
import { type Candidate, candidateOf, itemsOfFinish } from '#catalogue/items/item-lookup.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { CategoryTree } from '#catalogue/index/category-tree.ts'
import type { ItemTable } from '#catalogue/index/items.ts'
import { Cache } from '#core/cache.ts'
import { name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { parseDescription } from '#matching/descriptions.ts'
import { bareNumber, normalNumber, sharedPrefix, totalOf, withoutSetCode } from '#matching/numbers.ts'
import type { MatchSet } from '#matching/matcher-types.ts'
import { SetNames } from '#matching/set-names.ts'

/** Fields that name a printing of a card. */
export const PrintingFields = {
  set: name('Name, code, slug or id of a set'),
  number: name('Collector number, with or without leading zeros and total'),
  finish: Type.Optional(name('Printing in any spelling, such as `Reverse Holofoil`; default: the plain one')),
}

/** A card by its set (name, code, slug or id) and its number, with or without the total. */
export interface SetNumber {
  set: string
  number: string
}

interface KnownSet {
  id: number
  facts: MatchSet
}

interface NamedSets {
  version: number
  byName: SetNames<KnownSet>
  /** by slug and by id */
  byKey: Map<string, KnownSet>
  /** cached results by text, because requests repeat the text of a set for each of its cards */
  found: Cache<string, readonly KnownSet[]>
}

const MAX_CACHED_SETS = 5_000

/** The set names of a catalogue, rebuilt when its categories change. */
const NAMED = new WeakMap<CategoryTree, NamedSets>()

/**
 * The candidate items of each card, by the position of their catalogue in MARKETS: the same card may be in the catalogues of several
 * markets.
 */
export function itemsNumbered(catalogue: Catalogue, asked: readonly SetNumber[]): Candidate[][][] {
  const { items } = catalogue
  const named = namedSets(catalogue.categories)
  const rowsOf = new Map<KnownSet, SetRows>()
  const wanted = asked.map(({ set, number }) => {
    const sets = setsNamed(named, set).map((one) => rowsOf.getOrInsertComputed(one, () => new SetRows(items, one)))
    const own = { sets, number: normalNumber(number), total: totalOf(number) }
    for (const one of sets) one.want(own.number)
    return own
  })
  return wanted.map(({ sets, number, total }) => {
    const rows = new Set(sets.flatMap((one) => one.find(number)).filter((row) => isOfTotal(items, row, total)))
    const byMarket = Map.groupBy(rows, (row) => items.market[row]!)
    const inOrder = [...byMarket].sort(([a], [b]) => a - b)
    return inOrder.map(([, those]) => those.map((row) => candidateOf(items.id[row]!, items.finishOf(row), items.cardOf(row), items.gameOf(row))))
  })
}

/** Ids of the items with this finish, from the first market that has any. Several if the finish is ambiguous. */
export function itemsOfPrinting(markets: readonly Candidate[][], finish: string | undefined): number[] {
  return markets.map((candidates) => itemsOfFinish(candidates, finish)).find((items) => items.length > 0) ?? []
}

function namedSets(categories: CategoryTree): NamedSets {
  const known = NAMED.get(categories)
  if (known?.version === categories.version) return known
  const byKey = new Map<string, KnownSet>()
  const sets = categories.ids().map((id): KnownSet => {
    const { name, codes, slug } = categories.get(id)!
    const set = { id, facts: { ref: String(id), name, codes, printedTotal: null } }
    byKey.set(slug, set)
    byKey.set(String(id), set)
    return set
  })
  const named = {
    version: categories.version,
    byName: new SetNames(sets),
    byKey,
    found: new Cache<string, readonly KnownSet[]>({ limit: MAX_CACHED_SETS }),
  }
  NAMED.set(categories, named)
  return named
}

/** All candidate sets. If an id is also the name of another set, both sets are returned. */
function setsNamed({ byName, byKey, found }: NamedSets, set: string): readonly KnownSet[] {
  const known = found.get(set)
  if (known) return known
  const named = byName.withGalleries(byName.find(set, parseDescription({ name: '', number: null, set, finish: null })))
  const keyed = byKey.get(set.toLowerCase())
  const sets = keyed === undefined || named.includes(keyed) ? named : [...named, keyed]
  found.set(set, sets)
  return sets
}

/** The live rows of a set by number; finds the rows of all wanted numbers in one pass over the set. */
class SetRows {
  readonly #items: ItemTable
  readonly #id: number
  readonly #codes: readonly string[]
  readonly #wanted = new Map<string, number[]>()
  #isRead = false
  /** by number, and by number without the prefix that all cards of the set share; built when a number is not found as printed */
  #all: { byNumber: Map<string, number[]>; bare: Map<string, number[]> } | null = null

  constructor(items: ItemTable, { id, facts }: KnownSet) {
    this.#items = items
    this.#id = id
    this.#codes = facts.codes
  }

  /** Adds a number to look for; must be called for every number before the first `find`. */
  want(number: string): void {
    this.#wanted.getOrInsert(number, [])
  }

  /** The rows of the number as printed; if there are none, without the set's shared prefix; then with or without the set's code. */
  find(number: string): readonly number[] {
    if (!this.#isRead) this.#readWanted()
    this.#isRead = true
    const printed = this.#wanted.get(number)!
    if (printed.length > 0) return printed
    const { byNumber, bare } = (this.#all ??= this.#readAll())
    const forms = [withoutSetCode(number, this.#codes), ...this.#codes.map((code) => normalNumber(`${code} ${number}`))]
    return bare.get(number) ?? forms.map((form) => byNumber.get(form)).find((rows) => rows !== undefined) ?? []
  }

  /** Compares the numbers of rows as integers, because a set has many more rows than are looked for. */
  #readWanted(): void {
    const numberOfCodes = this.#items.numberOfCodes()
    const wanted = new Map([...this.#wanted].map(([number, rows]) => [this.#items.numbers.find(number), rows]))
    this.#eachRow((code, row) => void wanted.get(numberOfCodes[code]!)?.push(row))
  }

  #readAll() {
    const numbers = this.#items.codeNumbers()
    const byNumber = new Map<string, number[]>()
    const bare = new Map<string, number[]>()
    this.#eachRow((code, row) => void byNumber.getOrInsertComputed(numbers[code]!, () => []).push(row))
    const prefix = sharedPrefix([...byNumber].flatMap(([number, rows]) => rows.map(() => number)))
    if (prefix !== '')
      for (const [number, rows] of byNumber) for (const row of rows) bare.getOrInsertComputed(bareNumber(number, prefix), () => []).push(row)
    return { byNumber, bare }
  }

  /** Visits rows with their codes; may visit a row more than once. */
  #eachRow(visit: (code: number, row: number) => void): void {
    const { categoryId, categoryRows, code, live } = this.#items
    categoryRows.forEach([this.#id], (row) => {
      if (code[row]! >= 0 && categoryId[row] === this.#id && live.has(row)) visit(code[row]!, row)
    })
  }
}

/** Whether the row has the given printed total, if both are known: the same number with a different total is a different card. */
function isOfTotal(items: ItemTable, row: number, total: string): boolean {
  if (total === '') return true
  const own = totalOf(items.codeOf(row)!)
  return own === '' || own === total
}
