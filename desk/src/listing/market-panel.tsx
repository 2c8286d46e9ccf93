// The market facts beside a listing's form: what the card costs elsewhere, and what the entered price would mean.
import { useEffect, useState } from 'preact/hooks'
import { Facts, Failure } from '#ui/states.tsx'
// The rule of repricing, so that both follow the same price.
import { cheapestOf, MIN_COMPARABLES } from '../../../src/market/records/comparables.ts'
import { useData } from '../api.ts'
import { date, lira, share, t, termText } from '../words.ts'
import type { Card } from './card.ts'
import { type LoadedFacts, type MarketFacts, rankOf } from './market-facts.ts'

const SETTLE_MS = 300
const MIN_PRICE = 1

interface MarketPanelProps {
  of: LoadedFacts
  card: Card | null
  label: string
  /** the entered price; null for none */
  price: number | null
  /** the listing being edited, which is not compared with itself */
  ownId?: number
}

export function MarketPanel({ of: { facts, error }, card, label, price, ownId }: MarketPanelProps) {
  const settled = useSettled(price)
  const payout = useData(settled === null || settled < MIN_PRICE ? null : '/plus/payout-preview', { query: { price: settled ?? 0 } })
  const isSettled = settled === price && price !== null
  const rank = facts && isSettled ? rankOf(facts, price, ownId) : null
  return (
    <section class="panel market" aria-label={t('marketFacts')} aria-busy={card !== null && facts === null && error === null}>
      <h2>{t('marketFacts')}</h2>
      {card && <p class="quiet">{label}</p>}
      {error && <Failure error={error} />}
      <Facts
        rows={[
          [t('marketPrice'), facts && <MarketPrice key="price" of={facts.price} price={price} />],
          [t('cheapestListing'), facts && cheapestText(facts, ownId)],
          [t('lastSales'), facts && salesOf(facts)],
          [t('rankAtPrice'), rank === null ? null : t('rankOf', { rank, total: (facts?.asks ?? []).filter(({ id }) => id !== ownId).length + 1 })],
          [t('payoutAtPrice'), isSettled && payout.data && !payout.loading ? lira(payout.data.payout) : null],
        ]}
      />
    </section>
  )
}

/** The trusted price in lira, and how far the entered one is from it. */
export function MarketPrice({ of: trusted, price }: { of: MarketFacts['price']; price: number | null }) {
  if (trusted === null) return <>{termText('valueMissing', 'not_trusted')}</>
  const { amount, market } = trusted
  return (
    <>
      {lira(amount)} <small class="quiet">{termText('market', market)}</small>
      {price !== null && <small class="quiet"> {differenceText(price, amount)}</small>}
    </>
  )
}

/** How far a price is from the market price: `+12 %`. */
export function differenceText(price: number, market: number): string {
  const difference = price / market - 1
  return `${difference > 0 ? '+' : ''}${share(difference)}`
}

/** Says so if there are too few listings to compare with, or if lower prices were ignored as outliers. */
export function cheapestText({ asks }: MarketFacts, ownId: number | undefined): string {
  const others = asks.flatMap(({ id, price }) => (id === ownId ? [] : [{ kurus: Math.round(price * 100) }]))
  if (others.length === 0) return t('noneListed')
  const { follows, ignored } = cheapestOf(others)
  const price = lira(follows.kurus / 100)
  if (others.length < MIN_COMPARABLES) return t('cheapestOfFew', { price, count: others.length })
  return ignored === 0 ? price : t('cheapestButIgnored', { price, count: ignored })
}

function salesOf({ sales }: MarketFacts): string {
  return sales.length === 0 ? t('noneSold') : sales.map(({ at, amount }) => `${lira(amount)} (${date(at)})`).join(', ')
}

/** The value once it has not changed for a moment. */
function useSettled(value: number | null): number | null {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
