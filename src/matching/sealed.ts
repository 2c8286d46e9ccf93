// Matches sealed products of several shops by the words of their names if the match is unique on both sides.
import { gameOf } from '#games/games.ts'
import { fold, words } from '#index/fold.ts'
import { memoize } from '#index/memoize.ts'
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
import type { SourceCard } from './source-cards.ts'
import type { Verdicts } from './verdicts.ts'

const CONFIDENCE = { id: 100, words: 90 } as const

/** Shops that sell the American version of a product, without saying so. */
const AMERICAN_SHOPS = new Set(['tcgplayer'])
const AMERICAN = ' us version '
/** A deck named after its theme, with its main card as a gloss: `Theme Deck - "Destruction Fang" [Hydreigon]`. */
const GLOSS = /("[^"]+") \[[^[\]]+\]$/

/** @param sources products of one game by shop, at least one, in order of precedence */
export function joinSealed(sources: readonly (readonly SourceCard[])[], verdicts: Verdicts, aliases: SealedAliases = {}): JoinResult {
  const keyOf = wordKey({ ...gameOf(sources[0]![0]!.game).sealed.aliases, ...aliases })
  const result: JoinResult = { clusters: [], waiting: [], setMaps: [] }
  const byKey = new Multimap<string, Cluster>()
  const byId = new Multimap<string, Cluster>()
  for (const units of unitsOf(sources, verdicts)) {
    const keyed = units.map((unit) => ({ unit, keys: [...new Set(unit.cards.flatMap(({ records }) => records.map(({ name }) => keyOf(name))))] }))
    const holders = new Map<string, number>()
    const versions = new Map<string, number>()
    for (const { unit, keys } of keyed) {
      for (const key of keys) {
        holders.set(key, (holders.get(key) ?? 0) + 1)
        if (isAmerican(unit.cards)) versions.set(key, (versions.get(key) ?? 0) + 1)
      }
    }
    const added: { unit: Unit; cluster: Cluster; keys: string[] }[] = []
    for (const { unit, keys } of keyed) {
      const found = ofVersion(
        unit,
        keys,
        new Set(keys.flatMap((key) => byKey.get(key)).filter((cluster) => !areApart(unit, cluster, verdicts))),
        versions,
      )
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
      const reasons =
        ids.size === 1
          ? contradictions(unit, cluster)
          : [...contradictions(unit, cluster), ...doubts(keys, isChosen(unit, keys, versions, found) ? versions : holders, found)]
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

/**
 * Candidates of the unit's version: where a shop has a product twice, once as its American version, an American shop sells that one, and the other is
 * no match for it.
 */
function ofVersion(unit: Unit, keys: readonly string[], found: Set<Cluster>, versions: ReadonlyMap<string, number>): Set<Cluster> {
  if (AMERICAN_SHOPS.has(unit.cards[0]!.source) && found.size > 1) {
    const american = [...found].filter(({ members }) => isAmerican(members.map(({ card }) => card)))
    return american.length === 1 ? new Set(american) : found
  }
  if (isAmerican(unit.cards) || !keys.some((key) => versions.get(key) === 1)) return found
  return new Set([...found].filter((cluster) => !isSoldInAmerica(cluster)))
}

/** Whether the unit is the only American version of its name, and everything it may match is sold by American shops. */
function isChosen(unit: Unit, keys: readonly string[], versions: ReadonlyMap<string, number>, found: ReadonlySet<Cluster>): boolean {
  return isAmerican(unit.cards) && keys.every((key) => versions.get(key) === 1) && [...found].every(isSoldInAmerica)
}

function isSoldInAmerica({ members }: Cluster): boolean {
  return members.every(({ card }) => AMERICAN_SHOPS.has(card.source))
}

function isAmerican(cards: readonly SourceCard[]): boolean {
  return cards.some(({ records }) => records.some(({ name }) => ` ${plain(name)} `.includes(AMERICAN)))
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
    let text = ` ${plain(name.replace(GLOSS, '$1'))} `.replace(AMERICAN, ' ')
    for (const { from, to } of rules) if (text.includes(from)) text = text.replaceAll(from, to)
    // Shops repeat words differently: `Mini Tin [Kyogre]`, `Mini Tins: Kyogre Tin`.
    return [...new Set(words(text))].sort().join(' ')
  }
}

const plain = memoize(plainForm)

function plainForm(text: string): string {
  return words(fold(text)).join(' ')
}

function idsOf({ cards }: Unit): string[] {
  return cards.flatMap((card) => [`${card.source} ${card.records[0]!.id}`, ...card.ids])
}
