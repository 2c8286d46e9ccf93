// Sums up the explanation of a price in one sentence: what was compared, how far apart it is, which price is followed, and why. Pure; the console
// builds the same sentence in its reader's language.
import type { Words } from '#core/problem-texts/words.ts'
import { fillTemplate, type Params } from '#core/problems.ts'
import type { Market, MarketNames } from '#core/markets.ts'
import type { Flag } from '../evidence/evidence-types.ts'
import type { ExplainInput, PriceExplanation } from './explanation.ts'

const DIFFER = 'Two markets differ[ {fold}-fold| by {percent} %] ({market} and {other})'
const SHOWN_ONLY = 'so it is shown but not used for other figures'

/** The sentences, without the full stop. Of `[a|b]`, the first alternative whose parameters are all given is used. */
const SUMMARIES = {
  no_price: '{market} has no price of this item for {label}',
  only_held: 'A price of {market} is held for review, so none is published',
  confirmed:
    'A person confirmed the price of {market} on {day}[, although {other} differs {fold}-fold|, although {other} differs by {percent} %], so it is used',
  too_few_people: `Too few people are behind our own price (it needs three buyers and two sellers), ${SHOWN_ONLY}`,
  no_recent_sale: `The last sale behind our own price was on {day}, more than 90 days ago, ${SHOWN_ONLY}`,
  set_aside: 'An operator has set {market} aside, so its price is shown but not used for other figures',
  stale: `{market} has not confirmed this price since {day}, longer than usual, ${SHOWN_ONLY}`,
  follows: `${DIFFER}; ours follows {followed}, because [{third} agrees with it|the price of {wrong} {why}]`,
  follows_neither: `${DIFFER}; ours follows neither, because nothing shows which of them is wrong`,
  disputed: 'The price of {market} is shown but not used for other figures, because it {why}',
  condition_unknown: `${DIFFER}; both prices are used, because [{unknown} states no condition|neither states a condition] and the difference may be one of condition`,
  differ: `${DIFFER}; nothing else contradicts the price of {market}, so it is used`,
  agree: 'Two markets agree: {market} and {other} differ[ {fold}-fold| by {percent} %], no more than usual, so the price of {market} is used',
  not_compared: 'The price of {market} is used, but could not be compared with other markets, because {why}',
  only_market: 'Only {market} has a price of this item for {label}, so there is nothing to compare it with',
  only_own_sales: 'Our own price comes from {pairs} pairs of seller and buyer; no other market has a price to compare it with',
} as const

/** Why a price is not followed, or was not compared. */
const SUMMARY_REASONS = {
  own_averages: 'is far from the figures of its own feed',
  jump: 'jumped from the previous price and nothing has confirmed it yet',
  average_jump: 'has an average that changed more than is plausible',
  identical_figures: 'has the same figures as another item',
  shared_id: 'has a shop id that another item has, too',
  grade_order: 'puts a PSA 10 below the ungraded card',
  other_markets: 'agrees with no other market',
  no_rate: 'there is no exchange rate',
  other_time: 'their prices are too far apart in time',
  own_sales: 'the only other price comes from our own sales',
  not_trusted: 'none of their prices is trusted',
} as const

/** Added to the sentence if a published price has others that are held. */
const MORE_HELD = '; prices held for review: {held}'

type SummaryRule = keyof typeof SUMMARIES
type SummaryReason = keyof typeof SUMMARY_REASONS

/** A sentence and its parameters: markets as codes, `day` as ISO 8601, `why` as a key of `SUMMARY_REASONS`. */
interface Summary {
  rule: SummaryRule
  params: Params
}

/** The texts of a language. */
export interface SummaryTexts {
  summaries: Readonly<Record<SummaryRule, string>>
  reasons: Readonly<Record<SummaryReason, string>>
  moreHeld: string
}

export const SUMMARIES_IN_ENGLISH: SummaryTexts = { summaries: SUMMARIES, reasons: SUMMARY_REASONS, moreHeld: MORE_HELD }

/** How a language writes markets, days and numbers. */
export interface SummaryStyle {
  market: (code: string) => string
  day: (iso: string) => string
  words?: Words
}

type Summarised = Pick<
  PriceExplanation,
  'market' | 'label' | 'price' | 'confirmed_at' | 'state' | 'flags' | 'samples' | 'condition_known' | 'confirmed_by_person_at' | 'findings' | 'inputs'
> & {
  /** held prices of the same item, market and label, if the reader may know of them */
  held?: readonly unknown[]
}

/** The sentence in English. @param names of markets by code */
export function summaryInEnglish(of: Summarised, names: MarketNames): string {
  return summaryText(of, SUMMARIES_IN_ENGLISH, { market: (code) => names[code as Market] ?? code, day: (iso) => iso.slice(0, 10) })
}

/** The sentence in a language. */
export function summaryText(of: Summarised, { summaries, reasons, moreHeld }: SummaryTexts, { market, day, words }: SummaryStyle): string {
  const { rule, params } = summaryOf(of)
  const texts = Object.entries(params).map(([name, value]): [string, Params[string]] => {
    if (MARKET_PARAMS.has(name)) return [name, market(value as string)]
    if (name === 'why') return [name, reasons[value as SummaryReason]]
    return [name, name === 'day' ? day(value as string) : value]
  })
  const held = rule === 'only_held' || !of.held?.length ? '' : fillTemplate(moreHeld, { held: of.held.length }, words)
  const sentence = fillTemplate(summaries[rule], Object.fromEntries(texts), words)
  return `${sentence}${held}.`
}

const MARKET_PARAMS = new Set(['market', 'other', 'followed', 'wrong', 'third', 'unknown'])

/** The price of another market that this one was compared with. */
interface Compared extends ExplainInput {
  comparison: NonNullable<ExplainInput['comparison']>
}

/** The sentence for an explanation: the first of these that applies. */
function summaryOf(of: Summarised): Summary {
  const { market, label, state, samples } = of
  if (of.price === null) return of.held?.length ? { rule: 'only_held', params: { market } } : { rule: 'no_price', params: { market, label } }
  const compared = of.inputs.filter((input): input is Compared => input.kind === 'market' && input.comparison !== null)
  const day = of.confirmed_by_person_at
  if (day !== null) return { rule: 'confirmed', params: { market, day, ...apartFrom(of, contradicting(of, compared)) } }
  if (state === 'stale') return staleness(of)
  if (state === 'unproven') return { rule: 'too_few_people', params: {} }
  const differing = difference(of, compared)
  if (differing) return differing
  if (state === 'disputed') return { rule: 'disputed', params: { market, why: reasonIn(of.flags) ?? 'other_markets' } }
  if (compared.length > 0) return { rule: 'agree', params: { market, ...apartFrom(of, furthest(of, compared)) } }
  const [other] = of.inputs.filter(({ kind }) => kind === 'market')
  if (other) return { rule: 'not_compared', params: { market, why: isReason(other.reason) ? other.reason : 'other_time' } }
  const isOwn = market === 'service' && samples !== null
  return isOwn ? { rule: 'only_own_sales', params: { pairs: samples } } : { rule: 'only_market', params: { market, label } }
}

function staleness({ market, flags, confirmed_at: confirmed, inputs }: Summarised): Summary {
  if (flags.includes('source_set_aside')) return { rule: 'set_aside', params: { market } }
  if (market !== 'service') return { rule: 'stale', params: { market, day: confirmed! } }
  // Our own price can be set later than its newest sale, for example when an older sale is cancelled.
  const sale = inputs.find(({ kind, used }) => kind === 'sale' && used)
  return { rule: 'no_recent_sale', params: { day: sale?.at ?? confirmed! } }
}

/** The sentence about a market that contradicts the price, or from which it differs more than usual; null without one. */
function difference(of: Summarised, compared: readonly Compared[]): Summary | null {
  const other = contradicting(of, compared)
  if (!other) return null
  const params = { market: of.market, ...apartFrom(of, other) }
  const isDisputed = of.findings.some(({ rule, market, counts }) => rule === 'other_markets' && market === other.market && counts)
  const isOtherDisputed = other.state === 'disputed'
  if (isDisputed && isOtherDisputed) return { rule: 'follows_neither', params }
  if (isDisputed) return { rule: 'follows', params: { ...params, followed: other.market, ...againstThis(of, other, compared) } }
  if (of.state === 'disputed') return null
  if (isOtherDisputed) return { rule: 'follows', params: { ...params, followed: of.market, ...againstOther(other, compared) } }
  if (!of.findings.some(({ rule, market }) => rule === 'condition_unknown' && market === other.market)) return { rule: 'differ', params }
  const isOneUnknown = of.condition_known !== other.condition_known
  return { rule: 'condition_unknown', params: { ...params, ...(isOneUnknown && { unknown: of.condition_known ? other.market : of.market }) } }
}

/** Why the other market is followed: its price is contradicted by nothing but this one. */
function againstThis(of: Summarised, other: Compared, compared: readonly Compared[]): Params {
  const why = reasonIn(of.flags) ?? of.findings.map(({ rule }) => rule).find((rule) => rule === 'own_averages')
  if (why) return { wrong: of.market, why }
  const third = of.market === 'service' ? undefined : compared.find((one) => one !== other && one.state === 'trusted')
  return third ? { third: third.market } : { wrong: of.market, why: 'other_markets' }
}

/** Why this price is followed although another market contradicts it. */
function againstOther(other: Compared, compared: readonly Compared[]): Params {
  const why = reasonIn(other.flags ?? [])
  if (why) return { wrong: other.market, why }
  const third = compared.find(({ state, comparison }) => state === 'trusted' && comparison.level === 'agree')
  return third ? { third: third.market } : { wrong: other.market, why: 'own_averages' }
}

/** The first flag, other than a conflict with other markets, that counts against a price. */
function reasonIn(flags: readonly Flag[]): SummaryReason | undefined {
  return flags.find((flag): flag is Flag & SummaryReason => flag !== 'other_markets' && flag !== 'no_rate' && isReason(flag))
}

function isReason(name: string): name is SummaryReason {
  return Object.hasOwn(SUMMARY_REASONS, name)
}

/** The market that contradicts the price; else the one furthest from it of those that differ more than usual. */
function contradicting(of: Summarised, compared: readonly Compared[]): Compared | undefined {
  const about = of.findings.filter(({ rule }) => rule === 'other_markets' || rule === 'condition_unknown')
  for (const found of [about.filter(({ counts }) => counts), about]) {
    const others = compared.filter((input) => found.some(({ market }) => market === input.market))
    if (others.length > 0) return furthest(of, others)
  }
  return undefined
}

function furthest(of: Summarised, compared: readonly Compared[]): Compared {
  return compared.reduce((a, b) => (foldOf(of, b) > foldOf(of, a) ? b : a))
}

/** Factor between the price and that of another market, in one currency. */
function foldOf({ price }: Summarised, { comparison: { converted } }: Compared): number {
  return Math.max(price!, converted) / Math.min(price!, converted)
}

/** The other market, and how far apart the prices are: in percent below a factor of two. */
function apartFrom(of: Summarised, other: Compared | undefined): Params {
  if (!other) return {}
  const fold = foldOf(of, other)
  const apart: Params = fold < 2 ? { percent: Math.round((fold - 1) * 100) } : { fold: fold < 10 ? Math.round(fold * 10) / 10 : Math.round(fold) }
  return { other: other.market, ...apart }
}
