// Which prices have a known condition: derived from the format or column mapping of the import that set them.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'
import type { CurrentPrices } from '../records/current.ts'
import { PRICE_FORMATS } from '../sources/formats.ts'

/** Whether a price has a known condition. */
export type IsConditionKnown = (importId: number, market: number, labelId: number) => boolean

/** Formats with figures over all conditions. */
const FORMATS = PRICE_FORMATS.filter(({ conditionKnown }) => conditionKnown !== undefined)

/**
 * Which prices of these imports have a known condition. A grade is always known; the figure of an ungraded label may cover all conditions.
 * @param importIds ids of the imports that set the prices, in any order
 */
export async function conditionsOf(on: Queryable, importIds: Iterable<number>): Promise<IsConditionKnown> {
  const ids = [...new Set(importIds)].join(',')
  if (ids === '') return () => true
  const { rows } = await sql<{ id: number; format: string; condition_known: boolean; ungraded: number[] }>`
    select id, format, condition_known,
      array(select g.id from groups g join groups p on p.id = g.parent_id where p.slug = 'ungraded') as ungraded
    from imports
    where id = any(${`{${ids}}`}::int4[]) and (not condition_known or format = any(${FORMATS.map(({ name }) => name)}::text[]))`.execute(on)
  if (rows.length === 0) return () => true
  const ungraded = new Set(rows[0]!.ungraded)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return (importId, market, labelId) => {
    const row = byId.get(importId)
    if (!row || !ungraded.has(labelId)) return true
    return row.condition_known && (FORMATS.find(({ name }) => name === row.format)?.conditionKnown?.(MARKETS[market]!) ?? true)
  }
}

/** As `conditionsOf`, by position of the price. */
export async function conditionsOfPrices(on: Queryable, currents: CurrentPrices): Promise<(at: number) => boolean> {
  const isKnown = await conditionsOf(on, currents.importId.subarray(0, currents.size))
  return (at) => isKnown(currents.importId[at]!, currents.market(at), currents.labelId(at))
}
