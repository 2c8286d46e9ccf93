// A decision about prices under review, given individually or by filter, recorded as one batch.
import { type RawBuilder, sql } from 'kysely'
import { conflict, invalid } from '#core/errors.ts'
import { MAX_INTEGER } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { parseLabel } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import { minorOfNumber, minorToText, parseMinor } from '#core/money.ts'
import { reason, textOf } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { confirmPrices } from '../judging/confirmed-prices.ts'
import { decide } from '../writing/held.ts'
import { DECISIONS, fetchDecision, HELD_DECISIONS, type PriceDecision } from './price-decisions.ts'
import { resetCurrent } from '../writing/reset-current.ts'
import { pricesInQuestion } from './reviews.ts'
import { type ReviewFilter, ReviewFields } from './review-schemas.ts'
import { judgePrices } from '../judging/judge-prices.ts'
import { WITHDRAWN } from '../writing/withdrawn-prices.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { lockMarkets } from '../writing/lock-markets.ts'
import { restoreCoveredPoints } from '../writing/points.ts'

/** Maximum prices in one decision. */
const MAX_PRICES = 1_000

const NamedPrice = Type.Object(
  {
    item_id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
    market: Type.Enum(MARKETS.filter((market) => market !== 'service')),
    label: Type.String({ maxLength: 100 }),
    price: Type.Number({ minimum: 0, description: 'The amount you saw' }),
  },
  { additionalProperties: false },
)

const Input = Type.Object({
  decision: Type.Enum([...DECISIONS]),
  held_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: MAX_INTEGER }), {
      minItems: 1,
      maxItems: MAX_PRICES,
      description: 'Held prices to accept or discard',
    }),
  ),
  prices: Type.Optional(
    Type.Array(NamedPrice, { minItems: 1, maxItems: MAX_PRICES, description: 'Published prices to confirm or withdraw, with the amounts you saw' }),
  ),
  filter: Type.Optional(
    Type.Object(ReviewFields, { additionalProperties: false, minProperties: 1, description: 'All prices under review that match' }),
  ),
  expected: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_INTEGER,
      description: 'With `filter`: number of matching prices returned by GET /price-reviews/count',
    }),
  ),
})
type DecidePrices = Static<typeof Input>

/** A price of a decision: its row when it was locked. */
interface Chosen {
  item_id: number
  market: number
  label_id: number
  price: string
  updated_at: Date
  import_id: number
  held_id: number | null
}

export const decidePrices = verb({ name: 'decidePrices', needs: 'catalogue', input: Input }, (ctx: PriceWriteCtx, input): Promise<PriceDecision> => {
  const filter = whichOf(input)
  return change(ctx, async (tx, note) => {
    // Blocks imports from here on, so that the decision applies to the prices that were shown.
    if (input.decision !== 'discard') await lockMarkets(tx, await marketsOf(tx, input))
    const chosen = await choose(tx, input, filter)
    const id = await record(ctx, tx, input, chosen)
    await CARRY_OUT[input.decision](ctx, tx, note, { id, chosen })
    const items = [...new Set(chosen.map((price) => price.item_id))]
    if (input.decision !== 'discard') await judgePrices(ctx, tx, note, items)
    await recordOutcome(tx, id)
    const after = await fetchDecision(tx, id)
    note.audit({ action: `price-decision.${input.decision}`, subject: 'price-decision', id, after: { ...after, named: listedPrices(input) } })
    return after
  })
})

/** The prices named in the request, for the audit log; null for a filter, whose prices are stored with the decision. */
function listedPrices({ held_ids: heldIds, prices }: DecidePrices): object | null {
  return heldIds ? { held_ids: heldIds } : prices ? { prices } : null
}

/** The filter; null if prices are named. @throws VALIDATION_ERROR for fields that do not fit the decision */
function whichOf({ decision, held_ids: heldIds, prices, filter, expected }: DecidePrices): ReviewFilter | null {
  const isHeld = (HELD_DECISIONS as readonly string[]).includes(decision)
  const [own, other] = isHeld ? (['held_ids', 'prices'] as const) : (['prices', 'held_ids'] as const)
  const choices = { held_ids: heldIds, prices }
  if (choices[other] !== undefined) throw invalid(other, 'not_decidable', { decision, values: [own, 'filter'] })
  if ((choices[own] === undefined) === (filter === undefined)) throw invalid(own, 'exactly_one', { field: 'filter' })
  if (filter === undefined) return null
  const allowed = isHeld ? ['held'] : ['disputed', 'stale']
  if (filter.state === undefined || !allowed.includes(filter.state)) throw invalid('filter.state', 'one_of', { values: allowed })
  if (expected === undefined) throw invalid('expected', 'required', { must: reason('integer', { min: 1 }) })
  return filter
}

async function marketsOf(tx: Tx, { held_ids: heldIds, prices, filter }: DecidePrices): Promise<number[]> {
  if (prices) return prices.map(({ market }) => MARKETS.indexOf(market))
  if (filter) return filter.market ? [MARKETS.indexOf(filter.market)] : MARKETS.map((_, market) => market)
  const rows = await tx
    .selectFrom('held_prices')
    .select('market')
    .distinct()
    .where('id', '=', (e) => e.fn.any(e.val(heldIds)))
    .execute()
  return rows.map((row) => row.market)
}

/** Locks the prices. @throws CONFLICT if they differ from what was shown, in value or number */
async function choose(tx: Tx, { decision, held_ids: heldIds, prices, expected }: DecidePrices, filter: ReviewFilter | null): Promise<Chosen[]> {
  if (filter) {
    const { rows } = await sql<Chosen>`${pricesInQuestion(filter)}`.execute(tx)
    const found =
      filter.state === 'held'
        ? await lockHeld(
            tx,
            rows.map((row) => row.held_id!),
          )
        : rows
    if (found.length !== expected) throw conflict('count_changed', { count: found.length, expected: expected! })
    return found
  }
  const found = heldIds ? await lockHeld(tx, heldIds) : await lockPublished(tx, prices!, decision === 'confirm')
  const requested = heldIds ? new Set(heldIds).size : new Set(prices!.map(keyOf)).size
  if (found.length !== requested) throw conflict('prices_changed', { count: requested - found.length })
  return found
}

async function lockHeld(tx: Tx, ids: readonly number[]): Promise<Chosen[]> {
  const { rows } = await sql<Chosen>`
    select item_id, market, label_id, price, updated_at, import_id, id as held_id from held_prices
    where id = any(${ids}::int8[]) and decision is null order by id for update`.execute(tx)
  return rows
}

/** @param inQuestion restricts to disputed or stale prices */
async function lockPublished(tx: Tx, named: NonNullable<DecidePrices['prices']>, inQuestion: boolean): Promise<Chosen[]> {
  const { rows } = await sql<Chosen>`
    select p.item_id, p.market, p.label_id, p.price, p.updated_at, p.import_id, null as held_id
    from prices p join groups g on g.id = p.label_id
    join (
      select distinct live_item(item_id) as item_id, market, label, price from unnest(
        ${named.map(({ item_id: id }) => id)}::int4[], ${named.map(({ market }) => MARKETS.indexOf(market))}::int2[],
        ${named.map(labelOf)}::text[], ${named.map(amountOf)}::numeric[]) as q(item_id, market, label, price)
    ) q on (q.item_id, q.market, q.label, q.price) = (p.item_id, p.market, g.name, p.price)
    where p.state >= ${sql.lit(inQuestion ? 1 : 0)}
    order by p.item_id, p.market, p.label_id for update of p`.execute(tx)
  return rows
}

type Named = NonNullable<DecidePrices['prices']>[number]

function keyOf(one: Named): string {
  return `${one.item_id} ${one.market} ${labelOf(one)}`
}

function labelOf({ label }: Named): string {
  return parseLabel(label)?.label ?? label
}

/** The amount of a named price; one out of range matches no row. */
function amountOf({ price }: Named): string {
  return minorToText(minorOfNumber(price) ?? 0)
}

async function record(ctx: PriceWriteCtx, tx: Tx, { decision, filter }: DecidePrices, chosen: readonly Chosen[]): Promise<number> {
  const { id } = await tx
    .insertInto('price_decisions')
    .values({ decision, filter: filter ? JSON.stringify(filter) : null, author: actorOf(ctx.viewer), at: ctx.now() })
    .returning('id')
    .executeTakeFirstOrThrow()
  await sql`
    insert into price_decision_prices (decision_id, item_id, market, label_id, updated_at, price, import_id, held_id, before)
    select ${id}::int4, q.item_id, q.market, q.label_id, q.updated_at, q.price, q.import_id, q.held_id, to_jsonb(p)
    from unnest(${chosen.map((one) => one.item_id)}::int4[], ${chosen.map((one) => one.market)}::int2[], ${chosen.map((one) => one.label_id)}::int4[],
      ${chosen.map((one) => one.updated_at)}::timestamptz[], ${chosen.map((one) => one.price)}::numeric[], ${chosen.map((one) => one.import_id)}::int4[],
      ${chosen.map((one) => one.held_id)}::int8[]) as q(item_id, market, label_id, updated_at, price, import_id, held_id)
    left join prices p on (p.item_id, p.market, p.label_id) = (q.item_id, q.market, q.label_id)`.execute(tx)
  return id
}

/** Records the current prices after the decision: undoing it changes only those that are still the same. */
async function recordOutcome(tx: Tx, id: number): Promise<void> {
  await sql`
    update price_decision_prices d set after_price = p.price, after_updated_at = p.updated_at, after_import_id = p.import_id
    from prices p where d.decision_id = ${id} and (p.item_id, p.market, p.label_id) = (d.item_id, d.market, d.label_id)`.execute(tx)
}

interface Recorded {
  id: number
  chosen: readonly Chosen[]
}

const CARRY_OUT: Record<PriceDecision['decision'], (ctx: PriceWriteCtx, tx: Tx, note: Note, recorded: Recorded) => Promise<void>> = {
  async accept(ctx, tx, note, { id, chosen }) {
    await decide(ctx, tx, note, 'accepted', { ids: chosen.map((one) => one.held_id!) }, id)
  },
  async discard(ctx, tx, note, { chosen }) {
    await decide(ctx, tx, note, 'discarded', { ids: chosen.map((one) => one.held_id!) })
  },
  async confirm(ctx, tx, _note, { id, chosen }) {
    await confirmPrices(
      ctx,
      tx,
      id,
      chosen.map((one) => ({
        itemId: one.item_id,
        market: one.market,
        labelId: one.label_id,
        minor: parseMinor(one.price)!,
        updatedAtMs: one.updated_at.getTime(),
      })),
    )
  },
  async withdraw(ctx, tx, note, { id }) {
    await withdraw(ctx, tx, note, id)
  },
}

/**
 * Withdraws prices as if they had been held and discarded on arrival: their points leave the history, and the latest remaining point becomes the
 * current price.
 */
async function withdraw(ctx: PriceWriteCtx, tx: Tx, note: Note, id: number): Promise<void> {
  const decided = decidedPrices(id)
  await sql`
    with gone as (
      delete from price_points p using ${decided}
      where (p.item_id, p.market, p.label_id, p.updated_at) = (d.item_id, d.market, d.label_id, d.updated_at) and p.import_id = d.import_id
      returning p.item_id, p.market, p.label_id, p.updated_at
    )
    update price_decision_prices d set in_history = true from gone g
    where d.decision_id = ${id} and (d.item_id, d.market, d.label_id, d.updated_at) = (g.item_id, g.market, g.label_id, g.updated_at)`.execute(tx)
  await restoreCoveredPoints(tx, decided)
  const author = actorOf(ctx.viewer)
  const why = reason('withdrawn', { by: author })
  await sql`
    with held_again as (
      insert into held_prices (item_id, market, label_id, updated_at, price, import_id, rule, reason, decision, decided_by, decided_at, held_at)
      select item_id, market, label_id, updated_at, price, import_id, ${WITHDRAWN}, ${textOf(why)}, 'discarded', ${author}, ${ctx.now()}::timestamptz,
        ${ctx.now()}::timestamptz
      from ${decided}
      returning id, item_id, market, label_id
    ), explained as (
      insert into held_price_params (held_price_id, params) select id, ${JSON.stringify(why.params)}::jsonb from held_again
    )
    update price_decision_prices d set held_id = k.id from held_again k
    where d.decision_id = ${id} and (d.item_id, d.market, d.label_id) = (k.item_id, k.market, k.label_id)`.execute(tx)
  await resetCurrent(
    tx,
    note,
    sql`
      select d.item_id, d.market, d.label_id, h.price, h.updated_at, h.import_id from ${decided} left join lateral (
        select price, updated_at, import_id from price_points p
        where p.item_id = d.item_id and p.market = d.market and p.label_id = d.label_id order by updated_at desc limit 1
      ) h on true`,
  )
}

/** The prices of a decision as a table `d`. */
export function decidedPrices(id: number): RawBuilder<unknown> {
  return sql`(select * from price_decision_prices where decision_id = ${id}) d`
}
