// Moves the history, current and held prices of the emptied item to the survivor when items are merged, and back.
import { sql } from 'kysely'
import type { Note } from '#db/changes/change.ts'
import { analyzeAfterMerges, mergeIds, type MergePair, pairTable } from '#db/merge-pairs.ts'
import { forgetRows, recordRows } from '#db/merged-rows.ts'
import type { Tx } from '#db/schema.ts'
import { PERSISTENT_FLAGS } from '../records/current.ts'
import { FIGURE_COLUMNS } from '../records/feed-figures.ts'
import type { PriceChange } from '../records/price-payload.ts'
import { addPoints, restoreCoveredPoints } from './points.ts'
import { resetCurrent } from './reset-current.ts'

/**
 * Moves all prices of the emptied items to the survivors; the markets must be locked. Of two current prices, the later one remains, with its
 * evidence; the caller judges the survivors. The history keeps both items' points: of two at the same time, the later import's is visible and covers
 * the other, as if both had arrived for one item. If the survivor has a point of the same import and time, that one stays.
 */
export async function movePrices(tx: Tx, pairs: readonly MergePair[], now: Date): Promise<void> {
  await moveCurrent(tx, pairs)
  await takePoints(tx, pairs)
  await placePoints(tx, pairs)
  await discardHeldTwice(tx, pairs, now)
}

/** Author of decisions by merges, followed by the id of the merge. */
const DISCARDED_BY = 'merge:'

const KEY = sql.raw('market, label_id, updated_at')
/** Evidence columns that move along with a price, besides its verdict. */
const EVIDENCE_NAMES = ['confirmed_at', 'line', ...FIGURE_COLUMNS]
const EVIDENCE = sql.raw(EVIDENCE_NAMES.join(', '))
const evidenceOf = (table: string) => sql.raw(EVIDENCE_NAMES.map((name) => `${table}.${name}`).join(', '))

/** Current prices before the merge: all of the emptied item (placed), and those of the survivor that one of them replaced. */
const RECORDED = sql`(
  select x.merge_id, p.* from merged_rows x cross join lateral jsonb_populate_record(null::prices, x.content) p where x.name = 'prices')`

/** Recorded prices of merges into these survivors, each with the item that it belongs to (`owner`) once the pairs are undone. */
const recordedFor = (pairs: readonly MergePair[]) => sql`(
  select case when o.undone_at is null then o.into_item else q.item_id end as owner, q.*
  from merges o join ${RECORDED} q on q.merge_id = o.id where o.into_item in (select into_item from ${pairTable(pairs)}))`

async function moveCurrent(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  const gone = sql`gone as (
    delete from prices p using ${pairTable(pairs)} where p.item_id = m.from_item returning m.merge_id, to_jsonb(p) as content)`
  await recordRows(tx, gone, sql`select merge_id, 'prices', content, true from gone`)
  await analyzeAfterMerges(tx, pairs, 'merged_rows')
  const best = sql`(
    select distinct on (m.into_item, q.market, q.label_id) m.into_item, q.*
    from ${pairTable(pairs)} join ${RECORDED} q on q.merge_id = m.merge_id and q.item_id = m.from_item
    order by m.into_item, q.market, q.label_id, q.updated_at desc, q.import_id desc, q.merge_id)`
  // Prices of the survivor that are no longer shown; prices from earlier merges are recorded with those merges.
  const earlier = sql`o.into_item in (select into_item from ${pairTable(pairs)}) and o.undone_at is null and o.id < ${pairs[0]!.mergeId}`
  const judged = sql`
    known as (
      select b.merge_id, s.item_id, s.market, s.label_id, s.updated_at, s.import_id, to_jsonb(s) as content
      from ${best} b join prices s on (s.item_id, s.market, s.label_id) = (b.into_item, b.market, b.label_id)
      where (b.updated_at, b.import_id) >= (s.updated_at, s.import_id)
      union all
      select null, o.into_item, q.market, q.label_id, q.updated_at, q.import_id, null
      from merges o join ${RECORDED} q on q.merge_id = o.id and q.item_id = o.from_item where ${earlier}
      union all
      select null, o.into_item, q.market, q.label_id, q.updated_at, q.import_id, null
      from merges o join merged_points q on q.merge_id = o.id and q.placed where ${earlier}
    ), judged as (
      select *, bool_or(content is null) over (partition by item_id, market, label_id, updated_at, import_id) as was_given from known
    )`
  await recordRows(tx, judged, sql`select merge_id, 'prices', content, false from judged where content is not null and not was_given`)
  await sql`
    insert into prices (item_id, market, label_id, price, updated_at, import_id, ${EVIDENCE})
    select into_item, market, label_id, price, updated_at, import_id, ${EVIDENCE} from ${best} b
    on conflict (item_id, market, label_id) do update
      set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id, state = 0, confidence = 0, flags = 0,
        (${EVIDENCE}) = (${evidenceOf('excluded')})
      where (excluded.updated_at, excluded.import_id) > (prices.updated_at, prices.import_id)`.execute(tx)
}

/** A point `s` of the survivor has the import and time of a recorded point `q`. */
const OF_SURVIVOR = sql.raw(
  '(s.import_id, s.item_id, s.market, s.label_id, s.updated_at) = (q.import_id, q.into_item, q.market, q.label_id, q.updated_at)',
)

/** Records the points with the merges and removes them from the tables; marks those that the survivor must not receive. */
async function takePoints(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    with seen as (
      delete from price_points p using ${pairTable(pairs)} where p.item_id = m.from_item returning m.merge_id, p.*
    ), hidden as (
      delete from hidden_points p using ${pairTable(pairs)} where p.item_id = m.from_item returning m.merge_id, p.*
    )
    insert into merged_points (merge_id, import_id, ${KEY}, price, state, placed)
    select merge_id, import_id, ${KEY}, price, 'seen', true from seen
    union all
    select merge_id, import_id, ${KEY}, price, case when withdrawn then 'withdrawn' else 'covered' end, true from hidden`.execute(tx)
  await analyzeAfterMerges(tx, pairs, 'merged_points')
  await sql`
    update merged_points p set placed = false
    from (
      select q.merge_id, q.import_id, q.market, q.label_id, q.updated_at, q.state, m.into_item, row_number() over (
        partition by m.into_item, q.import_id, q.market, q.label_id, q.updated_at order by q.merge_id, q.state = 'seen' desc
      ) as nth
      from ${pairTable(pairs)} join merged_points q on q.merge_id = m.merge_id
    ) q
    where (p.merge_id, p.import_id, p.market, p.label_id, p.updated_at, p.state)
        = (q.merge_id, q.import_id, q.market, q.label_id, q.updated_at, q.state)
      and (q.nth > 1 or exists (select from price_points s where ${OF_SURVIVOR}) or exists (select from hidden_points s where ${OF_SURVIVOR}))`.execute(
    tx,
  )
}

async function placePoints(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  const placed = sql`from ${pairTable(pairs)} join merged_points q on q.merge_id = m.merge_id where q.placed`
  await addPoints(tx, sql`select import_id, into_item as item_id, ${KEY}, price ${placed} and state = 'seen'`)
  await sql`
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select import_id, into_item, ${KEY}, price, state = 'withdrawn' ${placed} and state in ('covered', 'withdrawn')`.execute(tx)
}

/** If both items have a pending held price for the same key, the survivor's stays pending and the other one is discarded. */
async function discardHeldTwice(tx: Tx, pairs: readonly MergePair[], now: Date): Promise<void> {
  await sql`
    update held_prices h set decision = 'discarded', decided_by = ${DISCARDED_BY} || w.merge_id, decided_at = ${now}
    from (
      select h.id, m.merge_id, row_number() over (
        partition by coalesce(m.into_item, h.item_id), h.market, h.label_id, h.updated_at order by m.merge_id nulls first
      ) as nth
      from held_prices h left join ${pairTable(pairs)} on m.from_item = h.item_id
      where h.decision is null and h.item_id in (select unnest(array[m.from_item, m.into_item]) from ${pairTable(pairs)})
    ) w where h.id = w.id and w.nth > 1`.execute(tx)
}

/** Reopens held prices that merges discarded, once they have moved back. */
async function reopenHeld(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    update held_prices h set decision = null, decided_by = null, decided_at = null
    from ${pairTable(pairs)} where h.item_id = m.from_item and h.decided_by = ${DISCARDED_BY} || m.merge_id`.execute(tx)
}

/**
 * Records prices that the service computed for survivors after merges changed their sales: undoing the latest merge into the item that is in effect
 * removes its price, too.
 */
export async function recordComputedPrices(tx: Tx, changes: readonly PriceChange[]): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into merged_points (merge_id, import_id, market, label_id, updated_at, price, state, placed)
    select o.id, p.import_id, p.market, p.label_id, p.updated_at, p.price, 'made', true
    from unnest(${changes.map((one) => one.itemId)}::int4[], ${changes.map((one) => one.market)}::int2[],
      ${changes.map((one) => one.labelId)}::int4[]) as g(item_id, market, label_id)
    join prices p on (p.item_id, p.market, p.label_id) = (g.item_id, g.market, g.label_id)
    cross join lateral (
      select id from merges where into_item = g.item_id and undone_at is null order by id desc limit 1
    ) o
    on conflict do nothing`.execute(tx)
}

/**
 * Restores what merges that are already marked as undone had moved; the markets must be locked. Prices that have arrived since then stay with the
 * survivor, as do held prices decided since. Points that a revert removed since stay removed.
 */
export async function movePricesBack(tx: Tx, note: Note, pairs: readonly MergePair[]): Promise<void> {
  await takePointsBack(tx, pairs)
  await restorePoints(tx, pairs)
  await resetCurrent(tx, note, latestAfterUndo(pairs))
  await restoreEvidence(tx, pairs)
  await reopenHeld(tx, pairs)
  await sql`delete from merged_points where merge_id = any(${mergeIds(pairs)})`.execute(tx)
  // Prices that survivors do not show stay recorded, because they may be hidden by another merge.
  await forgetRows(tx, pairs, 'prices')
}

/** Removes the points from the survivors. If another merged item has a point of the same import and time, that one replaces it. */
async function takePointsBack(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  const placed = sql`(
    select m.into_item, q.* from ${pairTable(pairs)} join merged_points q on q.merge_id = m.merge_id where q.placed)`
  await sql`delete from price_points s using ${placed} q where ${OF_SURVIVOR}`.execute(tx)
  await sql`delete from hidden_points s using ${placed} q where ${OF_SURVIVOR}`.execute(tx)
  await sql`
    with next as (
      select distinct on (o.into_item, n.import_id, n.market, n.label_id, n.updated_at) o.into_item, n.*
      from ${placed} q join merges o on o.into_item = q.into_item and o.undone_at is null
      join merged_points n on n.merge_id = o.id and not n.placed and n.state <> 'made'
        and (n.import_id, n.market, n.label_id, n.updated_at) = (q.import_id, q.market, q.label_id, q.updated_at)
      where q.state <> 'made'
      order by o.into_item, n.import_id, n.market, n.label_id, n.updated_at, n.merge_id
    ), placed as (
      update merged_points p set placed = true from next n
      where (p.merge_id, p.import_id, p.market, p.label_id, p.updated_at, p.state)
          = (n.merge_id, n.import_id, n.market, n.label_id, n.updated_at, n.state)
    )
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select n.import_id, n.into_item, n.market, n.label_id, n.updated_at, n.price, i.reverted_by_import_id is not null
    from next n left join imports i on i.id = n.import_id
    on conflict do nothing`.execute(tx)
}

/** Restores the points as they were, except those of batches that were reverted or restored since, and makes covered points visible again. */
async function restorePoints(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    with back as materialized (
      select m.from_item, q.*, i.reverted_by_import_id is not null as withdrawn
      from ${pairTable(pairs)} join merged_points q on q.merge_id = m.merge_id left join imports i on i.id = q.import_id
      where q.state <> 'made'
    ), seen as (
      insert into price_points (item_id, ${KEY}, price, import_id)
      select from_item, ${KEY}, price, import_id from back where state = 'seen' and not withdrawn
      on conflict do nothing
    )
    insert into hidden_points (import_id, item_id, ${KEY}, price, withdrawn)
    select import_id, from_item, ${KEY}, price, withdrawn from back where state <> 'seen' or withdrawn
    on conflict do nothing`.execute(tx)
  await restoreCoveredPoints(
    tx,
    sql`(
      select distinct i.item_id, q.market, q.label_id, q.updated_at
      from ${pairTable(pairs)} join merged_points q on q.merge_id = m.merge_id cross join unnest(array[m.from_item, m.into_item]) as i(item_id)) d`,
  )
}

/**
 * The current prices of both items after an undo. The history may no longer contain the latest point. Prices recorded with merges therefore also
 * count if their import is in effect, and so does the survivor's current price unless it came from the emptied item.
 */
function latestAfterUndo(pairs: readonly MergePair[]) {
  const pairsHere = pairTable(pairs)
  return sql`
    with touched as (
      select distinct i.item_id, q.market, q.label_id
      from ${pairsHere} cross join lateral (
        select market, label_id from ${RECORDED} q where q.merge_id = m.merge_id
        union select market, label_id from merged_points q where q.merge_id = m.merge_id
      ) q cross join unnest(array[m.from_item, m.into_item]) as i(item_id)
    ), given as (
      select m.into_item as item_id, q.market, q.label_id, q.updated_at, q.import_id
      from ${pairsHere} join ${RECORDED} q on q.merge_id = m.merge_id and q.item_id = m.from_item
      union select m.into_item, q.market, q.label_id, q.updated_at, q.import_id
      from ${pairsHere} join merged_points q on q.merge_id = m.merge_id and q.placed
    ), candidates as (
      select t.item_id, t.market, t.label_id, h.price, h.updated_at, h.import_id, 0 as place
      from touched t cross join lateral (
        select price, updated_at, import_id from price_points p
        where p.item_id = t.item_id and p.market = t.market and p.label_id = t.label_id
        order by updated_at desc limit 1
      ) h
      union all
      select n.owner, n.market, n.label_id, n.price, n.updated_at, n.import_id, case when n.owner = n.item_id then 2 else 3 end
      from ${recordedFor(pairs)} n left join imports i on i.id = n.import_id where i.reverted_by_import_id is null
      union all
      select p.item_id, p.market, p.label_id, p.price, p.updated_at, p.import_id, 1
      from touched t join prices p on (p.item_id, p.market, p.label_id) = (t.item_id, t.market, t.label_id)
      where not exists (
        select from given g
        where (g.item_id, g.market, g.label_id, g.updated_at, g.import_id) = (p.item_id, p.market, p.label_id, p.updated_at, p.import_id)
      )
    )
    select distinct on (t.item_id, t.market, t.label_id) t.item_id, t.market, t.label_id, c.price, c.updated_at, c.import_id
    from touched t left join candidates c on (c.item_id, c.market, c.label_id) = (t.item_id, t.market, t.label_id)
    order by t.item_id, t.market, t.label_id, c.updated_at desc nulls last, c.import_id desc, c.place`
}

/** Restores the evidence of prices that are the same as before the merges, as recorded by any merge into the survivors. */
async function restoreEvidence(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    update prices p set (${EVIDENCE}) = (${evidenceOf('q')}), flags = coalesce(q.flags, 0) & ${sql.lit(PERSISTENT_FLAGS)}
    from (
      select distinct on (owner, market, label_id, price, updated_at, import_id) * from ${recordedFor(pairs)} n
      order by owner, market, label_id, price, updated_at, import_id, merge_id desc
    ) q
    where (p.item_id, p.market, p.label_id) = (q.owner, q.market, q.label_id)
      and (p.price, p.updated_at, p.import_id) = (q.price, q.updated_at, q.import_id)
      -- Not "is null": if statistics say that this is rare, the planner would compare each price with each.
      and num_nulls(p.line, p.confirmed_at) = 2`.execute(tx)
}
