// Recomputes current prices from the history after points were added or removed.
import { type RawBuilder, sql } from 'kysely'
import { parseMinor } from '#core/money.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { noteChangedItems } from '../records/changed-items.ts'
import { CONFIDENCES, STATES } from '../evidence/evidence-types.ts'
import { FIGURE_COLUMNS } from '../records/feed-figures.ts'
import { logEvidence } from '../judging/judge-prices.ts'
import { packPrices, type PriceChange } from '../records/price-payload.ts'

const NO_EVIDENCE = sql.raw(
  [...['confirmed_at', 'line', ...FIGURE_COLUMNS].map((name) => `${name} = null`), 'state = 0', 'confidence = 0', 'flags = 0'].join(', '),
)
const UNJUDGED = { state: STATES[0], confidence: CONFIDENCES[0], flags: 0, confirmedAtMs: null, avg7: null, avg30: null, low: null, high: null }

/** Maximum changes per entry of the change log. */
const PACK = 20_000

/**
 * Replaces the current prices with the result of a query and notifies the nodes of the changes.
 * @param latest rows `item_id, market, label_id, price, updated_at, import_id`, each key once; price null for none. Evidence belongs to one price, so
 * it is reset. The caller judges the items (`judgePrices`).
 * @returns the changes
 */
export async function resetCurrent(tx: Tx, note: Note, latest: RawBuilder<unknown>): Promise<PriceChange[]> {
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; price: string | null; at_ms: number }>`
    with latest as materialized (${latest}), gone as (
      delete from prices p using latest l
      where (p.item_id, p.market, p.label_id) = (l.item_id, l.market, l.label_id) and l.price is null
      returning p.item_id, p.market, p.label_id, p.updated_at
    ), changed as (
      update prices p set price = l.price, updated_at = l.updated_at, import_id = l.import_id, ${NO_EVIDENCE} from latest l
      where (p.item_id, p.market, p.label_id) = (l.item_id, l.market, l.label_id)
        and (p.price, p.updated_at, p.import_id) <> (l.price, l.updated_at, l.import_id)
      returning p.item_id, p.market, p.label_id, p.price, p.updated_at
    ), added as (
      insert into prices as p (item_id, market, label_id, price, updated_at, import_id)
      select item_id, market, label_id, price, updated_at, import_id from latest l
      where price is not null and not exists (
        select from prices q where (q.item_id, q.market, q.label_id) = (l.item_id, l.market, l.label_id)
      )
      returning p.item_id, p.market, p.label_id, p.price, p.updated_at
    ), set_back as (
      select * from changed union all select * from added
    )
    select item_id, market, label_id, price, (extract(epoch from updated_at) * 1000)::float8 as at_ms from set_back
    union all select item_id, market, label_id, null, (extract(epoch from updated_at) * 1000)::float8 from gone`.execute(tx)
  const changes: PriceChange[] = rows.map((row) => ({
    itemId: row.item_id,
    market: row.market,
    labelId: row.label_id,
    minor: row.price === null ? 0 : parseMinor(row.price)!,
    updatedAtMs: row.at_ms,
  }))
  await noteChangedItems(
    tx,
    changes.map(({ itemId }) => itemId),
    note.at,
  )
  for (let from = 0; from < changes.length; from += PACK) await note.changedPrices(packPrices(changes.slice(from, from + PACK)))
  await logEvidence(
    note,
    changes.filter(({ minor }) => minor > 0).map(({ itemId, market, labelId }) => ({ itemId, market, labelId, ...UNJUDGED })),
  )
  return changes
}
