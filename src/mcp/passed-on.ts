// What a language model gets of a response: no price, and no figure computed from one, of a source that may not be passed on.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { withMarkets } from '#catalogue/items/explain-price.ts'
import { isMarket, MARKETS } from '#core/markets.ts'
import type { PriceExplanation } from '#prices/reviews/explanation.ts'
import { allows } from '#prices/records/source-terms.ts'

/** Rules of warnings that quote the market price. */
const OF_MARKET_PRICE = new Set<unknown>(['price_far_above', 'price_far_below'])
/** Members that are amounts of the market that the same object names. */
const AMOUNTS = ['price', 'amount', 'close']

type Members = Record<string, unknown>

/**
 * Removes prices from the JSON of a response: those of an item, of its history and of an explanation by their market, `pc_multiplier` by its own
 * market, and the market price of a price job unless every source may be passed on.
 */
export function passedOn(body: unknown, { terms, marketNames }: Pick<Catalogue, 'terms' | 'marketNames'>): unknown {
  const may = (position: number) => allows(terms[position]!, 'redistribute')
  const isHidden = (market: unknown) => isMarket(market) && !may(MARKETS.indexOf(market))
  const hidesMultiplier = isHidden('source_a')
  const hidesMarketPrice = MARKETS.some(isHidden)
  if (!hidesMarketPrice) return body

  function of(value: unknown): unknown {
    if (Array.isArray(value)) return value.filter((one) => !isAmount(one)).map(of)
    // An amount beyond a double is an object that only `JSON.stringify` may read.
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
    if ('judged_by' in value) return withMarkets(value as PriceExplanation, marketNames, may)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ofMember(value as Members, name, member)]))
  }

  /** Whether a member of a list is nothing but an amount of a hidden market: a period of a history, or an input of a figure. */
  function isAmount(one: unknown): boolean {
    return typeof one === 'object' && one !== null && isHidden((one as Members).market) && AMOUNTS.some((name) => name in one)
  }

  function ofMember(owner: Members, name: string, member: unknown): unknown {
    if (name === 'prices' && isHidden(owner.market)) return []
    if (name === 'pc_multiplier' && hidesMultiplier) return isFigure(member) ? { ...member, result: null, inputs: [] } : null
    if (name === 'market_price') return null
    if (name === 'warnings' && Array.isArray(member)) return member.filter((warning) => !OF_MARKET_PRICE.has((warning as Members).rule))
    return of(member)
  }

  return of(body)
}

function isFigure(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && 'inputs' in value
}
