// Undoes a decision about prices: restores the previous state, except for prices that have changed since.
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import { existing, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { judgePrices } from '../judging/judge-prices.ts'
import { ensureMonths } from '../records/months.ts'
import { type Decision, fetchDecision, type PriceDecision } from './price-decisions.ts'
import { resetCurrent } from '../writing/reset-current.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { lockMarkets } from '../writing/lock-markets.ts'
import { restoreCoveredPoints } from '../writing/points.ts'

export const undoPriceDecision = verb(
  { name: 'undoPriceDecision', needs: 'catalogue', input: Type.Object({ id: id('price decision') }) },
  (ctx: PriceWriteCtx, { id }): Promise<PriceDecision> =>
    change(ctx, async (tx, note) => {
      const { decision } = await claim(ctx, tx, id)
      await lockMarkets(tx, await marketsOf(tx, id))
      await findKept(tx, id, decision)
      await PUT_BACK[decision](ctx, tx, id)
      if (decision !== 'discard') await restoreCurrent(ctx, tx, note, id)
      const after = await fetchDecision(tx, id)
      note.audit({ action: 'price-decision.undo', subject: 'price-decision', id, after })
      return after
    }),
)

/** Marks the decision as undone; of several concurrent undos, only the first succeeds. @throws NOT_FOUND, or CONFLICT if it is already undone */
async function claim(ctx: PriceWriteCtx, tx: Tx, id: number): Promise<{ decision: Decision }> {
  const taken = await tx
    .updateTable('price_decisions')
    .set({ undone_by: actorOf(ctx.viewer), undone_at: ctx.now() })
    .where('id', '=', existing('price decision', id))
    .where('undone_at', 'is', null)
    .returning('decision')
    .executeTakeFirst()
  if (taken) return taken
  const { undone_by: by } = await fetchDecision(tx, id)
  throw conflict('decision_undone', { id, by: by! })
}

async function marketsOf(tx: Tx, id: number): Promise<number[]> {
  const rows = await tx.selectFrom('price_decision_prices').select('market').distinct().where('decision_id', '=', id).execute()
  return rows.map((row) => row.market)
}

/** Marks the prices that have changed since the decision. */
async function findKept(tx: Tx, id: number, decision: Decision): Promise<void> {
  const isHeld = decision === 'accept' || decision === 'discard'
  await sql`
    update price_decision_prices d set kept = q.kept
    from (
      select d.item_id, d.market, d.label_id, d.updated_at, case
        when i.id is null then 'merged_item'
        when ${sql.lit(decision !== 'confirm')} and m.reverted_by_import_id is not null then 'reverted_import'
        when ${sql.lit(decision !== 'discard')} and (p.price, p.updated_at, p.import_id)
          is distinct from (d.after_price, d.after_updated_at, d.after_import_id) then 'newer_price'
        when ${sql.lit(decision !== 'confirm')} and h.decision is distinct from ${decision === 'accept' ? 'accepted' : 'discarded'} then 'decided_since'
        when ${sql.lit(isHeld)} and o.id is not null then 'decided_since'
      end as kept
      from price_decision_prices d
      left join items i on i.id = d.item_id
      left join imports m on m.id = d.import_id
      left join prices p on (p.item_id, p.market, p.label_id) = (d.item_id, d.market, d.label_id)
      left join held_prices h on h.id = d.held_id
      left join held_prices o on (o.item_id, o.market, o.label_id, o.updated_at) = (d.item_id, d.market, d.label_id, d.updated_at)
        and o.decision is null and o.id <> d.held_id
      where d.decision_id = ${id}
    ) q
    where d.decision_id = ${id} and (d.item_id, d.market, d.label_id, d.updated_at) = (q.item_id, q.market, q.label_id, q.updated_at)`.execute(tx)
}

/** The prices to restore, as a table `d`. */
const restorable = (id: number) => sql`(select * from price_decision_prices where decision_id = ${id} and kept is null) d`

const PUT_BACK: Record<Decision, (ctx: PriceWriteCtx, tx: Tx, id: number) => Promise<void>> = {
  async accept(_ctx, tx, id) {
    const sameKey = sql`(s.item_id, s.market, s.label_id, s.updated_at) = (d.item_id, d.market, d.label_id, d.updated_at) and s.import_id = d.import_id`
    await sql`delete from hidden_points s using ${restorable(id)} where ${sameKey}`.execute(tx)
    await sql`delete from price_points s using ${restorable(id)} where ${sameKey}`.execute(tx)
    await restoreCoveredPoints(tx, restorable(id))
    await reopen(tx, id)
  },
  discard: (_ctx, tx, id) => reopen(tx, id),
  async confirm() {},
  async withdraw(ctx, tx, id) {
    await sql`delete from held_price_params x using ${restorable(id)} where x.held_price_id = d.held_id`.execute(tx)
    await sql`delete from held_prices h using ${restorable(id)} where h.id = d.held_id`.execute(tx)
    const { rows } = await sql<{ updated_at: Date }>`select updated_at from ${restorable(id)} where in_history`.execute(tx)
    await ensureMonths(
      ctx.db,
      tx,
      rows.map((row) => row.updated_at.getTime()),
    )
    await sql`
      with covered as (
        delete from price_points s using ${restorable(id)}
        where d.in_history and (s.item_id, s.market, s.label_id, s.updated_at) = (d.item_id, d.market, d.label_id, d.updated_at)
        returning s.import_id, s.item_id, s.market, s.label_id, s.updated_at, s.price
      )
      insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
      select import_id, item_id, market, label_id, updated_at, price, false from covered
      on conflict (import_id, item_id, market, label_id, updated_at) do update set price = excluded.price, withdrawn = false`.execute(tx)
    await sql`
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, updated_at, price, import_id from ${restorable(id)} where in_history`.execute(tx)
  },
}

async function reopen(tx: Tx, id: number): Promise<void> {
  await sql`
    update held_prices h set decision = null, decided_by = null, decided_at = null from ${restorable(id)} where h.id = d.held_id`.execute(tx)
}

/** Restores current prices with their evidence; confirmations of this decision are removed. */
async function restoreCurrent(ctx: PriceWriteCtx, tx: Tx, note: Note, id: number): Promise<void> {
  await sql`
    delete from confirmed_prices c using ${restorable(id)}
    where c.decision_id = ${id} and (c.item_id, c.market, c.label_id, c.updated_at) = (d.item_id, d.market, d.label_id, d.updated_at)`.execute(tx)
  const before = sql`(
    select distinct on (d.item_id, d.market, d.label_id) d.item_id, d.market, d.label_id, b.price, b.updated_at, b.import_id, b.confirmed_at, b.line,
      b.state, b.confidence, b.flags, b.avg_1, b.avg_7, b.avg_30, b.low, b.mid, b.high, b.samples
    from ${restorable(id)} left join lateral jsonb_populate_record(null::prices, d.before) b on true
    order by d.item_id, d.market, d.label_id
  ) b`
  await resetCurrent(tx, note, sql`select item_id, market, label_id, price, updated_at, import_id from ${before}`)
  await sql`
    update prices p set confirmed_at = b.confirmed_at, line = b.line, state = b.state, confidence = b.confidence, flags = b.flags,
      avg_1 = b.avg_1, avg_7 = b.avg_7, avg_30 = b.avg_30, low = b.low, mid = b.mid, high = b.high, samples = b.samples
    from ${before} where (p.item_id, p.market, p.label_id) = (b.item_id, b.market, b.label_id) and b.price is not null`.execute(tx)
  const { rows } = await sql<{ item_id: number }>`select distinct item_id from ${restorable(id)}`.execute(tx)
  const itemIds = rows.map((row) => row.item_id)
  await judgePrices(ctx, tx, note, itemIds)
  // Makes nodes reload the figures, too.
  note.changed('items', itemIds)
}
