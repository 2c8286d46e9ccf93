// The four flags that add to a listing, as parameters (interface.md, "Marketplace listings").
import { Type } from '#core/input.ts'
import type { Flags } from './snapshot/listing-json.ts'

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description: `\`1\` adds ${description}` }))

export const FlagParams = {
  with_item: flag('`item`'),
  with_pc: flag('`pc_multiplier`'),
  with_average: flag('`average_price`'),
  with_last_sales: flag('`last_sales`'),
}

interface FlagInput {
  with_item?: boolean
  with_pc?: boolean
  with_average?: boolean
  with_last_sales?: boolean
}

export function flagsOf({ with_item, with_pc, with_average, with_last_sales }: FlagInput): Flags {
  return { item: with_item ?? false, pc: with_pc ?? false, average: with_average ?? false, lastSales: with_last_sales ?? false }
}
