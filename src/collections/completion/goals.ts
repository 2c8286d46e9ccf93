// Which cards belong to a goal of completion, judged by the numbers that the catalogue states. Pure, on the catalogue in memory.
import type { CategoryTree } from '#catalogue/index/category-tree.ts'
import type { ItemTable } from '#catalogue/index/items.ts'
import type { Interned } from '#catalogue/index/interned.ts'
import { languageCode } from '#catalogue/records/languages.ts'
import { namedValues } from '#core/named-values.ts'
import { parseCode } from '#index/codes.ts'
import { fold } from '#index/fold.ts'

/**
 * Goals from the smallest to the largest; each includes those before it.
 * - `base`: the cards with the plain numbers 1 to the set's printed count: neither secret cards above it nor numbered subsets.
 * - `official`: also numbered subsets, each up to its own printed count (`TG12/TG30`).
 * - `complete`: every card of the set, once in any finish.
 * - `master`: every finish and printing of every card.
 */
export const GOALS = namedValues('CompletionGoal', ['base', 'official', 'complete', 'master'])
export type Goal = (typeof GOALS)[number]

/** Any language, in place of the code of one. */
export const ANY_LANGUAGE = 'any'

interface Numbers {
  /** a number without letters; NaN for others */
  plain: number
  /** a printed count without letters; NaN for others */
  count: number
  /** whether it is a number of a subset within the count of that subset */
  inSubset: boolean
}

const WITHOUT_CODE: Numbers = { plain: Number.NaN, count: Number.NaN, inSubset: false }
const PARTS = /^(\D*)(\d{1,9})$/

function numbersOf(code: string): Numbers {
  const parsed = parseCode(code)
  const [, prefix, digits] = PARTS.exec(parsed.number) ?? []
  const [, countPrefix, countDigits] = PARTS.exec(parsed.total) ?? []
  const number = digits === undefined ? Number.NaN : Number(digits)
  const count = countDigits === undefined ? Number.NaN : Number(countDigits)
  const isSubset = prefix !== undefined && prefix !== '' && prefix === countPrefix
  return {
    plain: prefix === '' ? number : Number.NaN,
    count: countPrefix === '' ? count : Number.NaN,
    inSubset: isSubset && number >= 1 && number <= count,
  }
}

/** Numbers of the codes of a catalogue, read when they are first needed: a code never changes its number in the table. */
const read = new WeakMap<Interned, Numbers[]>()

/** The cards of sets that belong to a goal. Use one for a whole request: it remembers the counts of sets. */
export class GoalCards {
  readonly #items: ItemTable
  readonly #categories: CategoryTree
  readonly #goal: Goal
  /** by number of the text, whether it contains the language; null for any language */
  readonly #inLanguage: boolean[] | null
  /** printed count by category; null if none is stated anywhere */
  readonly #counts = new Map<number, number | null>()
  readonly #numbers: Numbers[]
  /** code of the language */
  readonly languageCode: string

  constructor({ items, categories }: { items: ItemTable; categories: CategoryTree }, goal: Goal, language: string) {
    this.#items = items
    this.#categories = categories
    this.#goal = goal
    const code = languageCode(fold(language))
    this.languageCode = code
    const contains = (list: string) => list.split(',').some((entry) => languageCode(entry.trim()) === code)
    this.#inLanguage = language === ANY_LANGUAGE ? null : items.facets.values.language.keys.map(contains)
    const stored = read.get(items.codes)
    this.#numbers = stored ?? []
    if (!stored) read.set(items.codes, this.#numbers)
  }

  /** Whether the item is, or is a finish of, a card of the goal. Sealed products and bundles never are. */
  has(row: number): boolean {
    const genre = this.#items.genreOf(row)
    if (genre !== 'single' && genre !== 'card') return false
    if (this.#inLanguage && !this.#inLanguage[this.#items.facets.columns.language[row]!]) return false
    if (this.#goal === 'complete' || this.#goal === 'master') return true
    if (this.#items.code[row]! < 0) return false
    const { plain, inSubset } = this.#numbersOf(row)
    const count = this.#countOf(this.#items.categoryId[row]!)
    // A set that prints no count beside its numbers has all its numbered cards in it.
    if (count === null || (plain >= 1 && plain <= count)) return true
    return this.#goal === 'official' && inSubset
  }

  /** Equal for all printings that count as one card: those of the same card, except for the goal `master`. */
  cardOf(row: number): string {
    return this.#goal === 'master' ? String(row) : this.#items.cardOf(row)
  }

  #numbersOf(row: number): Numbers {
    const code = this.#items.code[row]!
    if (code < 0) return WITHOUT_CODE
    return (this.#numbers[code] ??= numbersOf(this.#items.codes.texts[code]!))
  }

  /** The count that the set states; without one, the largest that its cards print beside their numbers. */
  #countOf(categoryId: number): number | null {
    const found = this.#counts.get(categoryId)
    if (found !== undefined) return found
    let count = this.#categories.get(categoryId)?.printedTotal ?? null
    if (count === null) {
      this.#items.categoryRows.forEach([categoryId], (row) => {
        if (this.#items.categoryId[row] !== categoryId || !this.#items.live.has(row)) return
        const printed = this.#numbersOf(row).count
        if (printed > (count ?? 0)) count = printed
      })
    }
    this.#counts.set(categoryId, count)
    return count
  }
}
