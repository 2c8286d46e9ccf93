// Runs the evidence rules in memory as a service does: feeds in, verdicts out, without a database.
import { readConfig } from '#config.ts'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { driftOf, type FeedComparison, medianFactor } from '#prices/evidence/feed-drift.ts'
import { type Hold, holdOf } from '#prices/evidence/hold.ts'
import { type IdentityKind, identityOf, findDoubtful } from '#prices/evidence/identical-figures.ts'
import { figuresHaveMoved, isFrozen } from '#prices/evidence/frozen.ts'
import type { Finding } from '#prices/evidence/finding.ts'
import { type Conditions, judge, noiseOf } from '#prices/evidence/judge.ts'
import { jumpsOf } from '#prices/evidence/jumps.ts'
import { type MarketPair, TEACHES_NO_RATIO, UsualRatios, usualRatios } from '#prices/evidence/ratios.ts'
import { feedIntervalOf } from '#prices/evidence/feed-interval.ts'
import { bitsOf, type Figures, type PriceEvidence, type Verdict } from '#prices/evidence/evidence-types.ts'
import { type Card, type FeedPrice, LIRA, SOURCE_B } from './singles.ts'

/** Thresholds can be varied by environment variables, as for the service. */
const RULES = readConfig().priceRules
const JUMP = bitsOf(['jump'])
const APART = bitsOf(['markets_apart'])
const AVERAGE_JUMP = bitsOf(['average_jump'])
const CONDITION_UNKNOWN = bitsOf(['condition_unknown'])

/** A current price with its verdict. */
export interface Judged extends PriceEvidence, Verdict {
  identity: string | null
  /** when its source last stated another amount or figure */
  repeatedSinceMs: number
  /** its amounts, oldest first */
  reports: { minor: number; atMs: number }[]
}

interface Item {
  card: Card
  prices: Judged[]
}

function lira(market: number): number {
  return LIRA[RULES.currencies[MARKETS[market]!] as keyof typeof LIRA]
}

/** Rates of a single day are used for all prices, because the files are only two weeks apart. */
export function convert(minor: number, from: number, to: number): number {
  return Math.max(1, Math.round((minor * lira(from)) / lira(to)))
}

export const NOISE = noiseOf(RULES.noise, (minor, _, to) => Math.round((minor * LIRA.EUR) / lira(to)))

export class MemoryService {
  readonly items = new Map<string, Item>()
  readonly #feedDates: number[][] = MARKETS.map(() => [])
  readonly #sets = new Map<string, number>()
  #ratios = new UsualRatios([])
  #nowMs = 0

  addCards(cards: Iterable<Card>): void {
    for (const card of cards) if (!this.items.has(card.item)) this.items.set(card.item, { card, prices: [] })
  }

  /**
   * Imports a file: each price is held or published, then identical figures and usual ratios are computed and all prices judged.
   * @returns why prices were held, by position in the feed
   */
  feed(prices: readonly FeedPrice[], atMs: number): Map<number, Hold> {
    const held = new Map<number, Hold>()
    this.#nowMs = atMs
    if (this.#isDrift(prices, atMs)) return held
    const markets = new Set<number>()
    for (const [position, stated] of prices.entries()) {
      markets.add(stated.market)
      const hold = this.#put(stated, atMs)
      if (hold) held.set(position, hold)
    }
    for (const market of markets) this.#feedDates[market]!.push(atMs)
    this.#ratios = new UsualRatios(usualRatios(this.#pairs()))
    this.#findIdentical()
    this.#findFrozen()
    this.judgeAll()
    // As the hourly run does: contradicted prices no longer teach ratios.
    this.#ratios = new UsualRatios(usualRatios(this.#pairs()))
    this.judgeAll()
    return held
  }

  /** Whether the prices of a feed are off as a whole, so that it would be refused. */
  #isDrift(prices: readonly FeedPrice[], atMs: number): boolean {
    return [...Map.groupBy(prices, ({ market }) => market).values()].some((ofMarket) => {
      const logs = new Map<number | 'last' | 'days_before', number[]>()
      const add = (key: number | 'last' | 'days_before', log: number) => logs.getOrInsertComputed(key, () => []).push(log)
      for (const { item, market, minor } of ofMarket) {
        for (const price of this.items.get(item)?.prices ?? []) {
          if (price.market === market) {
            if (atMs <= price.confirmedAtMs) continue
            add('last', Math.log(minor / price.minor))
            if (atMs - price.confirmedAtMs <= 3 * DAY_MS) add('days_before', Math.log(minor / price.minor))
          } else if (price.state === 'trusted' && price.minor >= convert(100, SOURCE_B, price.market)) {
            add(price.market, Math.log(minor / convert(price.minor, price.market, market)))
          }
        }
      }
      const comparisons = [...logs].map(([key, own]): FeedComparison => {
        const counted = { set: null, cards: own.length, factor: medianFactor(own) }
        return typeof key === 'number' ? { with: 'market', other: key, ...counted } : { with: key, other: null, ...counted }
      })
      return driftOf(comparisons, RULES) !== null
    })
  }

  find(item: string, market: number): Judged | undefined {
    return this.items.get(item)?.prices.find((price) => price.market === market)
  }

  /** All findings of the rules about an item. */
  findings(item: string): Finding[] {
    const findings: Finding[] = []
    const { card, prices } = this.items.get(item)!
    judge(prices, this.#subjectOf(card), this.#conditions(), findings)
    return findings
  }

  /** Whether a reason is stated for the difference between the trusted prices of an item. */
  isExplained(item: string): boolean {
    return this.items.get(item)!.prices.every(({ flags }) => (flags & (APART | CONDITION_UNKNOWN)) !== 0)
  }

  #put(stated: FeedPrice, atMs: number): Hold | null {
    const { item, market, minor, ...rest } = stated
    const owner = this.items.get(item)
    if (!owner) return null
    const figures = hasFigures(rest) ? rest : null
    const at = owner.prices.findIndex((price) => price.market === market)
    const before = owner.prices[at]
    const noiseMinor = NOISE[market]!
    const last = before ? { ...before, figures: hasFigures(before) ? before : null } : null
    if (before?.minor === minor) {
      const jumps = jumpsOf({ minor, updatedAtMs: atMs, figures }, last, noiseMinor, RULES)
      if (figuresHaveMoved(before, rest)) before.repeatedSinceMs = atMs
      Object.assign(before, rest, { confirmedAtMs: atMs, jumped: (jumps & JUMP) !== 0, averageJumped: (jumps & AVERAGE_JUMP) !== 0 })
      return null
    }
    const hold = holdOf({ minor, updatedAtMs: atMs, figures, last, noiseMinor }, RULES, atMs)
    if (hold) return hold
    const jumps = jumpsOf({ minor, updatedAtMs: atMs, figures }, last, noiseMinor, RULES)
    const price: Judged = {
      ...rest,
      market,
      minor,
      updatedAtMs: atMs,
      confirmedAtMs: atMs,
      sharedId: false,
      fewPeople: false,
      // The figure of source_b is Cardmarket's trend, as in the format `singles-brl`.
      conditionKnown: market !== SOURCE_B,
      identical: false,
      frozen: false,
      repeatedSinceMs: atMs,
      reports: [{ minor, atMs }],
      identity: null,
      jumped: (jumps & JUMP) !== 0,
      averageJumped: (jumps & AVERAGE_JUMP) !== 0,
      state: 'trusted',
      confidence: 'insufficient',
      flags: jumps,
      backing: 'open',
    }
    if (before) price.reports = [...before.reports, ...price.reports]
    if (at < 0) owner.prices.push(price)
    else owner.prices[at] = price
    return null
  }

  #findIdentical(): void {
    const alike = new Map<string, { item: Item; price: Judged }[]>()
    for (const item of this.items.values()) {
      for (const price of item.prices) {
        price.identical = false
        const identity = identityOf(price.minor, price, item.card.name.toLowerCase(), NOISE[price.market]!)
        if (!identity) continue
        const key = `${price.market} ${identity}`
        const group = alike.get(key)
        if (group) group.push({ item, price })
        else alike.set(key, [{ item, price }])
      }
    }
    const conditions = this.#conditions()
    for (const [key, group] of alike) {
      if (group.length === 1) continue
      const doubtful = findDoubtful(
        group.map(({ item: { card, prices }, price }) => ({
          categoryId: this.#groupOf(card).categoryId,
          name: card.name,
          backing: judge(prices, this.#subjectOf(card), conditions)[prices.indexOf(price)]!.backing,
        })),
        key.split(' ')[1] as IdentityKind,
      )
      for (const [position, { price }] of group.entries()) {
        price.identical = doubtful[position]!
        price.identity = key
      }
    }
  }

  #findFrozen(): void {
    for (const { prices } of this.items.values()) {
      for (const price of prices) {
        price.frozen = prices.some((other) => {
          if (other === price) return false
          const before = other.reports.findLast(({ atMs }) => atMs <= price.repeatedSinceMs)
          const since = other.reports.filter(({ atMs }) => atMs > price.repeatedSinceMs)
          return (
            before !== undefined &&
            isFrozen(
              { sinceMs: price.repeatedSinceMs, confirmedAtMs: price.confirmedAtMs },
              before.minor,
              since.map(({ minor }) => minor),
              RULES,
              NOISE[other.market]!,
            )
          )
        })
      }
    }
  }

  *#pairs(): Iterable<MarketPair> {
    for (const { card, prices } of this.items.values()) {
      for (const [position, a] of prices.entries()) {
        for (const b of prices.slice(position + 1)) {
          const amount = convert(b.minor, b.market, a.market)
          if (Math.max(amount, a.minor) < NOISE[a.market]! || (a.flags | b.flags) & TEACHES_NO_RATIO) continue
          yield { ...this.#groupOf(card), marketA: a.market, marketB: b.market, ratio: amount / a.minor }
        }
      }
    }
  }

  #groupOf({ setId, finish }: Card): { game: string; categoryId: number; finish: string } {
    let categoryId = this.#sets.get(setId)
    if (categoryId === undefined) this.#sets.set(setId, (categoryId = this.#sets.size + 1))
    return { game: 'pokemon', categoryId, finish }
  }

  #subjectOf(card: Card) {
    const { game, categoryId, finish } = this.#groupOf(card)
    return { ratios: this.#ratios.of(game, categoryId, finish), gradeOrder: null }
  }

  #conditions(): Conditions {
    const rhythms = this.#feedDates.map((dates) => feedIntervalOf(dates, false))
    return { nowMs: this.#nowMs, thresholds: RULES, convert, noiseMinor: NOISE, rhythms }
  }

  /** Judges all prices again. */
  judgeAll(): void {
    const conditions = this.#conditions()
    for (const { card, prices } of this.items.values()) {
      const verdicts = judge(prices, this.#subjectOf(card), conditions)
      for (const [position, price] of prices.entries()) {
        Object.assign(price, verdicts[position]!)
        price.jumped = (price.flags & JUMP) !== 0
        price.averageJumped = (price.flags & AVERAGE_JUMP) !== 0
      }
    }
  }
}

function hasFigures({ avg1, avg7, avg30, low, mid }: Figures): boolean {
  return (avg1 ?? avg7 ?? avg30 ?? low ?? mid) !== null
}
