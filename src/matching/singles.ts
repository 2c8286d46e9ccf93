// Matches single cards of several sources by shop id, or by set, number and name; cards that are only similar stay pending.
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
import { likeness } from './names.ts'
import { looseNumber } from './numbers.ts'
import type { Method, Reason, SetMap } from './matcher-types.ts'
import { mapSets } from './set-maps.ts'
import type { SourceCard, SourceSet } from './source-cards.ts'
import type { Verdicts } from './verdicts.ts'
import { setsOf, withoutDuplicates } from './duplicate-cards.ts'

/** Names that share at least this part of their words may be spellings of the same name. */
const ALIKE = 0.3

/** The score of the same number and loosely the same name: only brackets, a trainer's subtitle or words such as LV.X differ. */
const SURE = 80

const CONFIDENCE = { shopId: 100, setMap: 95, looseDecided: 80 } as const

const DIGITS = /^\d+$/

/** @param sources cards of one game and language family by source, in order of precedence */
export function joinSingles(sources: readonly (readonly SourceCard[])[], verdicts: Verdicts): JoinResult {
  const result: JoinResult = { clusters: [], waiting: [], setMaps: [] }
  const index = new ClusterIndex()
  for (const [n, units] of unitsOf(sources, verdicts).entries()) {
    if (n === sources.length - 1) index.isLast = true
    const { remaining, duplicates } = withoutDuplicates(units, verdicts, result)
    const { joins, waiting, alone } =
      result.clusters.length > 0 ? matched(remaining, index, verdicts, result.setMaps) : { joins: [], waiting: [], alone: remaining }
    for (const { unit, reasons, candidates } of waiting) result.waiting.push(waitingCard(unit, reasons, candidates, verdicts))
    for (const { unit, cluster, method, confidence } of joins) {
      join(cluster, unit, method, confidence)
      index.add(cluster, unit)
    }
    for (const unit of alone) {
      const cluster = clusterOf(unit)
      result.clusters.push(cluster)
      index.add(cluster, unit)
    }
    for (const { unit, of, confirmed } of duplicates) {
      const cluster = index.ofCard(of)
      if (cluster === undefined) {
        const own = clusterOf(unit)
        result.clusters.push(own)
        index.add(own, unit)
      } else if (confirmed) {
        join(cluster, unit, 'set-map', CONFIDENCE.setMap)
        index.add(cluster, unit)
      } else {
        const reasons: Reason[] = [{ rule: 'claimed-twice', params: { source: of.source } }]
        result.waiting.push(waitingCard(unit, reasons, [{ cluster, score: 90, reasons: [] }], verdicts))
      }
    }
  }
  return result
}

interface Join {
  unit: Unit
  cluster: Cluster
  method: Method
  confidence: number
}

interface Wait {
  unit: Unit
  reasons: Reason[]
  candidates: Candidate[]
}

/** The clusters so far, indexed for the sources that follow. */
class ClusterIndex {
  readonly #bySet = new Map<string, Multimap<string, Cluster>>()
  readonly #inSet = new Map<string, Set<Cluster>>()
  readonly #byId = new Multimap<string, Cluster>()
  readonly #byCard = new Map<SourceCard, Cluster>()
  readonly sets = new Map<string, Set<SourceSet>>()
  /** no source follows, so the indexes for later sources are not filled */
  isLast = false

  add(cluster: Cluster, unit: Unit): void {
    for (const card of unit.cards) {
      this.#byCard.set(card, cluster)
      if (this.isLast) continue
      this.#byId.add(ownId(card), cluster)
      for (const id of card.ids) this.#byId.add(id, cluster)
      if (card.set === null) continue
      add(this.sets, card.source, card.set)
      add(this.#inSet, card.set.ref, cluster)
      const agreeing = this.#bySet.get(card.set.ref) ?? new Multimap()
      this.#bySet.set(card.set.ref, agreeing)
      for (const key of card.keys) agreeing.add(key, cluster)
    }
  }

  ofCard(card: SourceCard): Cluster | undefined {
    return this.#byCard.get(card)
  }

  agreeing(ref: string, key: string): Iterable<Cluster> {
    return this.#bySet.get(ref)?.get(key) ?? []
  }

  inSet(ref: string): Iterable<Cluster> {
    return this.#inSet.get(ref) ?? []
  }

  withId(id: string): readonly Cluster[] {
    return this.#byId.get(id)
  }
}

/** The id of a card as other sources refer to it. */
function ownId({ source, records }: SourceCard): string {
  return `${source} ${records[0]!.id}`
}

/** Matches the units of a source with the clusters of earlier sources. */
function matched(
  units: readonly Unit[],
  index: ClusterIndex,
  verdicts: Verdicts,
  setMaps: SetMap[],
): { joins: Join[]; waiting: Wait[]; alone: Unit[] } {
  const own = setsOf(units)
  const targets = new Map<string, SetMap[]>()
  const ownSource = units[0]?.cards[0]?.source
  for (const [source, sets] of index.sets) {
    if (source === ownSource) continue
    const maps = mapSets(own, [...sets], verdicts.setMaps)
    setMaps.push(...maps)
    for (const map of maps) targets.set(map.from, [...(targets.get(map.from) ?? []), map])
  }
  const found = exactCandidates(units, index, verdicts, targets)
  const claims = Map.groupBy(
    found.filter(({ cluster }) => cluster !== null),
    ({ cluster }) => cluster!,
  )
  const joins: Join[] = []
  const waiting: Wait[] = []
  const rest: Unit[] = []
  for (const { unit, cluster, method, reasons, candidates } of found) {
    if (cluster === null) {
      if (reasons.length > 0) waiting.push({ unit, reasons, candidates })
      else rest.push(unit)
      continue
    }
    const against = contradictions(unit, cluster)
    const others = claims.get(cluster)!.length - 1
    if (others > 0) against.push({ rule: 'claimed-twice', params: { others } })
    if (against.length > 0) waiting.push({ unit, reasons: against, candidates: [{ cluster, score: 90, reasons: against }] })
    else joins.push({ unit, cluster, method, confidence: method === 'shop-id' ? CONFIDENCE.shopId : CONFIDENCE.setMap })
  }
  const loose = looseCandidates(rest, index, verdicts, targets, new Set(claims.keys()))
  return { joins: [...joins, ...loose.joins], waiting: [...waiting, ...loose.waiting], alone: loose.alone }
}

interface Exact {
  unit: Unit
  /** the only match; null if there is none or more than one */
  cluster: Cluster | null
  method: Method
  reasons: Reason[]
  candidates: Candidate[]
}

/** Applies the first rule that yields exactly one cluster: an unshared shop id, then set, number and name. */
function exactCandidates(units: readonly Unit[], index: ClusterIndex, verdicts: Verdicts, targets: ReadonlyMap<string, SetMap[]>): Exact[] {
  const holders = new Map<string, number>()
  for (const { cards } of units) for (const id of idsOf(cards)) holders.set(id, (holders.get(id) ?? 0) + 1)
  return units.map((unit) => {
    const ids = idsOf(unit.cards)
    const byId = new Set<Cluster>()
    const shared: string[] = []
    for (const id of ids) {
      const clusters = index.withId(id)
      if (clusters.length === 1 && holders.get(id) === 1) byId.add(clusters[0]!)
      else if (clusters.length > 0) shared.push(id)
    }
    const bySet = new Set<Cluster>()
    const unclear = new Set<Cluster>()
    for (const card of unit.cards) {
      if (card.set === null) continue
      for (const { to, decided } of targets.get(card.set.ref) ?? []) {
        for (const key of card.keys) for (const cluster of index.agreeing(to, key)) (decided ? bySet : unclear).add(cluster)
      }
    }
    for (const clusters of [byId, bySet, unclear]) for (const cluster of clusters) if (areApart(unit, cluster, verdicts)) clusters.delete(cluster)
    return { unit, ...verdictOn(unit, byId, bySet, unclear, shared) }
  })
}

function verdictOn(
  unit: Unit,
  byId: ReadonlySet<Cluster>,
  bySet: ReadonlySet<Cluster>,
  unclear: ReadonlySet<Cluster>,
  shared: readonly string[],
): Omit<Exact, 'unit'> {
  const [viaId] = byId
  const [viaSet] = bySet
  const all = byId.union(bySet)
  const candidates = (reasons: Reason[]) => [...all.union(unclear)].map((cluster) => ({ cluster, score: scoreOf(unit, cluster, false), reasons }))
  const none = (reasons: Reason[]) => ({ cluster: null, method: 'own' as const, reasons, candidates: reasons.length > 0 ? candidates(reasons) : [] })
  if (byId.size === 1 && all.size === 1) {
    if (bySet.size === 1 || agrees(unit, viaId!)) return { cluster: viaId!, method: 'shop-id', reasons: [], candidates: [] }
    return none([{ rule: 'shop-id-differs', params: { name: unit.cards[0]!.records[0]!.name } }])
  }
  if (byId.size > 0 && all.size > 1) return none([{ rule: 'shop-id-differs', params: { clusters: all.size } }])
  if (bySet.size === 1) return { cluster: viaSet!, method: 'set-map', reasons: [], candidates: [] }
  if (bySet.size > 1) return none([{ rule: 'several', params: { count: bySet.size, ...(shared.length > 0 && { ids: shared }) } }])
  if (unclear.size > 0) return none([{ rule: 'set-unclear', params: { set: unit.cards[0]!.set?.facts.name ?? '' } }])
  return none([])
}

/** Whether the name matches, and the number if both have one: a shop id alone may be wrong. */
function agrees(unit: Unit, cluster: Cluster): boolean {
  return unit.cards.some((card) =>
    cluster.members.some(
      ({ card: other }) =>
        card.names.some((name) => other.names.includes(name)) &&
        (card.number === null || other.number === null || card.number === other.number || card.bare === other.bare),
    ),
  )
}

function idsOf(cards: readonly SourceCard[]): string[] {
  return [...new Set(cards.flatMap((card) => [ownId(card), ...card.ids]))]
}

/**
 * Finds unclaimed clusters of the same set with a similar number or name. A single one with the same number and loosely the same name joins, and any
 * single one if a person has mapped the sets; the others are hints for a person.
 */
function looseCandidates(
  units: readonly Unit[],
  index: ClusterIndex,
  verdicts: Verdicts,
  targets: ReadonlyMap<string, SetMap[]>,
  claimed: ReadonlySet<Cluster>,
): { joins: Join[]; waiting: Wait[]; alone: Unit[] } {
  const open = new Map<string, Cluster[]>()
  const openIn = (ref: string) => {
    const listed = open.get(ref) ?? [...index.inSet(ref)].filter((cluster) => !claimed.has(cluster))
    open.set(ref, listed)
    return listed
  }
  const alone: Unit[] = []
  const found: { unit: Unit; candidates: Candidate[]; unclear: boolean; confirmed: boolean }[] = []
  for (const unit of units) {
    const candidates = new Map<Cluster, Candidate>()
    const maps = unit.cards.flatMap(({ set }) => (set === null ? [] : (targets.get(set.ref) ?? [])))
    for (const { to, agree } of maps) {
      for (const cluster of openIn(to)) {
        const score = scoreOf(unit, cluster, agree > 0)
        if (score > 0 && !areApart(unit, cluster, verdicts)) candidates.set(cluster, { cluster, score, reasons: [] })
      }
    }
    if (candidates.size === 0) alone.push(unit)
    else {
      const [unclear, confirmed] = [maps.every(({ decided }) => !decided), maps.some(({ by }) => by === 'operator')]
      found.push({ unit, candidates: [...candidates.values()], unclear, confirmed })
    }
  }
  const [claims, sureClaims] = [new Map<Cluster, number>(), new Map<Cluster, number>()]
  for (const { candidates } of found) {
    for (const { cluster, score } of candidates) {
      claims.set(cluster, (claims.get(cluster) ?? 0) + 1)
      if (score >= SURE) sureClaims.set(cluster, (sureClaims.get(cluster) ?? 0) + 1)
    }
  }
  const joins: Join[] = []
  const waiting: Wait[] = []
  for (const { unit, candidates, unclear, confirmed } of found) {
    const sure = unclear ? [] : candidates.filter(({ score }) => score >= SURE)
    const [{ cluster }] = sure.length === 1 ? (sure as [Candidate]) : (candidates as [Candidate])
    const isOnly = sure.length === 1 ? sureClaims.get(cluster) === 1 : confirmed && candidates.length === 1 && claims.get(cluster) === 1
    if (isOnly && contradictions(unit, cluster).length === 0) {
      joins.push({ unit, cluster, method: 'loose-decided', confidence: CONFIDENCE.looseDecided })
    } else {
      const reason: Reason = unclear ? { rule: 'set-unclear', params: { set: unit.cards[0]!.set!.facts.name } } : { rule: 'loose', params: {} }
      waiting.push({ unit, reasons: [reason], candidates })
    }
  }
  return { joins, waiting, alone }
}

/**
 * How well a card fits, 0 to 90; 0 if it is not a candidate.
 * @param numbered whether both sets use the same numbering, so that different numbers mean different cards
 */
function scoreOf(unit: Unit, cluster: Cluster, numbered: boolean): number {
  let best = 0
  for (const card of unit.cards) for (const { card: other } of cluster.members) best = Math.max(best, cardScore(card, other, numbered))
  return best
}

function cardScore(card: SourceCard, other: SourceCard, numbered: boolean): number {
  const name = nameScore(card, other)
  const number = numberScore(card, other) ?? (numbered ? null : 0)
  if (name === 0 || number === null || (number === 0 && name < 1)) return 0
  return Math.round(50 * name + 40 * number)
}

function nameScore(card: SourceCard, other: SourceCard): number {
  if (card.names.some((name) => other.names.includes(name))) return 1
  if (card.looseNames.some((name) => other.looseNames.includes(name))) return 0.8
  const best = Math.max(0, ...card.looseNames.flatMap((one) => other.looseNames.map((two) => likeness(one, two))))
  return best >= ALIKE ? best * 0.7 : 0
}

/** 0 if the numbers cannot be compared; null if they differ. */
function numberScore({ number, bare }: SourceCard, other: SourceCard): number | null {
  if (number === null || other.number === null || bare === null || other.bare === null) return 0
  if (number === other.number || bare === other.bare) return 1
  if (DIGITS.test(bare) && DIGITS.test(other.bare)) return null
  return looseNumber(bare) === looseNumber(other.bare) ? 0.6 : 0
}

function add<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const values = map.get(key)
  if (values) values.add(value)
  else map.set(key, new Set([value]))
}
