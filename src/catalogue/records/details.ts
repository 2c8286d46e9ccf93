// Converts item details to the names used in the database and exports, and back.
import type { ItemDetails } from './catalogue-records.ts'

/** Details in a fixed order of keys, without absent ones. */
export function detailsToRow(details: ItemDetails): Record<string, unknown> {
  const stated = {
    rarity: details.rarity,
    illustrator: details.illustrator,
    hp: details.hp,
    types: details.types,
    dex_ids: details.dexIds,
    stage: details.stage,
    evolve_from: details.evolveFrom,
    suffix: details.suffix,
    level: details.level,
    names: details.names,
  }
  const row: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(stated)) if (value !== undefined) row[name] = value
  return row
}

/** The inverse of `detailsToRow`. */
export function detailsFromRow(row: Record<string, unknown>): ItemDetails {
  const { dex_ids: dexIds, evolve_from: evolveFrom, ...others } = row
  return { ...others, ...(dexIds !== undefined && { dexIds }), ...(evolveFrom !== undefined && { evolveFrom }) } as ItemDetails
}
