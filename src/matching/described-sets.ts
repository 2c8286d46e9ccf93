// Finds the sets and products that the rows of a list describe, so that only those are loaded.
import { type CardDescription, isTooLong } from './card-index.ts'
import { parseDescription } from './descriptions.ts'
import { looseName, normalName } from './names.ts'
import { looseNumber, normalNumber } from './numbers.ts'
import type { MatchSet } from './matcher-types.ts'
import { SetNames } from './set-names.ts'

/** A set name may refer to a set if at least this many of its rows describe cards of the set, or this share of them. */
const MIN_CARDS = 3
const SHARE = 0.4

/** A record's facts about its card that rows are compared with. */
export interface Statement {
  id: number
  /** ref of its set */
  category: string | null
  code: string | null
  name: string
}

/** The rows that use the same set name. */
interface Label {
  rows: number
  /** refs of the sets with this name or code */
  named: readonly string[]
  /** number of rows that describe cards of a set, by the set's ref */
  agree: Map<string, number>
}

/**
 * Finds the sets that rows describe. Takes the rows, then statements of the sets that they name. If the rows do not describe these sets, it also
 * takes statements of all sets: a list may use a code for a set that the catalogue uses for another one.
 */
export class DescribedSets {
  /** refs of the sets that the rows name; after `choose`, also of those that they describe */
  readonly refs = new Set<string>()
  /** ids of product records */
  readonly products = new Set<number>()
  readonly #labels = new Map<string, Label>()
  /** labels by number and name of a card; null for rows that do not name a set */
  readonly #byCard = new Map<string, Set<string | null>>()
  readonly #productNames = new Set<string>()
  readonly #sizes = new Map<string, number>()

  constructor(rows: readonly CardDescription[], sets: readonly MatchSet[]) {
    const names = new SetNames(sets.map((facts) => ({ facts })))
    for (const row of rows) {
      if (isTooLong(row)) continue
      if (row.set !== null) this.#label(row.set, names).rows += 1
      const { name, fullName } = parseDescription(row)
      if (row.number === null) this.#productNames.add(name)
      else for (const one of new Set([name, fullName])) this.#byCard.getOrInsertComputed(cardKey(row.number, one), () => new Set()).add(row.set)
    }
  }

  /** Compares some of the records with the rows; records of the same card must be adjacent. */
  look(statements: readonly Statement[]): void {
    let before: Statement | null = null
    for (const statement of statements) {
      const { id, category, code, name } = statement
      if (code === null && (this.#productNames.has(normalName(name)) || this.#productNames.has(looseName(name)))) this.products.add(id)
      const isSameCard = before?.name === name && before.code === code && before.category === category
      before = statement
      if (code === null || category === null || isSameCard) continue
      this.#sizes.set(category, (this.#sizes.get(category) ?? 0) + 1)
      for (const label of this.#byCard.get(cardKey(code, normalName(name))) ?? []) {
        if (label === null) this.refs.add(category)
        else this.#labels.get(label)!.agree.set(category, (this.#labels.get(label)!.agree.get(category) ?? 0) + 1)
      }
    }
  }

  /** Whether the rows describe the sets that they name; call it after `look` has had the statements of these sets. */
  areNamed(): boolean {
    if (this.#productNames.size > 0) return false
    for (const [label, { rows, named, agree }] of this.#labels) {
      const isNamed = named.some((ref) => {
        const size = this.#sizes.get(ref) ?? 0
        return size > 0 && (rows < MIN_CARDS || (agree.get(ref) ?? 0) >= SHARE * Math.min(rows, size))
      })
      if (isNamed) this.#labels.delete(label)
      else agree.clear()
    }
    for (const [card, labels] of this.#byCard) {
      const left = [...labels].filter((label) => label === null || this.#labels.has(label))
      if (left.length > 0) this.#byCard.set(card, new Set(left))
      else this.#byCard.delete(card)
    }
    return this.#byCard.size === 0
  }

  /** Adds the sets that the rows describe; call it after `look` has had the statements of all sets. */
  choose(): void {
    for (const { rows, agree } of this.#labels.values()) {
      for (const [ref, count] of agree) if (count >= Math.min(MIN_CARDS, rows * SHARE)) this.refs.add(ref)
    }
  }

  #label(set: string, names: SetNames<{ facts: MatchSet }>): Label {
    const cached = this.#labels.get(set)
    if (cached) return cached
    const found = names.withGalleries(names.find(set, parseDescription({ name: '', number: null, set, finish: null })))
    const label = { rows: 0, named: found.map(({ facts }) => facts.ref), agree: new Map<string, number>() }
    for (const ref of label.named) this.refs.add(ref)
    this.#labels.set(set, label)
    return label
  }
}

function cardKey(number: string, name: string): string {
  return `${looseNumber(normalNumber(number))}\t${name}`
}
