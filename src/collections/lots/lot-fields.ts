// Input fields of lots and disposals; each rule is defined once.
import { invalid, invalidFields } from '#core/errors.ts'
import { day } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Problem, reason } from '#core/problems.ts'
import { money, minorOf, quantity } from '../records/fields.ts'
import { costCurrency } from '../worth.ts'
import { todayOf } from './figures-ctx.ts'
import type { LotReadCtx } from './lot-types.ts'

/** Lots and, separately, disposals that are not of orders: each read settles all of a record. */
export const MOST_OF_RECORD = 1_000

export const SharedFields = {
  quantity: quantity(1),
  fees: money('Fees for all copies; default: 0'),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}$',
      allowed: reason('currency'),
      description: "Currency of the amounts: that of the service, TRY, or one with an exchange rate; default: the service's",
      examples: ['TRY'],
    }),
  ),
}

/** A day up to today; default: today. */
export function pastDay(description: string) {
  return Type.Optional(day(`${description}, not in the future; default: today`))
}

/** The day, or today. @throws VALIDATION_ERROR for a day in the future */
export function dayOrToday(ctx: LotReadCtx, field: string, sent: string | undefined): string {
  const today = todayOf(ctx)
  if (sent !== undefined && sent > today) throw invalid(field, 'not_in_future')
  return sent ?? today
}

/** The currency, or that of the service. @throws VALIDATION_ERROR for one without exchange rates */
export function currencyOrOwn(ctx: LotReadCtx, sent: string | undefined): string {
  const own = costCurrency(ctx)
  const usable = new Set([own, ...ctx.catalogue.rates.currencies()])
  if (sent !== undefined && !usable.has(sent)) throw invalid('currency', 'currency_rate', { values: [...usable].sort(), value: sent })
  return sent ?? own
}

/** Amounts in minor units, by field; absent ones are null. @throws VALIDATION_ERROR for more than two decimals */
export function minorsOf<Field extends string>(fields: { [F in Field]?: number | null | undefined }): { [F in Field]: number | null } {
  const problems: Problem[] = []
  const minors = Object.entries<number | null | undefined>(fields).map(([field, value]) => [field, minorOf(field, value ?? null, problems)])
  if (problems.length > 0) throw invalidFields(problems)
  return Object.fromEntries(minors) as { [F in Field]: number | null }
}
