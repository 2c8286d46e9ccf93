// Maps sets between sources by the cards that match in number and name.
import { Multimap } from './multimap.ts'
import { normalName } from './names.ts'
import type { Decisions, SetMap } from './matcher-types.ts'
import { compare, type SourceCard, type SourceSet } from './source-cards.ts'

/** Minimum share of the smaller set's cards that must match. */
const AGREEMENT = 0.8
/** A map is uncertain if at least this share of its matching cards also match cards of another set. */
const NEAR = 0.5
/** Fewer matching cards prove nothing unless both sets have the same name. */
const MIN_CARDS = 3
/** Below this share, a resemblance counts as chance; from this share on, a person decides. */
const RESEMBLANCE = 0.4

/**
 * Maps sets of two sources by matching cards. `from` and `to` may be the same source, to find sets that contain the same cards.
 * @param decided manual decisions by set: the sets that it is the same as, or null if it is none of the others
 * @returns maps by the rule and by people; uncertain maps only for sets without a certain one
 */
export function mapSets(from: readonly SourceSet[], to: readonly SourceSet[], decided: ReadonlyMap<string, ReadonlySet<string | null>>): SetMap[] {
  const counts = countAgreeing(from, to)
  const areNamesakes = namesakes(from, to)
  const byRef = new Map(to.map((set) => [set.ref, set]))
  const choices = new Map(from.flatMap(({ ref }) => choiceOf(ref, decided, byRef)))
  const maps: SetMap[] = []
  const seen = new Set<string>()
  for (const { a, b, agree, contested } of counts) {
    const of = Math.min(a.cards.length, b.cards.length)
    const choice = choices.get(a.ref)
    seen.add(`${a.ref}\t${b.ref}`)
    if (choice !== undefined) {
      if (choice.has(b)) maps.push({ from: a.ref, to: b.ref, agree, of, decided: true, by: 'operator' })
      continue
    }
    const share = agree / of
    if (!isSameName(a, b) && (share < RESEMBLANCE || agree < MIN_CARDS)) continue
    const near = contested >= agree * NEAR && !areNamesakes(a, b)
    const clear = share >= AGREEMENT && !near
    maps.push({ from: a.ref, to: b.ref, agree, of, decided: clear, by: clear ? 'rule' : null })
  }
  const byName = Map.groupBy(to, ({ facts }) => normalName(facts.name))
  for (const a of from === to ? [] : from) {
    // Adds maps for sets without a matching card: manually joined sets, and sets of the same name, which a person must decide.
    const choice = choices.get(a.ref)
    for (const b of choice ?? (a.facts.name === '' ? [] : (byName.get(normalName(a.facts.name)) ?? []))) {
      if (seen.has(`${a.ref}\t${b.ref}`)) continue
      const of = Math.min(a.cards.length, b.cards.length)
      maps.push({ from: a.ref, to: b.ref, agree: 0, of, decided: choice !== undefined, by: choice ? 'operator' : null })
    }
  }
  const clear = new Set(maps.flatMap((map) => (map.decided ? map.from : [])))
  return maps.filter((map) => map.decided || !clear.has(map.from)).sort((a, b) => compare(a.from, b.from) || compare(a.to, b.to))
}

/** The manual decisions about a set, limited to these sets. */
function choiceOf(
  ref: string,
  decided: ReadonlyMap<string, ReadonlySet<string | null>>,
  byRef: ReadonlyMap<string, SourceSet>,
): [string, Set<SourceSet>][] {
  const all = decided.get(ref)
  if (all === undefined) return []
  const chosen = new Set([...all].flatMap((other) => (other === null ? [] : (byRef.get(other) ?? []))))
  return chosen.size > 0 || all.has(null) ? [[ref, chosen]] : []
}

function isSameName(a: SourceSet, b: SourceSet): boolean {
  return normalName(a.facts.name) === normalName(b.facts.name)
}

/** Decisions by each of their two sets, regardless of which of them the decision names first. */
export function decidedSets({ setMaps }: Pick<Decisions, 'setMaps'>): Map<string, Set<string | null>> {
  const decided = new Map<string, Set<string | null>>()
  const add = (from: string, to: string | null) => {
    const targets = decided.get(from)
    if (targets) targets.add(to)
    else decided.set(from, new Set([to]))
  }
  for (const [from, to] of setMaps) {
    add(from, to)
    if (to !== null) add(to, from)
  }
  return decided
}

interface Count {
  a: SourceSet
  b: SourceSet
  agree: number
  /** those of them that also match a card of another set on either side */
  contested: number
}

function countAgreeing(from: readonly SourceSet[], to: readonly SourceSet[]): Count[] {
  const counts = new Map<SourceSet, Map<SourceSet, Count>>()
  const [inFrom, inTo] = [setsByKey(from), from === to ? null : setsByKey(to)]
  const countOf = (a: SourceSet, b: SourceSet) => {
    const own = counts.get(a) ?? new Map<SourceSet, Count>()
    counts.set(a, own)
    const count = own.get(b) ?? { a, b, agree: 0, contested: 0 }
    own.set(b, count)
    return count
  }
  for (const a of from) {
    for (const card of a.cards) {
      const sets = setsHolding(card, inTo ?? inFrom, a)
      for (const b of sets) {
        if (from === to && a.ref > b.ref) continue
        const count = countOf(a, b)
        count.agree += 1
        if (sets.length > 1) count.contested += 1
      }
    }
  }
  for (const b of from === to ? [] : to) {
    for (const card of b.cards) {
      const sets = setsHolding(card, inFrom, b)
      if (sets.length > 1) for (const a of sets) countOf(a, b).contested += 1
    }
  }
  // Several cards of the larger set can match one card of the smaller, so their number is limited to the size of each set.
  return [...counts.values()].flatMap((own) =>
    [...own.values()].map((count) => ({ ...count, agree: Math.min(count.agree, count.a.cards.length, count.b.cards.length) })),
  )
}

function setsByKey(sets: readonly SourceSet[]): Multimap<string, SourceSet> {
  const byKey = new Multimap<string, SourceSet>()
  for (const set of sets) for (const { keys } of set.cards) for (const key of keys) byKey.add(key, set)
  return byKey
}

function setsHolding({ keys }: SourceCard, byKey: Multimap<string, SourceSet>, own: SourceSet): readonly SourceSet[] {
  const sets = keys.length === 1 ? byKey.get(keys[0]!) : [...new Set(keys.flatMap((key) => byKey.get(key)))]
  return sets.includes(own) ? sets.filter((set) => set !== own) : sets
}

/** Whether two sets share a name or code that no other set has, which decides between equally good matches. */
function namesakes(from: readonly SourceSet[], to: readonly SourceSet[]): (a: SourceSet, b: SourceSet) => boolean {
  const [mine, others] = [labels(from), labels(to)]
  return (a, b) => {
    const common = labelsOf(a).filter((label) => others.has(label, b))
    return common.length > 0 && common.every((label) => mine.count(label) === 1 && others.count(label) === 1)
  }
}

function labels(sets: readonly SourceSet[]): Multimap<string, SourceSet> {
  const byLabel = new Multimap<string, SourceSet>()
  for (const set of sets) for (const label of labelsOf(set)) byLabel.add(label, set)
  return byLabel
}

function labelsOf({ facts }: SourceSet): string[] {
  return [...new Set([facts.name, ...facts.codes].map(normalName))].filter(Boolean)
}
