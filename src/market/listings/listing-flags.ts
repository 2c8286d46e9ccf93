// The flags that add to a listing, as parameters (interface.md, "Marketplace listings").
import { Type } from '#core/input.ts'
import type { Flags } from '../snapshot/listing-json.ts'

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description: `\`1\` adds ${description}` }))

export const FlagParams = {
  with_item: flag('`item`'),
  with_pc: flag('`pc_multiplier`'),
  with_average: flag('`average_price`'),
  with_last_sales: flag('`last_sales`'),
  with_details: flag(
    '`grade`, `language`, `quantity`, `images`, `shipping_payer`, `offers_enabled`, `highlighted_until`, `published_at` and `expires_at`',
  ),
  with_explain: flag('`explain`: rules and inputs of `pc_multiplier` and `average_price`'),
}

interface FlagInput {
  with_item?: boolean
  with_pc?: boolean
  with_average?: boolean
  with_last_sales?: boolean
  with_details?: boolean
  with_explain?: boolean
}

export function flagsOf({
  with_item: item = false,
  with_pc: pc = false,
  with_average: average = false,
  with_last_sales: lastSales = false,
  with_details: details = false,
  with_explain: explain = false,
}: FlagInput): Flags {
  return { item, pc, average, lastSales, details, explain }
}
