// Finds sets by the names and codes used in lists.
import { GAMES } from '#games/games.ts'
import { withoutBrackets } from './descriptions.ts'
import { normalName } from './names.ts'
import { normalNumber } from './numbers.ts'
import type { MatchSet } from './matcher-types.ts'

/** Suffixes in the names of sets that are printed as part of another set. */
const GALLERIES = [...new Set(GAMES.all.flatMap(({ sets }) => sets.galleries))]

interface Named {
  facts: MatchSet
}

/** The normalised name of a set in a list, with and without the parentheses at its end. */
interface NormalisedSetName {
  set: string
  bareSet: string
}

/** Finds sets by the names used in lists; several sets can share a name. */
export class SetNames<S extends Named> {
  readonly #byName = new Map<string, Set<S>>()
  readonly #byCode = new Map<string, Set<S>>()

  constructor(sets: Iterable<S>) {
    for (const set of sets) {
      const { name, codes } = set.facts
      for (const label of [name, withoutBrackets(name), ...codes]) add(this.#byName, normalName(label), set)
      // Leading zeros in a code matter only if nothing else distinguishes two sets.
      for (const code of codes) add(this.#byCode, normalNumber(code), set)
    }
  }

  /** The sets with this name or code; empty if there are none. */
  find(label: string, { set, bareSet }: NormalisedSetName): Iterable<S> {
    return this.#byName.get(set) ?? this.#byName.get(bareSet) ?? this.#byCode.get(normalNumber(label)) ?? []
  }

  /** The sets, and the galleries that are printed as part of them. */
  withGalleries(sets: Iterable<S>): S[] {
    const all = new Set(sets)
    const names = new Set([...all].map(({ facts }) => normalName(facts.name)))
    for (const name of names) {
      for (const gallery of GALLERIES) for (const one of this.#byName.get(`${name} ${gallery}`) ?? []) all.add(one)
    }
    return [...all]
  }
}

function add<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const values = map.get(key)
  if (values) values.add(value)
  else map.set(key, new Set([value]))
}
