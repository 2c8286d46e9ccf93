// Evaluates current prices in memory: combines prices with the item data from the database and runs the evidence rules.
import { MARKETS } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'
import { conditionsOfPrices } from './condition-known.ts'
import { type ConfirmedPrices, confirmedPrices, hasConfirmedPrices } from './confirmed-prices.ts'
import { type CurrentPrices, PERSISTENT_FLAGS, packedVerdict } from '../records/current.ts'
import { loadConditions } from './judging-conditions.ts'
import type { PriceRules } from '../evidence/hold.ts'
import type { Finding } from '../evidence/finding.ts'
import { type Conditions, judge, type Subject } from '../evidence/judge.ts'
import { compareMarkets, type MarketComparison } from '../evidence/other-markets.ts'
import type { SetRatios, UsualRatios } from '../evidence/ratios.ts'
import { type Backing, CONFIDENCES, type PriceEvidence, STATES } from '../evidence/evidence-types.ts'
import { labelIds } from '../records/labels.ts'
import { itemsWithSharedIds } from './shared-ids.ts'
import { type ItemGroup, loadItemGroups, loadUsualRatios } from './usual-ratios.ts'

const SERVICE = MARKETS.indexOf('service')
const TRUSTED = STATES.indexOf('trusted')
const NO_RATIOS: SetRatios = []

/** A price whose stored `identical` or `frozen` flag is wrong, with the correct value. */
export interface MarkedPrice {
  itemId: number
  market: number
  labelId: number
  identical?: boolean
  frozen?: boolean
}

/** The rules' view of one price, for explanations. */
export interface ExplainedVerdict {
  findings: readonly Finding[]
  /** its comparison with the price of each comparable market */
  comparisons: ReadonlyMap<number, MarketComparison>
  /** when a person confirmed it (epoch milliseconds); null if it was not confirmed */
  confirmedByPersonMs: number | null
}

export class PriceJudge {
  #conditions: Conditions
  readonly #rules: PriceRules
  readonly #nowMs: number
  readonly #labels: { nearMint: number; psa10: number }
  #ratios: UsualRatios | null = null
  /** of the items passed to `prepare`: markets in which they share an id, and their set and finish if they have several sources */
  #shared: ReadonlyMap<number, number> = new Map()
  #groups: ReadonlyMap<number, ItemGroup> = new Map()
  /** whether the price at a position has a known condition; only compared prices need it */
  #isConditionKnown: (at: number) => boolean = () => true
  /** confirmations by people; null before there is one */
  #confirmed: ConfirmedPrices | null = null
  /** flags that override the stored ones, by item, market and label */
  readonly #marks = new Map<string, Pick<MarkedPrice, 'identical' | 'frozen'>>()
  /** the verdict of the last single price without figures: thousands of consecutive prices have the same one */
  #lone = { market: -1, atMs: Number.NaN, verdict: 0 }

  private constructor(conditions: Conditions, rules: PriceRules, nowMs: number, labels: { nearMint: number; psa10: number }) {
    this.#conditions = conditions
    this.#rules = rules
    this.#nowMs = nowMs
    this.#labels = labels
  }

  /**
   * @param before an import: feeds from this one on do not count for the interval of their source; null for all
   * @param ids ids of all labels; null: not read yet
   */
  static async load(
    on: Queryable,
    rules: PriceRules,
    nowMs: number,
    { before = null, ids = null }: { before?: number | null; ids?: ReadonlyMap<string, number> | null } = {},
  ): Promise<PriceJudge> {
    const known = ids ?? (await labelIds(on))
    const labels = { nearMint: known.get('Near Mint')!, psa10: known.get('PSA 10')! }
    return new PriceJudge(await loadConditions(on, rules, nowMs, before), rules, nowMs, labels)
  }

  get conditions(): Conditions {
    return this.#conditions
  }

  /** Reads rates, intervals and ratios again after they may have changed. */
  async reload(on: Queryable): Promise<void> {
    this.#conditions = await loadConditions(on, this.#rules, this.#nowMs)
    this.#ratios = null
    this.#lone.market = -1
  }

  /** Overrides the stored `identical` or `frozen` flags of these prices. */
  mark(prices: readonly MarkedPrice[]): void {
    for (const { itemId, market, labelId, ...flags } of prices) this.#marks.set(`${itemId} ${market} ${labelId}`, flags)
  }

  /** Reads the data that `judge` needs about the items of these prices. */
  async prepare(on: Queryable, currents: CurrentPrices): Promise<void> {
    const ids = [...currents.itemIds()]
    this.#shared = ids.length === 0 ? new Map() : await itemsWithSharedIds(on, ids)
    this.#confirmed = (await hasConfirmedPrices(on)) ? await confirmedPrices(on, ids) : null
    const several = ids.filter((id) => hasSeveralSources(currents, id))
    this.#groups = await loadItemGroups(on, several)
    const isCompared = ids.some((id) => areSeveral(marketsOf(currents, id)))
    this.#isConditionKnown = isCompared ? await conditionsOfPrices(on, currents) : () => true
    if (several.length > 0) this.#ratios ??= await loadUsualRatios(on)
  }

  /** The label whose verdicts also depend on this one: Near Mint and PSA 10. @returns null if there is none */
  partnerOf(labelId: number): number | null {
    if (labelId === this.#labels.nearMint) return this.#labels.psa10
    return labelId === this.#labels.psa10 ? this.#labels.nearMint : null
  }

  /**
   * Judges the prices of an item under a label.
   * @param take called with the position and the packed verdict of each
   */
  judge(currents: CurrentPrices, itemId: number, labelId: number, take: (at: number, verdict: number) => void): void {
    const { found, partners } = this.#placesOf(currents, itemId, labelId)
    const shared = this.#shared.get(itemId) ?? 0
    if (found.length === 1 && partners.length === 0 && shared === 0 && this.#marks.size === 0 && this.#confirmed === null) {
      const verdict = this.#verdictOfLone(currents, found[0]!)
      if (verdict !== null) return take(found[0]!, verdict)
    }
    const { prices, subject } = this.#evidenceOf(currents, itemId, labelId, found, partners)
    const verdicts = judge(prices, subject, this.#conditions)
    for (const [i, { state, confidence, flags }] of verdicts.entries()) {
      const at = found[i]!
      // A person's confirmation outweighs the evidence about this amount; the flags stay visible.
      const isConfirmed = this.#confirmedMs(currents, itemId, at) !== null
      take(at, packedVerdict(isConfirmed ? TRUSTED : STATES.indexOf(state), CONFIDENCES.indexOf(confidence), flags))
    }
  }

  /** The rules' view of the price of an item in a market under a label; null if there is none. */
  explain(currents: CurrentPrices, itemId: number, market: number, labelId: number): ExplainedVerdict | null {
    const { found, partners } = this.#placesOf(currents, itemId, labelId)
    const position = found.findIndex((at) => currents.market(at) === market)
    if (position < 0) return null
    const { prices, subject } = this.#evidenceOf(currents, itemId, labelId, found, partners)
    const findings: Finding[] = []
    judge(prices, subject, this.#conditions, findings)
    const own = prices[position]!
    const comparisons = new Map<number, MarketComparison>()
    for (const other of prices) {
      const compared = other === own ? null : compareMarkets(own, other, subject.ratios, this.#conditions)
      if (compared) comparisons.set(other.market, compared)
    }
    return {
      findings: findings.filter((finding) => finding.price === position),
      comparisons,
      confirmedByPersonMs: this.#confirmedMs(currents, itemId, found[position]!),
    }
  }

  /** Evidence from other markets about the price of an item in a market under a label. */
  backingOf(currents: CurrentPrices, itemId: number, market: number, labelId: number): Backing {
    const { found, partners } = this.#placesOf(currents, itemId, labelId)
    const { prices, subject } = this.#evidenceOf(currents, itemId, labelId, found, partners)
    const position = prices.findIndex((price) => price.market === market)
    return position < 0 ? 'open' : judge(prices, subject, this.#conditions)[position]!.backing
  }

  #placesOf(currents: CurrentPrices, itemId: number, labelId: number): { found: number[]; partners: number[] } {
    const found: number[] = []
    const partners: number[] = []
    const partner = this.partnerOf(labelId)
    for (let at = currents.first(itemId); at >= 0; at = currents.next(at)) {
      if (currents.labelId(at) === labelId) found.push(at)
      else if (currents.labelId(at) === partner) partners.push(at)
    }
    return { found, partners }
  }

  /** The prices at the positions in `found` with all their evidence, and the data about their item and label. */
  #evidenceOf(
    currents: CurrentPrices,
    itemId: number,
    labelId: number,
    found: readonly number[],
    partners: readonly number[],
  ): { prices: PriceEvidence[]; subject: Subject } {
    const shared = this.#shared.get(itemId) ?? 0
    const evidence = (at: number): PriceEvidence => {
      const market = currents.market(at)
      const price = currents.evidence(at, { sharedId: ((shared >> market) & 1) === 1, conditionKnown: this.#isConditionKnown(at) })
      const marks = this.#marks.size > 0 ? this.#marks.get(`${itemId} ${market} ${currents.labelId(at)}`) : undefined
      return marks === undefined ? price : { ...price, ...marks }
    }
    const group = this.#groups.get(itemId)
    const subject: Subject = {
      ratios: group && this.#ratios ? this.#ratios.of(group.game, group.categoryId, group.finish) : NO_RATIOS,
      gradeOrder:
        this.partnerOf(labelId) === null ? null : { label: labelId === this.#labels.psa10 ? 'psa_10' : 'near_mint', others: partners.map(evidence) },
    }
    return { prices: found.map(evidence), subject }
  }

  #confirmedMs(currents: CurrentPrices, itemId: number, at: number): number | null {
    const { minor, updatedAtMs } = currents
    return this.#confirmed?.(itemId, currents.market(at), currents.labelId(at), minor[at]!, updatedAtMs[at]!) ?? null
  }

  /** The verdict of an item's only price without figures; null if the price needs its own evaluation. */
  #verdictOfLone(currents: CurrentPrices, at: number): number | null {
    const [market, atMs] = [currents.market(at), currents.confirmedAtMs[at]!]
    if ((currents.verdict[at]! & PERSISTENT_FLAGS) !== 0 || currents.figures.at(at) !== null) return null
    if (market !== this.#lone.market || atMs !== this.#lone.atMs) {
      const subject = { ratios: NO_RATIOS, gradeOrder: null }
      const [verdict] = judge([currents.evidence(at, { sharedId: false, conditionKnown: true })], subject, this.#conditions)
      const { state, confidence, flags } = verdict!
      this.#lone = { market, atMs, verdict: packedVerdict(STATES.indexOf(state), CONFIDENCES.indexOf(confidence), flags) }
    }
    return this.#lone.verdict
  }
}

/** Whether an item has prices of more than one source. */
export function hasSeveralSources(currents: CurrentPrices, itemId: number): boolean {
  return areSeveral(marketsOf(currents, itemId) & ~(1 << SERVICE))
}

/** The markets in which an item has prices, as bits by position in MARKETS. */
function marketsOf(currents: CurrentPrices, itemId: number): number {
  let markets = 0
  for (let at = currents.first(itemId); at >= 0; at = currents.next(at)) markets |= 1 << currents.market(at)
  return markets
}

function areSeveral(bits: number): boolean {
  return (bits & (bits - 1)) !== 0
}
