// Refuses an import whose prices are off as a whole, before it is applied.
import { sql } from 'kysely'
import { FeedError } from '#core/files/feed.ts'
import { MARKETS } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import type { Tx } from '#db/schema.ts'
import { driftOf, type FeedComparison, mistakenCurrency } from '../evidence/feed-drift.ts'
import type { PriceRules } from '../evidence/hold.ts'
import type { FeedMoves } from './feed-moves.ts'
import { Rates } from '../rates/rates.ts'

/** Other markets' prices below this amount in euro are left out: among them, markets differ by more. */
const MIN_EURO = 1

/**
 * @param moves the prices of the import beside their source's earlier ones
 * @param markets those of the import
 * @throws FeedError if the prices of a market, or of a set at a market, are off as a whole
 */
export async function refuseDrift(
  tx: Tx,
  importId: number,
  moves: FeedMoves,
  markets: Iterable<number>,
  rules: PriceRules,
  now: Date,
): Promise<void> {
  const own = moves.comparisons(markets)
  const rates = await Rates.loadAt(tx, now.getTime())
  const lira = (currency: string) => rates.on(currency, now.getTime())?.lira ?? (currency === 'TRY' ? 1 : null)
  const currencyOf = (market: number) => rules.currencies[MARKETS[market]!]
  const isFirst = (comparisons: readonly FeedComparison[]) => comparisons.every(({ cards }) => cards < rules.driftCards)
  const first = [...own].flatMap(([market, comparisons]) => (isFirst(comparisons) ? [market] : []))
  const byMarket = first.length === 0 ? new Map<number, FeedComparison[]>() : await comparedWithMarkets(tx, importId, first, rules, lira)
  for (const [market, comparisons] of own) {
    const bySet = await comparedBySet(tx, market, moves, rules)
    const drift = driftOf([...comparisons, ...bySet, ...(byMarket.get(market) ?? [])], rules)
    if (!drift) continue
    const { other, set, cards, factor } = drift
    const currency = currencyOf(market)
    const unit = lira(currency)
    const worths = new Map(rates.currencies().flatMap((code) => (code === currency || unit === null ? [] : [[code, lira(code)! / unit] as const])))
    const mistaken = factor >= rules.driftMarketFactor || factor <= 1 / rules.driftMarketFactor ? mistakenCurrency(factor, worths) : null
    const params = {
      market: MARKETS[market]!,
      cards,
      factor: Math.round(factor * 100) / 100,
      ...(other !== null && { other: MARKETS[other]! }),
      ...(set !== null && { set: await setName(tx, set) }),
      ...(mistaken !== null && { from: mistaken, to: currency }),
    }
    throw new FeedError(reason('feed_drift', params))
  }
}

/** The prices of a market beside those of the days before, by set. */
async function comparedBySet(tx: Tx, market: number, moves: FeedMoves, { driftCards }: PriceRules): Promise<FeedComparison[]> {
  const itemIds = moves.itemsOf(market)
  if (itemIds.length < driftCards) return []
  const { rows } = await sql<{ id: number; category_id: number }>`
    select id, category_id from items where id = any(${`{${[...new Set(itemIds)].join(',')}}`}::int4[])`.execute(tx)
  return moves.setComparisons(market, new Map(rows.map((row) => [row.id, row.category_id])), driftCards)
}

async function setName(tx: Tx, id: number): Promise<string> {
  return (await tx.selectFrom('categories').select('name').where('id', '=', id).executeTakeFirstOrThrow()).name
}

/** The first prices of markets beside the trusted ones of other markets of about the same time, by market; without rates, markets are not compared. */
async function comparedWithMarkets(
  tx: Tx,
  importId: number,
  markets: readonly number[],
  { currencies, comparableDays }: PriceRules,
  lira: (currency: string) => number | null,
): Promise<Map<number, FeedComparison[]>> {
  const euro = lira('EUR')
  const worths = MARKETS.map((market) => lira(currencies[market]))
  if (euro === null) return new Map()
  const least = worths.map((worth) => (worth === null ? 0 : (MIN_EURO * euro) / worth))
  const { rows } = await sql<{ market: number; other: number; cards: number; log: number }>`
    select p.market, o.market as other, count(*)::int4 as cards, percentile_cont(0.5) within group (order by ln(p.price / o.price)) as log
    from prices p
    join prices o on o.item_id = p.item_id and o.label_id = p.label_id and o.market <> p.market and o.market <> 0 and o.state = 0
      and o.import_id <> p.import_id and abs(extract(epoch from o.updated_at - p.updated_at)) <= ${comparableDays * 86_400}
      and o.price >= (${least}::float8[])[o.market + 1]
    where p.import_id = ${importId} and p.market <> 0 and p.market = any(${[...markets]}::int2[])
    group by 1, 2`.execute(tx)
  const comparisons = rows.flatMap(({ market, other, cards, log }) => {
    const [own, foreign] = [worths[market], worths[other]]
    return own && foreign ? [{ market, with: 'market' as const, other, set: null, cards, factor: (Math.exp(log) * own) / foreign }] : []
  })
  return Map.groupBy(comparisons, ({ market }) => market)
}
