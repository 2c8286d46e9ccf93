// Clusters: cards of one or several sources that the matcher considers the same, each with the method by which it joined.
import type { MatchCandidate, Method, Reason, SetMap, WaitingCard } from './matcher-types.ts'
import type { SourceCard } from './source-cards.ts'
import type { Verdicts } from './verdicts.ts'

export interface Member {
  card: SourceCard
  method: Method
  confidence: number
}

/** The first member is of the highest-ranked source. */
export interface Cluster {
  members: Member[]
}

export interface JoinResult {
  clusters: Cluster[]
  waiting: WaitingCard[]
  setMaps: SetMap[]
}

/** Cards of one source with the cards that were manually joined to them; they are assigned together. */
export interface Unit {
  members: Member[]
  cards: SourceCard[]
}

const MAX_CANDIDATES = 10
/** Maximum ratio between the prices of two sides that are joined. */
const MAX_PRICE_RATIO = 5

/**
 * Units by source: each belongs to its highest-ranked source and includes the cards of lower sources that were manually joined.
 * @param sources cards by source, in order of precedence
 */
export function unitsOf(sources: readonly (readonly SourceCard[])[], verdicts: Verdicts): Unit[][] {
  const groups = new Map<string, Unit>()
  return sources.map((cards) => {
    const own: Unit[] = []
    for (const card of cards) {
      const group = verdicts.groupOf(card.key)
      const unit = groups.get(group)
      if (unit) {
        unit.members.push({ card, method: 'operator', confidence: 100 })
        unit.cards.push(card)
        continue
      }
      const created: Unit = { members: [{ card, method: 'own', confidence: 100 }], cards: [card] }
      groups.set(group, created)
      own.push(created)
    }
    return own
  })
}

export function clusterOf(unit: Unit): Cluster {
  return { members: unit.members }
}

/** Adds the unit to the cluster; its first card joins by `method`. */
export function join(cluster: Cluster, unit: Unit, method: Method, confidence: number): void {
  const [first, ...others] = unit.members
  cluster.members.push({ card: first!.card, method, confidence }, ...others)
}

/** Reasons why the unit and the cluster cannot be the same card. */
export function contradictions(unit: Unit, cluster: Cluster): Reason[] {
  const reasons: Reason[] = []
  const [ownHps, otherHps] = [unit.cards.flatMap(({ hps }) => hps), cluster.members.flatMap(({ card }) => card.hps)]
  if (ownHps.length > 0 && otherHps.length > 0 && !ownHps.some((hp) => otherHps.includes(hp))) {
    reasons.push({ rule: 'hp', params: { hp: ownHps[0]!, other: otherHps[0]! } })
  }
  const [ownPrices, otherPrices] = [unit.cards.flatMap(({ prices }) => prices), cluster.members.flatMap(({ card }) => card.prices)]
  if (ownPrices.length > 0 && otherPrices.length > 0) {
    const ratio = Math.min(...ownPrices.flatMap((one) => otherPrices.map((other) => Math.max(one, other) / Math.min(one, other))))
    if (ratio > MAX_PRICE_RATIO) reasons.push({ rule: 'price-ratio', params: { ratio: Math.round(ratio * 10) / 10, most: MAX_PRICE_RATIO } })
  }
  return reasons
}

export function areApart(unit: Unit, cluster: Cluster, verdicts: Verdicts): boolean {
  return unit.cards.some((card) => cluster.members.some((member) => verdicts.areApart(card.key, member.card.key)))
}

export interface Candidate {
  cluster: Cluster
  score: number
  reasons: Reason[]
}

export function waitingCard(unit: Unit, reasons: Reason[], candidates: readonly Candidate[], verdicts: Verdicts): WaitingCard {
  const keys = unit.cards.flatMap(({ records }) => records.map(({ key }) => key))
  const listed = candidates
    .map(({ cluster, score, reasons: why }): MatchCandidate => ({ key: cluster.members[0]!.card.records[0]!.key, score, reasons: why }))
    .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
  return { key: keys[0]!, keys, postponed: verdicts.isPostponed(keys), reasons, candidates: listed.slice(0, MAX_CANDIDATES) }
}
