// The records that gained and lost most, of a collection whose records are read one after another.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { RECORD_COLUMNS, RECORD_JOINS, type RecordRow } from '../records/store.ts'
import { numberOf } from '../worth.ts'
import { MOST_RANKED, type ProfitRecord } from './lot-types.ts'

interface Ranked {
  recordId: number
  gain: bigint
}

export interface Ranking {
  /** highest gain first; gains only */
  best: Ranked[]
  /** highest loss first; losses only */
  worst: Ranked[]
}

export function noRanking(): Ranking {
  return { best: [], worst: [] }
}

/** Adds a record if it is among the first; of equal ones, the record that was added earlier comes first. */
export function addToRanking({ best, worst }: Ranking, recordId: number, gain: bigint): void {
  if (gain === 0n) return
  const [list, sign] = gain > 0n ? [best, 1n] : [worst, -1n]
  const place = list.findLastIndex((one) => one.gain * sign >= gain * sign) + 1
  if (place >= MOST_RANKED) return
  list.splice(place, 0, { recordId, gain })
  if (list.length > MOST_RANKED) list.pop()
}

/** The records with their names, in the same order, without those that were removed meanwhile. */
export async function rankedRecords(on: Queryable, { best, worst }: Ranking): Promise<Record<keyof Ranking, ProfitRecord[]>> {
  const ids = [...best, ...worst].map(({ recordId }) => recordId)
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from collection_items r ${RECORD_JOINS} where r.id = any(${ids}::int4[])`.execute(on)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const named = ({ recordId, gain }: Ranked): ProfitRecord[] => {
    const row = byId.get(recordId)
    if (!row) return []
    const { item_id, item_name, group_label, quantity } = row
    return [{ record_id: recordId, item_id, item_name, group_label, quantity, gain: numberOf(gain) }]
  }
  return { best: best.flatMap(named), worst: worst.flatMap(named) }
}
