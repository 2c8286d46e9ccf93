// Manual decisions by card, as input of the matcher.
import { compare } from './source-cards.ts'
import { decidedSets } from './set-maps.ts'
import type { Decisions, MatchRecord } from './matcher-types.ts'

export class Verdicts {
  readonly setMaps: ReadonlyMap<string, ReadonlySet<string | null>>
  readonly #postponed: ReadonlySet<string>
  readonly #apart = new Map<string, Set<string>>()
  readonly #parent = new Map<string, string>()
  readonly #sameFinish: (readonly [string, string])[] = []

  constructor(records: readonly MatchRecord[], decisions: Decisions) {
    this.setMaps = decidedSets(decisions)
    this.#postponed = new Set(decisions.postponed)
    const named = new Set([...decisions.same, ...decisions.apart].flat())
    const byKey = new Map<string, MatchRecord>()
    if (named.size > 0) for (const record of records) if (named.has(record.key)) byKey.set(record.key, record)
    for (const pair of decisions.apart) {
      const [a, b] = cardsOf(pair, byKey)
      if (a === undefined || b === undefined || a.card === b.card) continue
      addTo(this.#apart, a.card, b.card)
      addTo(this.#apart, b.card, a.card)
    }
    for (const pair of decisions.same) {
      const [a, b] = cardsOf(pair, byKey)
      if (a === undefined || b === undefined) continue
      const [one, other] = [this.groupOf(a.card), this.groupOf(b.card)]
      if (one !== other) this.#parent.set(compare(one, other) < 0 ? other : one, compare(one, other) < 0 ? one : other)
      if (a.finish !== b.finish && a.finish !== null && b.finish !== null) this.#sameFinish.push(pair)
    }
  }

  /** The group of a card: cards that were manually joined share one, regardless of other decisions. */
  groupOf(card: string): string {
    let group = card
    for (let next = this.#parent.get(group); next !== undefined; next = this.#parent.get(group)) group = next
    return group
  }

  areApart(card: string, other: string): boolean {
    return this.#apart.get(card)?.has(other) ?? false
  }

  isPostponed(keys: readonly string[]): boolean {
    return this.#postponed.size > 0 && keys.some((key) => this.#postponed.has(key))
  }

  /** Pairs of records with different finishes that are one item. */
  get sameFinish(): readonly (readonly [string, string])[] {
    return this.#sameFinish
  }
}

function cardsOf([a, b]: readonly [string, string], byKey: ReadonlyMap<string, MatchRecord>) {
  return [byKey.get(a), byKey.get(b)]
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key)
  if (values) values.add(value)
  else map.set(key, new Set([value]))
}
