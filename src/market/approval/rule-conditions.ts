// Conditions of approval rules: evaluated only with the facts recorded for a listing, so that a backtest cannot use data from after the decision.
import { invalidFields } from '#core/errors.ts'
import { type Static, Type } from '#core/input.ts'
import { problem } from '#core/problems.ts'
import { CONTENT } from '../listing-store.ts'
import type { ListingFacts } from './review.ts'

const range = (of: string, number: Type.TSchema) =>
  Type.Optional(
    Type.Object({ min: Type.Optional(number), max: Type.Optional(number) }, { additionalProperties: false, minProperties: 1, description: of }),
  )
const count = (of: string) => range(of, Type.Integer({ minimum: 0, maximum: 1_000_000 }))

export const ConditionsSchema = Type.Object(
  {
    changed_fields: Type.Optional(
      Type.Array(Type.Enum([...CONTENT]), {
        maxItems: CONTENT.length,
        description: 'Only these fields may differ from the last approved version. A listing that was never approved does not match',
      }),
    ),
    price_ratio: range(
      'Price ÷ the first trusted reference price of the item and label, in TL. A listing without a reference price does not match',
      Type.Number({ minimum: 0, maximum: 1_000_000 }),
    ),
    seller_sales: count('Order lines the seller has sold'),
    seller_approved: count("Approvals of the seller's listings"),
    seller_rejected: count("Rejections of the seller's listings"),
    seller_age_days: count("Age of the seller's account"),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    title: 'ApprovalConditions',
    description: 'All conditions must be met',
    examples: [{ price_ratio: { min: 0.5, max: 1.5 }, seller_sales: { min: 20 }, seller_rejected: { max: 0 } }],
  },
)
export type Conditions = Static<typeof ConditionsSchema>

const MEASURED = ['price_ratio', 'seller_sales', 'seller_approved', 'seller_rejected', 'seller_age_days'] as const

/** Whether all conditions hold for the recorded facts of a listing. */
export function holds(conditions: Conditions, facts: ListingFacts): boolean {
  const { changed_fields: allowed } = conditions
  if (allowed && !(facts.changed_fields?.every((field) => (allowed as string[]).includes(field)) ?? false)) return false
  return MEASURED.every((name) => {
    const { min, max } = (conditions[name] ?? {}) as { min?: number; max?: number }
    const value = facts[name]
    if (min === undefined && max === undefined) return true
    return value !== null && value >= (min ?? -Infinity) && value <= (max ?? Infinity)
  })
}

/** @throws VALIDATION_ERROR for an empty range */
export function checkConditions(conditions: Conditions): void {
  const wrong = MEASURED.filter((name) => {
    const { min, max } = (conditions[name] ?? {}) as { min?: number; max?: number }
    return min !== undefined && max !== undefined && min > max
  })
  if (wrong.length > 0) throw invalidFields(wrong.map((name) => problem(`conditions.${name}.min`, 'not_above', { field: 'max' })))
}
