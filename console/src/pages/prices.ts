// Prices as people read them: each source has its currency, the marketplace has lira.
import { session } from '../api.ts'
import type { PricePoint } from '../api-types.ts'
import { money } from '../words.ts'

export type Market = PricePoint['market']

export function priceText(value: number, market: Market): string {
  return money(value, session.value?.currencies[market] ?? 'TRY')
}

export function lira(value: number): string {
  return money(value, 'TRY')
}
