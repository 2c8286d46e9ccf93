// What it would cost to move an own price, as returned by verbs.
import { type Static, Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import type { CostToMove } from './cost-to-move.ts'

export const CostToMoveSchema = Type.Object(
  {
    amount: Type.Number({ description: 'Shipping of the sales that it takes at least' }),
    currency: Type.String({ description: 'ISO 4217 code', examples: ['TRY'] }),
    buyers: Type.Integer({ description: 'Buyers in these sales' }),
    sellers: Type.Integer({ description: 'Sellers in these sales' }),
    days: Type.Integer({ description: 'Days within which the sales must take place' }),
    rule: Type.Object(
      { name: Type.Enum(['fewest_sales'] as const), version: Type.Integer({ description: 'Incremented when the rule changes' }) },
      { title: 'CostToMoveRule', description: 'The rule that gives this cost' },
    ),
  },
  {
    title: 'CostToMove',
    description:
      'What people who act together would at least pay to move the price by 10 %: goods only move between them, so they lose no more than the shipping of each sale. 0 if no buyer is known',
  },
)

/** @param currency of the service's own market */
export function costToMoveResponse({ minor, buyers, sellers, days }: CostToMove, currency: string): Static<typeof CostToMoveSchema> {
  return { amount: minorToNumber(minor), currency, buyers, sellers, days, rule: { name: 'fewest_sales', version: 1 } }
}
