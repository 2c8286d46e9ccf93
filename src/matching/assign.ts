// Assigns source records to items: a pure function of all records and the manual decisions.
import type { AssignedItem, AssignOptions, Assignment, Decisions, MatchRecord } from './matcher-types.ts'
import { PRECEDENCE } from './matcher-types.ts'
import { itemsOf } from './finish-items.ts'
import { joinSealed } from './sealed.ts'
import { joinSingles } from './singles.ts'
import { compare, type SourceCard, sourceCards } from './source-cards.ts'
import { Verdicts } from './verdicts.ts'

/**
 * Returns the items, the pending cards and the set maps. Cards of lower-ranked sources join those of higher-ranked ones. The order of the records
 * does not matter, and a manual decision overrides every rule.
 */
export function assign(records: readonly MatchRecord[], decisions: Decisions, options: AssignOptions = {}): Assignment {
  const { precedence = PRECEDENCE } = options
  const verdicts = new Verdicts(records, decisions)
  const result: Assignment = { items: [], waiting: [], setMaps: [] }
  const worlds = Map.groupBy(sourceCards(records), ({ game, family, sealed }) => `${game}\t${sealed ? '' : family}\t${sealed}`)
  for (const [, cards] of [...worlds].sort(([a], [b]) => compare(a, b))) {
    const sources = bySource(cards, precedence)
    const joined = cards[0]!.sealed ? joinSealed(sources, verdicts, options.sealedAliases) : joinSingles(sources, verdicts)
    for (const cluster of joined.clusters) result.items.push(...itemsOf(cluster, verdicts, precedence))
    result.waiting.push(...joined.waiting)
    result.setMaps.push(...joined.setMaps)
  }
  result.items.sort(byFirstRecord)
  result.waiting.sort((a, b) => compare(a.key, b.key))
  return result
}

/** Groups cards by source, with the sources in order of precedence. */
function bySource(cards: readonly SourceCard[], precedence: readonly string[]): SourceCard[][] {
  const rank = (source: string) => (precedence.includes(source) ? precedence.indexOf(source) : precedence.length)
  return [...Map.groupBy(cards, ({ source }) => source)].sort(([a], [b]) => rank(a) - rank(b) || compare(a, b)).map(([, own]) => own)
}

function byFirstRecord(a: AssignedItem, b: AssignedItem): number {
  return compare(a.card, b.card) || compare(a.finish ?? '', b.finish ?? '')
}
