// Matches sealed products of several shops by the words of their names if the match is unique on both sides.
import { fold, words } from '#index/fold.ts'
import {
  areApart,
  type Candidate,
  type Cluster,
  clusterOf,
  contradictions,
  join,
  type JoinResult,
  type Unit,
  unitsOf,
  waitingCard,
} from './clusters.ts'
import { Multimap } from './multimap.ts'
import type { Reason, SealedAliases } from './matcher-types.ts'
import aliasesOfProgram from './sealed-aliases.json' with { type: 'json' }
import type { SourceCard } from './source-cards.ts'
import type { Verdicts } from './verdicts.ts'

const CONFIDENCE = { id: 100, words: 90 } as const

/** @param sources products of one game by shop, in order of precedence */
export function joinSealed(sources: readonly (readonly SourceCard[])[], verdicts: Verdicts, aliases: SealedAliases = {}): JoinResult {
  const keyOf = wordKey({ ...aliasesOfProgram, ...aliases })
  const result: JoinResult = { clusters: [], waiting: [], setMaps: [] }
  const byKey = new Multimap<string, Cluster>()
  const byId = new Multimap<string, Cluster>()
  for (const units of unitsOf(sources, verdicts)) {
    const keyed = units.map((unit) => ({ unit, keys: [...new Set(unit.cards.flatMap(({ records }) => records.map(({ name }) => keyOf(name))))] }))
    const holders = new Map<string, number>()
    for (const { keys } of keyed) for (const key of keys) holders.set(key, (holders.get(key) ?? 0) + 1)
    const added: { unit: Unit; cluster: Cluster; keys: string[] }[] = []
    for (const { unit, keys } of keyed) {
      const found = new Set(keys.flatMap((key) => byKey.get(key)).filter((cluster) => !areApart(unit, cluster, verdicts)))
      const ids = new Set(
        idsOf(unit)
          .flatMap((id) => byId.get(id))
          .filter((cluster) => found.has(cluster)),
      )
      const [cluster] = ids.size === 1 ? ids : found
      if (cluster === undefined) {
        const own = clusterOf(unit)
        result.clusters.push(own)
        added.push({ unit, cluster: own, keys })
        continue
      }
      const reasons = ids.size === 1 ? contradictions(unit, cluster) : [...contradictions(unit, cluster), ...doubts(keys, holders, found)]
      if (reasons.length === 0) {
        join(cluster, unit, ids.size === 1 ? 'shop-id' : 'sealed', ids.size === 1 ? CONFIDENCE.id : CONFIDENCE.words)
        added.push({ unit, cluster, keys })
      } else {
        const candidates = [...found].map((one): Candidate => ({ cluster: one, score: CONFIDENCE.words, reasons: [] }))
        result.waiting.push(waitingCard(unit, reasons, candidates, verdicts))
      }
    }
    for (const { unit, cluster, keys } of added) {
      for (const key of keys) byKey.add(key, cluster)
      for (const id of idsOf(unit)) byId.add(id, cluster)
    }
  }
  return result
}

function doubts(keys: readonly string[], holders: ReadonlyMap<string, number>, found: ReadonlySet<Cluster>): Reason[] {
  const same = Math.max(...keys.map((key) => holders.get(key)!))
  return [
    ...(found.size > 1 ? [{ rule: 'several', params: { count: found.size } } as const] : []),
    ...(same > 1 ? [{ rule: 'claimed-twice', params: { others: same - 1 } } as const] : []),
  ]
}

/** Returns a function that converts a name to its words in a common spelling and order. */
function wordKey(aliases: SealedAliases): (name: string) => string {
  const rules = Object.entries(aliases)
    .map(([from, to]) => ({ from: ` ${plain(from)} `, to: ` ${plain(to)} `.replace('  ', ' ') }))
    .filter(({ from, to }) => from !== to)
    // Longest first, so that `booster display` is replaced before `display`.
    .sort((a, b) => b.from.length - a.from.length || (a.from < b.from ? -1 : 1))
  return (name) => {
    let text = ` ${plain(name)} `
    for (const { from, to } of rules) if (text.includes(from)) text = text.replaceAll(from, to)
    return words(text).sort().join(' ')
  }
}

function plain(text: string): string {
  return words(fold(text)).join(' ')
}

function idsOf({ cards }: Unit): string[] {
  return cards.flatMap((card) => [`${card.source} ${card.records[0]!.id}`, ...card.ids])
}
