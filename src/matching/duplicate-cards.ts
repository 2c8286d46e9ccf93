// Cards that one source lists twice.
import type { JoinResult, Unit } from './clusters.ts'
import { mapSets } from './set-maps.ts'
import { compare, type SourceCard, type SourceSet } from './source-cards.ts'
import type { Verdicts } from './verdicts.ts'

/** A card that another set of the same source also contains. */
interface Duplicate {
  unit: Unit
  of: SourceCard
  /** a person decided that the sets are the same */
  confirmed: boolean
}

/**
 * Finds cards that a source contains twice, because an older file numbered them differently (`H01`, `H1`) or includes a gallery in the main set.
 * Cards of the older form become pending; so do those of a gallery, until a person decides that the sets are the same.
 */
export function withoutDuplicates(
  units: readonly Unit[],
  verdicts: Verdicts,
  result: JoinResult,
): { remaining: readonly Unit[]; duplicates: Duplicate[] } {
  const sets = setsOf(units)
  const byRef = new Map(sets.map((set) => [set.ref, set]))
  const dropped = new Map<SourceCard, Omit<Duplicate, 'unit'>>()
  for (const map of mapSets(sets, sets, NO_MAPS)) {
    const { from, to, agree, of } = map
    const isNone = [from, to].some((ref) => verdicts.setMaps.get(ref)?.has(null))
    if (!map.decided || isNone || !isGallery([byRef.get(from)!, byRef.get(to)!])) continue
    const confirmed = verdicts.setMaps.get(from)?.has(to) ?? false
    // The larger set contains the duplicates.
    const [smaller, larger] = [byRef.get(from)!, byRef.get(to)!].sort((a, b) => a.cards.length - b.cards.length) as [SourceSet, SourceSet]
    result.setMaps.push({ from: larger.ref, to: smaller.ref, agree, of, decided: confirmed, by: confirmed ? 'operator' : null })
    const byKey = new Map(smaller.cards.flatMap((card) => card.names.map((name) => [`${card.number}\t${name}`, card] as const)))
    for (const card of larger.cards) {
      const twin = card.names.map((name) => byKey.get(`${card.number}\t${name}`)).find((found) => found !== undefined)
      if (twin && mayBeSame(card, twin) && !verdicts.areApart(card.key, twin.key) && verdicts.groupOf(card.key) !== verdicts.groupOf(twin.key))
        dropped.set(card, { of: twin, confirmed })
    }
  }
  for (const set of sets) {
    for (const [, own] of Map.groupBy(set.cards, ({ number, names }) => `${number}\t${names[0]}`)) {
      if (own.length < 2 || new Set(own.map(writtenNumber)).size < own.length) continue
      const [fullest, ...others] = own.toSorted((a, b) => statedFinishes(b) - statedFinishes(a) || compare(a.key, b.key))
      for (const card of others) {
        if (!verdicts.areApart(card.key, fullest!.key) && verdicts.groupOf(card.key) !== verdicts.groupOf(fullest!.key))
          dropped.set(card, { of: fullest!, confirmed: false })
      }
    }
    set.cards = set.cards.filter((card) => !dropped.has(card))
  }
  const duplicates = units.flatMap((unit) => (unit.cards.every((card) => dropped.has(card)) ? [{ unit, ...dropped.get(unit.cards[0]!)! }] : []))
  const gone = new Set(duplicates.map(({ unit }) => unit))
  return { remaining: units.filter((unit) => !gone.has(unit)), duplicates }
}

/** Whether all numbers of the smaller set have a prefix: sets that are both numbered from 1 can match by chance, through their energies. */
function isGallery(sets: readonly SourceSet[]): boolean {
  const [smaller] = sets.toSorted((a, b) => a.cards.length - b.cards.length)
  return smaller!.cards.every(({ number, bare }) => number !== bare)
}

/** Printings with the same number and name are the same card of the source only if they may share a finish. */
function mayBeSame(card: SourceCard, other: SourceCard): boolean {
  const [own, others] = [card, other].map(({ records }) => records.map(({ finish }) => finish))
  return own!.includes(null) || others!.some((finish) => finish === null || own!.includes(finish))
}

function writtenNumber({ records }: SourceCard): string | null {
  return records[0]!.number
}

function statedFinishes({ records }: SourceCard): number {
  return records.filter(({ finish }) => finish !== null).length
}

const NO_MAPS: ReadonlyMap<string, ReadonlySet<string | null>> = new Map()

/** Sets of the units' own source; cards that were manually joined to the units do not count. */
export function setsOf(units: readonly Unit[]): SourceSet[] {
  return [...new Set(units.flatMap(({ cards: [card] }) => card!.set ?? []))]
}
