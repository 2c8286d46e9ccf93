// Takes a batch of prices back: what it set and nothing newer replaced becomes what it was, as a batch of its own.
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import { existing, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { parseMinor } from '#core/money.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note, type WriteCtx } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { closeImport, noCounts, openImport } from './imports.ts'
import { packPrices, type PriceChange } from './payload.ts'
import { fetchImport, type ImportDetail } from './stored-imports.ts'
import { lockMarkets } from './writer.ts'

/** Changes in one entry of the change log. */
const PACK = 20_000

export const revertImport = verb(
  { needs: 'operator', input: Type.Object({ id: id('import') }, { additionalProperties: false }) },
  (ctx: WriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<ImportDetail> => {
      const reverted = await lockRevertible(tx, id)
      const author = actorOf(ctx.viewer)
      const opening = { format: 'revert', market: reverted.market, fileName: null, author, dryRun: false }
      const importId = await openImport(tx, opening)
      await tx.updateTable('imports').set({ reverts_import_id: id }).where('id', '=', importId).execute()
      await markReverted(tx, id, importId)
      await lockMarkets(tx, await marketsOf(tx, id))
      await takePointsBack(tx, id, importId)
      const changes = await resetCurrent(tx, id, importId)
      await publish(note, changes)
      const discarded = await discardHeld(tx, id, author, ctx.now())
      const counts = { ...noCounts(), rowsRead: changes.length, accepted: changes.length }
      await closeImport(tx, importId, { status: 'done', counts, errors: [] })
      note.audit({ action: 'import.revert', subject: 'import', id, after: { batch: importId, prices: changes.length, discarded } })
      return fetchImport(tx, importId)
    }),
)

/** @throws NOT_FOUND, or CONFLICT where there is nothing to take back */
async function lockRevertible(tx: Tx, id: number): Promise<ImportDetail> {
  await tx.selectFrom('imports').select('id').where('id', '=', existing('import', id)).forUpdate().execute()
  const found = await fetchImport(tx, id)
  if (found.format === 'service-price') throw conflict('The prices of the service follow from its sales')
  if (found.status !== 'done' || found.dry_run) throw conflict(`Import ${id} has changed nothing: there is nothing to take back`)
  if (found.reverted_by_import_id === null) return found
  throw conflict(`Import ${id} was taken back already, by import ${found.reverted_by_import_id}`)
}

/** The batch is out of effect; where it took another batch back, that one is in effect again. */
async function markReverted(tx: Tx, id: number, by: number): Promise<void> {
  await tx.updateTable('imports').set({ reverted_by_import_id: by }).where('id', '=', id).execute()
  await tx.updateTable('imports').set({ reverted_by_import_id: null }).where('reverted_by_import_id', '=', id).execute()
}

async function marketsOf(tx: Tx, id: number): Promise<number[]> {
  const { rows } = await sql<{ market: number }>`
    select market from price_points where import_id = ${id}::int4
    union select market from replaced_points where import_id = ${id}::int4`.execute(tx)
  return rows.map((row) => row.market)
}

/** Takes the batch's points out of the history, kept under the new batch, and puts back those that it had taken out. */
async function takePointsBack(tx: Tx, id: number, by: number): Promise<void> {
  await sql`
    with gone as (
      delete from price_points where import_id = ${id}::int4
      returning item_id, market, label_id, updated_at, price, import_id
    )
    insert into replaced_points (import_id, item_id, market, label_id, updated_at, price, point_import_id)
    select ${by}::int4, item_id, market, label_id, updated_at, price, import_id from gone`.execute(tx)
  // Where a later batch had replaced a point of this one, what comes back with that one's revert is what stood before.
  await sql`
    merge into replaced_points later
    using (
      select l.import_id, l.item_id, l.market, l.label_id, l.updated_at, m.price, m.point_import_id
      from replaced_points l left join replaced_points m
        on (m.import_id, m.item_id, m.market, m.label_id, m.updated_at) = (${id}::int4, l.item_id, l.market, l.label_id, l.updated_at)
      where l.point_import_id = ${id}::int4 and l.import_id <> ${by}::int4
    ) before
    on (later.import_id, later.item_id, later.market, later.label_id, later.updated_at)
      = (before.import_id, before.item_id, before.market, before.label_id, before.updated_at)
    when matched and before.price is null then delete
    when matched then update set price = before.price, point_import_id = before.point_import_id`.execute(tx)
  await sql`
    insert into price_points (item_id, market, label_id, updated_at, price, import_id)
    select item_id, market, label_id, updated_at, price, point_import_id from replaced_points where import_id = ${id}::int4
    on conflict (item_id, market, label_id, updated_at) do update
      set price = excluded.price, import_id = excluded.import_id
      where price_points.import_id < excluded.import_id`.execute(tx)
}

/** Makes the current prices of everything touched the latest points of the history, and tells those that changed. */
async function resetCurrent(tx: Tx, id: number, by: number): Promise<PriceChange[]> {
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; price: string | null; at_ms: number }>`
    with touched as (
      select distinct item_id, market, label_id from replaced_points where import_id in (${id}::int4, ${by}::int4)
    ), latest as materialized (
      select t.item_id, t.market, t.label_id, h.price, h.updated_at, h.import_id
      from touched t left join lateral (
        select price, updated_at, import_id from price_points p
        where p.item_id = t.item_id and p.market = t.market and p.label_id = t.label_id
        order by updated_at desc limit 1
      ) h on true
    ), gone as (
      delete from prices p using latest l
      where (p.item_id, p.market, p.label_id) = (l.item_id, l.market, l.label_id) and l.price is null
      returning p.item_id, p.market, p.label_id, p.updated_at
    ), changed as (
      update prices p set price = l.price, updated_at = l.updated_at, import_id = l.import_id from latest l
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
  return rows.map((row) => ({
    itemId: row.item_id,
    market: row.market,
    labelId: row.label_id,
    minor: row.price === null ? 0 : parseMinor(row.price)!,
    updatedAtMs: row.at_ms,
  }))
}

async function publish(note: Note, changes: PriceChange[]): Promise<void> {
  for (let from = 0; from < changes.length; from += PACK) {
    await note.changedPrices(packPrices(changes.slice(from, from + PACK)))
  }
}

/** Prices of the batch that still wait are not wanted any more. */
async function discardHeld(tx: Tx, id: number, author: string, now: Date): Promise<number> {
  const decided = { decision: 'discarded', decided_by: author, decided_at: now } as const
  const update = tx.updateTable('held_prices').set(decided).where('import_id', '=', id).where('decision', 'is', null)
  return Number((await update.executeTakeFirst()).numUpdatedRows)
}
