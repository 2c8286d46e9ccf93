// Combines the evidence rules: takes all current prices of an item and label, returns a verdict for each. Pure.
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { isOld } from './age.ts'
import { confidenceOf } from './confidence.ts'
import { gradeConflicts } from './grade-order.ts'
import { deniesItself, DENY_FACTOR, ownDoubt } from './own-averages.ts'
import { compareMarkets, type MarketComparison } from './other-markets.ts'
import type { Finding } from './finding.ts'
import { judgeOwnPrice } from './own-market.ts'
import type { SetRatios } from './ratios.ts'
import type { FeedInterval } from './feed-interval.ts'
import { type Thresholds, factorBetween } from './thresholds.ts'
import { type Backing, bitsOf, FLAGS, type Flag, NEUTRAL_FLAGS, type PriceEvidence, type PriceState, type Verdict } from './evidence-types.ts'

/** Position of the market whose prices are computed from our own sales: never evidence for or against others. */
const SERVICE = MARKETS.indexOf('service')

/** Data for judging besides the prices; the same for all items. */
export interface Conditions {
  nowMs: number
  thresholds: Thresholds
  /** converts an amount between the currencies of two markets, by the rates of a day; null without a rate */
  convert: (minor: number, fromMarket: number, toMarket: number, atMs: number) => number | null
  /** differences below this are noise, in minor units by market (`noiseOf`) */
  noiseMinor: readonly number[]
  /** by market */
  rhythms: readonly FeedInterval[]
}

/** Data about the item and label whose prices are judged. */
export interface Subject {
  /** usual ratios of its set and finish (`UsualRatios.of`) */
  ratios: SetRatios
  /** for PSA 10 the Near Mint prices of the same item, and vice versa; null for other labels */
  gradeOrder: { label: 'psa_10' | 'near_mint'; others: readonly PriceEvidence[] } | null
}

/** The noise amount (0.50 EUR by default) in each market's currency; without a rate, the same number of units. */
export function noiseOf(noise: number, convert: (minor: number, fromCurrency: 'EUR', toMarket: number) => number | null): number[] {
  const minor = Math.round(noise * 100)
  return MARKETS.map((_, market) => convert(minor, 'EUR', market) ?? minor)
}

const OLD = bitsOf(['old', 'source_set_aside', 'frozen'])
const NO_RATE = bitsOf(['no_rate'])
const CONDITION_UNKNOWN = bitsOf(['condition_unknown'])
const JUMPS = bitsOf(['jump', 'average_jump'])
/** Flags that another market's agreement removes. */
const SETTLED_BY_OTHERS: ReadonlySet<Flag> = new Set(['jump', 'average_jump', 'shared_id', 'own_averages'])
const SHARED = bitsOf(['shared_id'])
const IDENTICAL = bitsOf(['identical_figures'])
const OTHER_MARKETS = bitsOf(['other_markets'])
const APART = bitsOf(['markets_apart'])
const OWN_AVERAGES = bitsOf(['own_averages'])

/** A price being judged. */
interface Case {
  price: PriceEvidence
  flags: number
  /** the side on which its own figures contradict it; 0 for none */
  doubt: -1 | 0 | 1
  agreeing: number
  backing: Backing
  /** whether any other market was compared */
  heard: boolean
  /**
   * whether it may contradict others, because nothing else contradicts it. Determined before conflicts are decided, so that their order does not
   * matter
   */
  isWitness: boolean
  /** whether it is in doubt because it is below its feed's offers; another market that agrees clears it */
  isBelowOffers: boolean
  /** whether its feed's offers alone contradict it as too high */
  isAboveOffers: boolean
}

/**
 * Judges all current prices of one item and label.
 * @param prices at most one per market
 * @param findings if given, every observation is added to it, for explanations
 * @returns a verdict for each price, by position
 */
export function judge(prices: readonly PriceEvidence[], subject: Subject, conditions: Conditions, findings?: Finding[]): Verdict[] {
  const cases = examine(prices, subject, conditions, findings)
  if (subject.gradeOrder) judgeGrades(cases, subject, subject.gradeOrder, conditions, findings)
  // Findings that another market settled later in the evaluation do not count.
  for (const found of findings ?? []) if (SETTLED_BY_OTHERS.has(found.flag)) found.counts &&= (cases[found.price]!.flags & bitsOf([found.flag])) !== 0
  const witnesses = cases.filter(({ isWitness, flags }) => isWitness && stateOf(flags) === 'trusted').map(({ price }) => price)
  return cases.map(({ price, flags, backing }, position) => {
    if (price.market === SERVICE) return judgeOwnPrice(price, witnesses, conditions, position, findings)
    const state = stateOf(flags)
    return { state, confidence: confidenceOf(price, state, backing, conditions.noiseMinor[price.market]!, conditions.nowMs), flags, backing }
  })
}

function stateOf(flags: number): PriceState {
  if (flags & OLD) return 'stale'
  return flags & ~NEUTRAL_FLAGS ? 'disputed' : 'trusted'
}

function callWitnesses(cases: readonly Case[]): void {
  for (const one of cases) one.isWitness = one.price.market !== SERVICE && (one.flags & ~NEUTRAL_FLAGS) === 0
}

function examine(prices: readonly PriceEvidence[], { ratios }: Subject, conditions: Conditions, findings?: Finding[]): Case[] {
  const cases = prices.map(
    (price) =>
      ({
        price,
        flags: 0,
        doubt: 0,
        agreeing: 0,
        backing: 'open',
        heard: false,
        isWitness: false,
        isBelowOffers: false,
        isAboveOffers: false,
      }) as Case,
  )
  for (let i = 0; i < cases.length; i += 1) if (cases[i]!.price.market !== SERVICE) examineAlone(cases, i, conditions, findings)
  callWitnesses(cases)
  if (cases.length < 2) return cases
  const pairs = comparisons(cases, ratios, conditions, findings)
  for (const { a, b, comparison } of pairs) applyEvidence(cases[a]!, cases[b]!, comparison)
  callWitnesses(cases)
  for (const pair of pairs) if (pair.comparison.level !== 'agree') decide(cases, pair, pairs, conditions, findings)
  for (const pair of pairs) if (pair.comparison.isApart) noteApart(cases, pair, findings)
  return cases
}

function examineAlone(cases: readonly Case[], position: number, { thresholds, noiseMinor, rhythms }: Conditions, findings?: Finding[]): void {
  const one = cases[position]!
  const { price } = one
  const rhythm = rhythms[price.market]
  let heardMs = Number.NEGATIVE_INFINITY
  for (const other of cases) if (other !== one && other.price.market !== SERVICE) heardMs = Math.max(heardMs, other.price.confirmedAtMs)
  if (isOld(price.confirmedAtMs, heardMs, rhythm, thresholds)) add(one, position, 'old', findings)
  if (rhythm?.isSetAside) add(one, position, 'source_set_aside', findings)
  if (price.frozen) add(one, position, 'frozen', findings)
  if (price.sharedId) add(one, position, 'shared_id', findings)
  if (price.identical) add(one, position, 'identical_figures', findings)
  const settled = price.confirmedAtMs - price.updatedAtMs >= thresholds.settleDays * DAY_MS
  if (price.jumped && !settled) add(one, position, 'jump', findings)
  if (price.averageJumped && !settled) add(one, position, 'average_jump', findings)
  const doubt = ownDoubt(price.minor, price, thresholds, noiseMinor[price.market]!)
  if (!doubt) return
  if (doubt.isCertain) one.flags |= OWN_AVERAGES
  one.isBelowOffers = doubt.basis === 'offers' && doubt.side < 0
  one.isAboveOffers = doubt.basis === 'offers' && doubt.side > 0 && doubt.isCertain
  // Rare cards often have only a few, expensive offers, so a price below them supports no other market's doubt.
  if (!one.isBelowOffers) one.doubt = doubt.side
  const { compared, isCertain } = doubt
  findings?.push({
    flag: 'own_averages',
    price: position,
    otherMarket: null,
    compared,
    timesOff: factorBetween(price.minor, compared),
    counts: isCertain,
  })
}

function add(one: Case, position: number, flag: Flag, findings?: Finding[]): void {
  one.flags |= bitsOf([flag])
  findings?.push({ flag, price: position, otherMarket: null, compared: null, timesOff: null, counts: true })
}

/** Two prices by position, and their comparison from the first one's view. */
interface Pair {
  a: number
  b: number
  comparison: MarketComparison
}

function comparisons(cases: readonly Case[], ratios: SetRatios, conditions: Conditions, findings?: Finding[]): Pair[] {
  const pairs: Pair[] = []
  for (let a = 0; a < cases.length; a += 1) {
    for (let b = a + 1; b < cases.length; b += 1) {
      const [first, second] = [cases[a]!, cases[b]!]
      // Stale prices do not contradict others and are not examined further.
      if ((first.flags | second.flags) & OLD || first.price.market === SERVICE || second.price.market === SERVICE) continue
      if (Math.abs(first.price.confirmedAtMs - second.price.confirmedAtMs) > conditions.thresholds.comparableDays * DAY_MS) continue
      const comparison = compareMarkets(first.price, second.price, ratios, conditions)
      if (comparison) {
        pairs.push({ a, b, comparison })
        if (comparison.level === 'agree') {
          first.agreeing += 1
          second.agreeing += 1
        }
        continue
      }
      for (const [position, other] of [
        [a, second],
        [b, first],
      ] as const) {
        cases[position]!.flags |= NO_RATE
        findings?.push({ flag: 'no_rate', price: position, otherMarket: other.price.market, compared: null, timesOff: null, counts: false })
      }
    }
  }
  return pairs
}

/**
 * Applies the evidence of an uncontradicted market to the other one's price. Close agreement settles a jump. It also settles a shared shop id,
 * because the price then cannot be the other item's, unless that one has identical figures.
 */
function applyEvidence(first: Case, second: Case, { level, isClose }: MarketComparison): void {
  for (const [one, other] of [
    [first, second],
    [second, first],
  ] as const) {
    if (!other.isWitness) continue
    const said = level !== 'agree' ? 'contradicted' : isClose ? 'close' : 'agreed'
    if (!one.heard) one.backing = said
    else if ((one.backing === 'contradicted') !== (said === 'contradicted')) one.backing = 'open'
    else if (one.backing !== 'open' && one.backing !== said) one.backing = 'agreed'
    one.heard = true
    if (level === 'agree' && one.isBelowOffers) one.flags &= ~OWN_AVERAGES
    if (isClose) one.flags &= ~(one.price.identical ? JUMPS : JUMPS | SHARED)
  }
}

/**
 * Decides which side of a conflict is wrong: the side that its own sales deny, or else the one that no third market agrees with. Otherwise both are
 * disputed. A smaller difference counts only if there is a doubt about one side; a price that may belong to another item decides nothing.
 */
function decide(cases: readonly Case[], pair: Pair, pairs: readonly Pair[], conditions: Conditions, findings?: Finding[]): void {
  const { a, b, comparison } = pair
  const { level, side, expectedA, expectedB, isExplainedByCondition } = comparison
  const [first, second] = [cases[a]!, cases[b]!]
  const isDoubted = first.doubt === side || second.doubt === -side || hasDoubtfulItem(first) || hasDoubtfulItem(second)
  let [wrongA, wrongB] = [false, false]
  if (level === 'conflict' || isDoubted) {
    const isFarApart = level === 'conflict' || isExplainedByCondition
    ;[wrongA, wrongB] = [
      isDenied(first, side, expectedA, isFarApart, conditions),
      isDenied(second, -side as typeof side, expectedB, isFarApart, conditions),
    ]
    if (wrongA === wrongB) [wrongA, wrongB] = [!hasThirdMarket(a, b, pairs, cases), !hasThirdMarket(b, a, pairs, cases)]
  }
  if (wrongA) first.flags |= OTHER_MARKETS
  if (wrongB) second.flags |= OTHER_MARKETS
  const isExplained = isExplainedByCondition && !wrongA && !wrongB
  if (isExplained) for (const one of [first, second]) one.flags |= CONDITION_UNKNOWN
  if (!findings) return
  const flag = isExplained ? 'condition_unknown' : 'other_markets'
  findings.push({ ...finding(flag, a, first, second, expectedA), counts: wrongA }, { ...finding(flag, b, second, first, expectedB), counts: wrongB })
}

/** Whether a price may belong to another item. */
function hasDoubtfulItem({ flags }: Case): boolean {
  return (flags & (IDENTICAL | SHARED)) !== 0
}

/** Whether its own source denies a price that is on this side of another market's expectation. */
function isDenied(one: Case, side: -1 | 0 | 1, expected: number, isFarApart: boolean, { noiseMinor }: Conditions): boolean {
  if (!isFarApart && one.isAboveOffers && side > 0) return true
  const factor = isFarApart ? DENY_FACTOR : Number.POSITIVE_INFINITY
  return deniesItself(one.price, side, expected, factor, noiseMinor[one.price.market]!)
}

/** Flags two prices that are far apart, as is usual between these markets in the set; not evidence against either. */
function noteApart(cases: readonly Case[], { a, b, comparison }: Pair, findings?: Finding[]): void {
  const [first, second] = [cases[a]!, cases[b]!]
  if ((first.flags | second.flags) & OTHER_MARKETS || comparison.isExplainedByCondition) return
  for (const [position, one, other, expected] of [
    [a, first, second, comparison.expectedA],
    [b, second, first, comparison.expectedB],
  ] as const) {
    one.flags |= APART
    findings?.push({ ...finding('markets_apart', position, one, other, expected), counts: false })
  }
}

function finding(flag: Flag, position: number, { price }: Case, other: Case, expected: number): Omit<Finding, 'counts'> {
  return {
    flag,
    price: position,
    otherMarket: other.price.market,
    compared: Math.max(1, Math.round(expected)),
    timesOff: factorBetween(price.minor, expected),
  }
}

/** Whether a third market that may contradict others agrees with a price. */
function hasThirdMarket(position: number, except: number, pairs: readonly Pair[], cases: readonly Case[]): boolean {
  return pairs.some(({ a, b, comparison }) => {
    const third = a === position ? b : b === position ? a : -1
    return third >= 0 && third !== except && comparison.level === 'agree' && cases[third]!.isWitness
  })
}

function judgeGrades(
  cases: readonly Case[],
  subject: Subject,
  { label, others }: NonNullable<Subject['gradeOrder']>,
  conditions: Conditions,
  findings?: Finding[],
): void {
  if (others.length === 0) return
  const otherCases = examine(others, subject, conditions)
  for (const [position, one] of cases.entries()) {
    const other = otherCases.find(({ price }) => price.market === one.price.market)
    if (!other || one.price.market === SERVICE || (one.flags | other.flags) & OLD) continue
    if (Math.abs(one.price.confirmedAtMs - other.price.confirmedAtMs) > conditions.thresholds.comparableDays * DAY_MS) continue
    const [graded, nearMint] = label === 'psa_10' ? [one, other] : [other, one]
    if (!gradeConflicts(graded.price.minor, nearMint.price.minor, conditions.thresholds, conditions.noiseMinor[one.price.market]!)) continue
    // The price that another market agrees with is right, unless that applies to both or neither.
    const counts = !(one.isWitness && !other.isWitness) && !(one.agreeing > 0 && other.agreeing === 0)
    if (counts) one.flags |= bitsOf(['grade_order'])
    const compared = other.price.minor
    findings?.push({
      flag: 'grade_order',
      price: position,
      otherMarket: one.price.market,
      compared,
      timesOff: factorBetween(one.price.minor, compared),
      counts,
    })
  }
}

/** Rules whose first version gave other verdicts. */
const SECOND_VERSIONS: ReadonlySet<Flag> = new Set(['own_averages', 'identical_figures', 'other_markets'])

/** Version of each rule, in the order of FLAGS; changes when the same evidence may get a different verdict. */
export const RULE_VERSIONS = Object.fromEntries(FLAGS.map((flag) => [flag, SECOND_VERSIONS.has(flag) ? 2 : 1])) as Readonly<Record<Flag, number>>
