// Items by set and collector number among those in memory: sets by any of their names and codes, numbers as people write them.
import { type Candidate, candidateOf } from '#catalogue/item-lookup.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { CategoryTree } from '#catalogue/snapshot/category-tree.ts'
import { describe } from '#matching/descriptions.ts'
import { bareNumber, normalNumber, sharedPrefix, totalOf, withoutSetCode } from '#matching/numbers.ts'
import type { MatchSet } from '#matching/records.ts'
import { SetNames } from '#matching/set-names.ts'

/** A card by its set, named by name, code, slug or id, and its number, with or without the total. */
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
}

/** The names of the sets of a catalogue, made again when its categories have changed. */
const NAMED = new WeakMap<CategoryTree, NamedSets>()

/**
 * The items that each could mean, by the position of their catalogue in MARKETS, the first one first: the same card may be in the
 * catalogues of several markets.
 */
export function itemsNumbered(catalogue: Catalogue, asked: readonly SetNumber[]): Candidate[][][] {
  const { items } = catalogue
  const sets = namedSets(catalogue.categories)
  const setsOf = new Map<string, readonly KnownSet[]>()
  const rowsOf = new Map<KnownSet, RowsByNumber>()
  return asked.map(({ set, number }) => {
    const own = setsOf.get(set) ?? setsNamed(sets, set)
    setsOf.set(set, own)
    const total = totalOf(number)
    const rows = own.flatMap((one) => {
      const known = rowsOf.get(one) ?? new RowsByNumber(catalogue, one)
      rowsOf.set(one, known)
      return known.find(normalNumber(number)).filter((row) => isOfTotal(items, row, total))
    })
    const byMarket = Map.groupBy(rows, (row) => items.market[row]!)
    return [...byMarket]
      .sort(([a], [b]) => a - b)
      .map(([, those]) => those.map((row) => candidateOf(items.id[row]!, items.finishOf(row), items.cardOf(row))))
  })
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
  const named = { version: categories.version, byName: new SetNames(sets), byKey }
  NAMED.set(categories, named)
  return named
}

/** All that may be meant: an id that is also the name of another set names both. */
function setsNamed({ byName, byKey }: NamedSets, set: string): readonly KnownSet[] {
  const named = byName.withGalleries(byName.find(set, describe({ name: '', number: null, set, finish: null })))
  const keyed = byKey.get(set.toLowerCase())
  return keyed === undefined || named.includes(keyed) ? named : [...named, keyed]
}

/** The live rows of a set by number. */
class RowsByNumber {
  readonly #codes: readonly string[]
  readonly #byNumber = new Map<string, number[]>()
  #bare: Map<string, number[]> | null = null

  constructor({ items }: Catalogue, { id, facts }: KnownSet) {
    this.#codes = facts.codes
    const numbers = items.codeNumbers()
    const seen = new Set<number>()
    items.categoryRows.forEach([id], (row) => {
      if (items.categoryId[row] !== id || items.code[row]! < 0 || !items.live.has(row) || seen.has(row)) return
      seen.add(row)
      push(this.#byNumber, numbers[items.code[row]!]!, row)
    })
  }

  /** The number as it is printed, else without what the set prints on all of its cards, else with or without the set's code. */
  find(number: string): readonly number[] {
    const printed = this.#byNumber.get(number) ?? this.#withoutPrefix().get(number) ?? this.#byNumber.get(withoutSetCode(number, this.#codes))
    if (printed) return printed
    for (const code of this.#codes) {
      const rows = this.#byNumber.get(normalNumber(`${code} ${number}`))
      if (rows) return rows
    }
    return []
  }

  #withoutPrefix(): Map<string, number[]> {
    if (this.#bare) return this.#bare
    const bare = new Map<string, number[]>()
    const prefix = sharedPrefix([...this.#byNumber].flatMap(([number, rows]) => rows.map(() => number)))
    if (prefix !== '') for (const [number, rows] of this.#byNumber) for (const row of rows) push(bare, bareNumber(number, prefix), row)
    this.#bare = bare
    return bare
  }
}

/** A number with a total is not the same number of another total. */
function isOfTotal(items: Catalogue['items'], row: number, total: string): boolean {
  if (total === '') return true
  const own = totalOf(items.codeOf(row)!)
  return own === '' || own === total
}

function push<K>(map: Map<K, number[]>, key: K, row: number): void {
  const known = map.get(key)
  if (known) known.push(row)
  else map.set(key, [row])
}
