// Prices that a seller should check before they apply: the service's rule, and the confirmation that every form asks for.
import type { ComponentChildren } from 'preact'
import { confirm } from '#ui/dialog.tsx'
import { Status } from '#ui/states.tsx'
import { withMessage } from '../../src/core/problems.ts'
// The rule of price jobs, so that forms and plans warn about the same prices.
import { priceWarnings } from '../../src/market/records/market-price.ts'
import { lira, type RefusalReason, refusalText, t } from './words.ts'

/** What to check about the price of a new listing, in lira. @param market null if the card has no trusted price */
export function warningsAbout(price: number, market: number | null): RefusalReason[] {
  const kurus = (amount: number) => Math.round(amount * 100)
  return priceWarnings(null, kurus(price), market === null ? null : kurus(market)).map(withMessage)
}

export interface RiskyPrice {
  key: number | string
  name: ComponentChildren
  /** null for a new listing */
  old: number | null
  price: number | null
  warnings: readonly RefusalReason[]
}

/** Prices that the confirmation lists. */
const MAX_LISTED = 10

/** Asks whether unusual prices are meant; resolves with the answer. */
export function confirmPrices(prices: readonly RiskyPrice[], question: { title: string; text: string; action: string }): Promise<boolean> {
  return confirm({
    ...question,
    details: (
      <ul class="why">
        {prices.slice(0, MAX_LISTED).map(({ key, name, old, price, warnings }) => (
          <li key={key}>
            {name} <Change from={old} to={price} show={lira} /> <span class="quiet">{warnings.map(refusalText).join('; ')}</span>
          </li>
        ))}
        {prices.length > MAX_LISTED && <li>{t('riskyMore', { count: prices.length - MAX_LISTED })}</li>}
      </ul>
    ),
  })
}

/** The same for the price of one form. */
export async function confirmPrice(name: string, old: number | null, price: number, warnings: readonly RefusalReason[]): Promise<boolean> {
  if (warnings.length === 0) return true
  const question = { title: t('riskyPriceTitle'), text: t('riskyPriceText'), action: t('saveAnyway') }
  return confirmPrices([{ key: name, name, old, price, warnings }], question)
}

/** The mark of a price that the seller should check, with the reasons. */
export function PriceWarnings({ of: warnings }: { of: readonly RefusalReason[] }): ComponentChildren {
  if (warnings.length === 0) return null
  return (
    <>
      <Status code="check" tone="wait" /> <span class="quiet">{warnings.map(refusalText).join('; ')}</span>
    </>
  )
}

/** Old and new value, or the unchanged one. */
export function Change({ from, to, show }: { from: number | null; to: number | null; show: (value: number) => string }): ComponentChildren {
  if (to === null || to === from) return from === null ? '–' : show(from)
  return (
    <>
      {from !== null && <del>{show(from)}</del>} <ins>{show(to)}</ins>
    </>
  )
}
