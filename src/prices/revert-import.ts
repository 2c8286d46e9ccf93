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
import { Refusals } from './refusals.ts'
import { packPrices, type PriceChange } from './payload.ts'
import { fetchImport, type ImportDetail } from './stored-imports.ts'
import { lockMarkets } from './writer.ts'

/** Changes in one entry of the change log. */
const PACK = 20_000

export const revertImport = verb(
  { name: 'revertImport', needs: 'operator', input: Type.Object({ id: id('import') }, { additionalProperties: false }) },
  (ctx: WriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<ImportDetail> => {
      const { reverted, root, comesBack } = await lockRevertible(tx, id)
      const author = actorOf(ctx.viewer)
      const opening = { format: 'revert', market: root.market, fileName: null, author, dryRun: false }
      const importId = await openImport(tx, opening)
      await tx.updateTable('imports').set({ reverts_import_id: id }).where('id', '=', importId).execute()
      await markReverted(tx, reverted.id, importId)
      await markReverted(tx, root.id, comesBack ? null : importId)
      await lockMarkets(tx, await marketsOf(tx, root.id))
      await (comesBack ? putPointsBack(tx, root.id) : withdrawPoints(tx, root.id))
      const changes = await resetCurrent(tx, root.id)
      await publish(note, changes)
      const discarded = await discardHeld(tx, root.id, author, ctx.now())
      const counts = { ...noCounts(), rowsRead: changes.length, accepted: changes.length }
      await closeImport(tx, importId, { status: 'done', counts, refusals: new Refusals() })
      note.audit({ action: 'import.revert', subject: 'import', id, after: { batch: importId, prices: changes.length, discarded } })
      return fetchImport(tx, importId)
    }),
)

/**
 * The batch, and the one whose prices it is about: itself, or what a revert (of a revert ...) removed or restored.
 * @throws NOT_FOUND, or CONFLICT where there is nothing to revert
 */
async function lockRevertible(tx: Tx, id: number): Promise<{ reverted: ImportDetail; root: ImportDetail; comesBack: boolean }> {
  await tx.selectFrom('imports').select('id').where('id', '=', existing('import', id)).execute()
  const reverted = await fetchImport(tx, id)
  let root = reverted
  let comesBack = false
  while (root.reverts_import_id !== null) {
    root = await fetchImport(tx, root.reverts_import_id)
    comesBack = !comesBack
  }
  // Whoever reverts anything about these prices waits here, and then sees what the one before did.
  await tx.selectFrom('imports').select('id').where('id', '=', root.id).forUpdate().execute()
  const [now, rootNow] = [await fetchImport(tx, id), await fetchImport(tx, root.id)]
  if (now.format === 'service-price') throw conflict('service_prices')
  if (now.status !== 'done' || now.dry_run) throw conflict('nothing_to_revert', { id })
  if (now.reverted_by_import_id !== null) throw conflict('reverted', { id, other: now.reverted_by_import_id })
  if (rootNow.reverted_by_import_id !== (comesBack ? id : null)) {
    throw conflict('decided_later', { root: root.id, id })
  }
  return { reverted: now, root: rootNow, comesBack }
}

async function markReverted(tx: Tx, id: number, by: number | null): Promise<void> {
  await tx.updateTable('imports').set({ reverted_by_import_id: by }).where('id', '=', id).execute()
}

async function marketsOf(tx: Tx, id: number): Promise<number[]> {
  const { rows } = await sql<{ market: number }>`
    select market from price_points where import_id = ${id}::int4
    union select market from hidden_points where import_id = ${id}::int4`.execute(tx)
  return rows.map((row) => row.market)
}

/** Takes the batch's points out of the history; what they covered, of batches in effect, is seen again. */
async function withdrawPoints(tx: Tx, id: number): Promise<void> {
  await sql`
    with gone as (
      delete from price_points where import_id = ${id}::int4
      returning import_id, item_id, market, label_id, updated_at, price
    )
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select import_id, item_id, market, label_id, updated_at, price, true from gone
    on conflict (import_id, item_id, market, label_id, updated_at) do update set price = excluded.price`.execute(tx)
  await sql`update hidden_points set withdrawn = true where import_id = ${id}::int4 and not withdrawn`.execute(tx)
  await sql`
    with covered as (
      select distinct on (c.item_id, c.market, c.label_id, c.updated_at) c.*
      from hidden_points w join hidden_points c using (item_id, market, label_id, updated_at)
      where w.import_id = ${id}::int4 and not c.withdrawn
      order by c.item_id, c.market, c.label_id, c.updated_at, c.import_id desc
    ), seen as (
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, updated_at, price, import_id from covered
      on conflict do nothing
      returning import_id, item_id, market, label_id, updated_at
    )
    delete from hidden_points h using seen s
    where (h.import_id, h.item_id, h.market, h.label_id, h.updated_at)
      = (s.import_id, s.item_id, s.market, s.label_id, s.updated_at)`.execute(tx)
}

/** Brings withdrawn points of a batch back: into the history, or covered where a newer batch spoke of the same moment. */
async function putPointsBack(tx: Tx, id: number): Promise<void> {
  await sql`update hidden_points set withdrawn = false where import_id = ${id}::int4`.execute(tx)
  await sql`
    with older as (
      delete from price_points p using hidden_points h
      where (p.item_id, p.market, p.label_id, p.updated_at) = (h.item_id, h.market, h.label_id, h.updated_at)
        and h.import_id = ${id}::int4 and p.import_id < h.import_id
      returning p.import_id, p.item_id, p.market, p.label_id, p.updated_at, p.price
    )
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select import_id, item_id, market, label_id, updated_at, price, false from older
    on conflict (import_id, item_id, market, label_id, updated_at) do update set price = excluded.price, withdrawn = false`.execute(tx)
  await sql`
    with seen as (
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, updated_at, price, import_id from hidden_points where import_id = ${id}::int4
      on conflict do nothing
      returning import_id, item_id, market, label_id, updated_at
    )
    delete from hidden_points h using seen s
    where (h.import_id, h.item_id, h.market, h.label_id, h.updated_at)
      = (s.import_id, s.item_id, s.market, s.label_id, s.updated_at)`.execute(tx)
}

/** Makes the current prices of everything the batch spoke of the latest points, and tells those that changed. */
async function resetCurrent(tx: Tx, id: number): Promise<PriceChange[]> {
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; price: string | null; at_ms: number }>`
    with touched as (
      select item_id, market, label_id from hidden_points where import_id = ${id}::int4
      union select item_id, market, label_id from price_points where import_id = ${id}::int4
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
