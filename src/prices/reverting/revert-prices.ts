// Reverts the prices of a batch: restores everything that no later batch has replaced.
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { MARKETS } from '#core/markets.ts'
import { actorOf, type Note, type WriteCtx } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { closeImport, noCounts, openImport } from '../imports/imports.ts'
import { Refusals } from '../imports/refusals.ts'
import { resetCurrent } from '../writing/reset-current.ts'
import { fetchImport, type ImportDetail } from '../imports/stored-imports.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { restoreCoveredPoints } from '../writing/points.ts'
import { planReplay, replayImports } from './replay-imports.ts'
import { lockMarkets } from '../writing/lock-markets.ts'

/** An open revert: its own batch, the import that it concerns, and whether it restores that import. */
export interface OpenRevert {
  importId: number
  root: ImportDetail
  restores: boolean
}

/**
 * Opens the revert of a batch as a batch of its own, and blocks other reverts of the same import until the transaction ends.
 * @throws NOT_FOUND, or CONFLICT if there is nothing to revert
 */
export async function openRevert(ctx: WriteCtx, tx: Tx, id: number): Promise<OpenRevert> {
  const { reverted, root, restores } = await lockRevertible(tx, id)
  const opening = { format: 'revert', market: root.market, fileName: null, author: actorOf(ctx.viewer), dryRun: false }
  const importId = await openImport(tx, opening, ctx.now())
  await tx.updateTable('imports').set({ reverts_import_id: id }).where('id', '=', importId).execute()
  await markReverted(tx, reverted.id, importId)
  await markReverted(tx, root.id, restores ? null : importId)
  return { importId, root, restores }
}

/**
 * Removes the prices of the import or restores them; its held prices are removed from review, or returned to it. For prices whose statements are
 * still stored, the result is as if the import had never arrived, or had not been reverted.
 * @returns number of changed current prices, their items, and number of changed held prices; the caller judges the items
 */
export async function revertPrices(
  ctx: PriceWriteCtx,
  tx: Tx,
  note: Note,
  { root, restores }: OpenRevert,
): Promise<{ prices: number; held: number; itemIds: number[] }> {
  await lockMarkets(tx, MARKETS.keys())
  const replay = await planReplay(tx, root.id)
  await (restores ? putPointsBack(tx, root.id) : withdrawPoints(tx, root.id))
  const changes = await resetCurrent(tx, note, latestPoints(root.id))
  const held = restores ? await holdAgain(tx, root.id) : await setHeldAside(tx, root.id, actorOf(ctx.viewer), ctx.now())
  const itemIds = new Set(changes.map(({ itemId }) => itemId))
  if (!replay) return { prices: changes.length, held, itemIds: [...itemIds] }
  const others = changes.filter(({ itemId }) => !replay.itemIds.has(itemId))
  const prices = others.length + (await replayImports(ctx, tx, note, replay))
  return { prices, held, itemIds: [...itemIds.union(replay.itemIds)] }
}

/** Records the outcome of the revert. */
export async function closeRevert(tx: Tx, { importId }: OpenRevert, counts: { prices: number; items: number }, now: Date): Promise<ImportDetail> {
  const closed = { ...noCounts(), rowsRead: counts.prices + counts.items, accepted: counts.prices, updated: counts.items }
  await closeImport(tx, importId, { status: 'done', counts: closed, refusals: new Refusals() }, now)
  return fetchImport(tx, importId)
}

/** The import that a batch is about: itself, or the one that a revert (of a revert ...) concerns. @throws NOT_FOUND */
export async function rootOf(on: Queryable, id: number): Promise<{ id: number; format: string }> {
  const { rows } = await sql<{ id: number; format: string }>`
    with recursive up as (
      select id, format, reverts_import_id from imports where id = ${existing('import', id)}::int4
      union all select i.id, i.format, i.reverts_import_id from imports i join up on i.id = up.reverts_import_id
    )
    select id, format from up where reverts_import_id is null`.execute(on)
  if (!rows[0]) throw missing('import', id)
  return rows[0]
}

/**
 * The batch, and the one whose prices it is about: itself, or the one that a revert (of a revert ...) removed or restored.
 * @throws NOT_FOUND, or CONFLICT if there is nothing to revert
 */
async function lockRevertible(tx: Tx, id: number): Promise<{ reverted: ImportDetail; root: ImportDetail; restores: boolean }> {
  await tx.selectFrom('imports').select('id').where('id', '=', existing('import', id)).execute()
  const reverted = await fetchImport(tx, id)
  let root = reverted
  let restores = false
  while (root.reverts_import_id !== null) {
    root = await fetchImport(tx, root.reverts_import_id)
    restores = !restores
  }
  // Concurrent reverts of these prices wait for this lock, and then see the result of the first one.
  await tx.selectFrom('imports').select('id').where('id', '=', root.id).forUpdate().execute()
  const [now, rootNow] = [await fetchImport(tx, id), await fetchImport(tx, root.id)]
  if (now.format === 'service-price') throw conflict('service_prices')
  if (now.status !== 'done' || now.dry_run) throw conflict('nothing_to_revert', { id })
  if (now.reverted_by_import_id !== null) throw conflict('reverted', { id, other: now.reverted_by_import_id })
  if (rootNow.reverted_by_import_id !== (restores ? id : null)) {
    throw conflict('decided_later', { root: root.id, id })
  }
  await requireUnarchived(tx, root.id)
  return { reverted: now, root: rootNow, restores }
}

/**
 * Requires that months with points of the import, or with points that cover some of its points, are restored first, because archived files are never
 * modified. Blocks archiving until the transaction ends.
 * @throws CONFLICT
 */
async function requireUnarchived(tx: Tx, id: number): Promise<void> {
  await sql`lock table price_archives in row share mode`.execute(tx)
  const { rows } = await sql<{ month: string }>`
    select month from price_archives where file is not null and (${id}::int4 = any(import_ids) or month in (
      select to_char(updated_at at time zone 'UTC', 'YYYY-MM') from hidden_points where import_id = ${id}::int4
    )) order by month`.execute(tx)
  if (rows.length > 0) throw conflict('archived_prices', { id, values: rows.map(({ month }) => month) })
}

async function markReverted(tx: Tx, id: number, by: number | null): Promise<void> {
  await tx.updateTable('imports').set({ reverted_by_import_id: by }).where('id', '=', id).execute()
}

/** Removes the batch's points from the history; points of other batches in effect that they covered become visible again. */
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
  await restoreCoveredPoints(tx, sql`(select item_id, market, label_id, updated_at from hidden_points where import_id = ${id}::int4) as d`)
}

/** Restores removed points of a batch: visible in the history, or covered if a newer batch has a point of the same time. */
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

/** The latest point of every key of the batch, if there is one. */
const latestPoints = (id: number) => sql`
  select t.item_id, t.market, t.label_id, h.price, h.updated_at, h.import_id
  from (
    select item_id, market, label_id from hidden_points where import_id = ${id}::int4
    union select item_id, market, label_id from price_points where import_id = ${id}::int4
  ) t left join lateral (
    select price, updated_at, import_id from price_points p
    where p.item_id = t.item_id and p.market = t.market and p.label_id = t.label_id
    order by updated_at desc limit 1
  ) h on true`

/** Sets aside held prices of the batch that are still open, until the batch is restored. */
async function setHeldAside(tx: Tx, id: number, author: string, now: Date): Promise<number> {
  const decided = { decision: 'reverted', decided_by: author, decided_at: now } as const
  const update = tx.updateTable('held_prices').set(decided).where('import_id', '=', id).where('decision', 'is', null)
  return Number((await update.executeTakeFirst()).numUpdatedRows)
}

/** Returns the set-aside prices of the batch to review, unless another batch has the same price open by now. */
async function holdAgain(tx: Tx, id: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update held_prices h set decision = null, decided_by = null, decided_at = null
    where h.import_id = ${id}::int4 and h.decision = 'reverted' and not exists (
      select from held_prices o
      where (o.item_id, o.market, o.label_id, o.updated_at) = (h.item_id, h.market, h.label_id, h.updated_at)
        and (o.decision is null or (o.decision = 'reverted' and o.import_id = h.import_id and o.id < h.id))
    )`.execute(tx)
  return Number(numAffectedRows)
}
