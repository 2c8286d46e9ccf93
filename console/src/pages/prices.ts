// Formats prices of sources, each in its own currency.
import { sessions } from '../api.ts'
import type { PricePoint } from '../api-types.ts'
import { money } from '../words.ts'

export type Market = PricePoint['market']

export function priceText(value: number, market: Market): string {
  return money(value, sessions.session.value?.currencies[market] ?? 'TRY')
}
