// What it would cost to move an own price, as returned by verbs.
import { type Static, Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import type { CostToMove } from './cost-to-move.ts'

export const CostToMoveSchema = Type.Object(
  {
    amount: Type.Number({ description: 'Commission and shipping of the sales that it takes' }),
    currency: Type.String({ description: 'ISO 4217 code', examples: ['TRY'] }),
    buyers: Type.Integer({ description: 'Number of buyers who must take part' }),
    sellers: Type.Integer({ description: 'Number of sellers who must take part' }),
    days: Type.Integer({ description: 'Days within which the sales must take place' }),
    rule: Type.Object(
      { name: Type.Enum(['cheapest_sales'] as const), version: Type.Integer({ description: 'Incremented when the rule changes' }) },
      { title: 'CostToMoveRule', description: 'The rule that gives this cost' },
    ),
  },
  {
    title: 'CostToMove',
    description:
      'The least that people who act together would pay to move the price by 10 %, as far as the rule finds it: goods only move between them, so they lose the commission and the shipping of each sale. 0 if no buyer is known',
  },
)

/** @param currency of the service's own market */
export function costToMoveResponse({ minor, buyers, sellers, days }: CostToMove, currency: string): Static<typeof CostToMoveSchema> {
  return { amount: minorToNumber(minor), currency, buyers, sellers, days, rule: { name: 'cheapest_sales', version: 1 } }
}
