// Prices under review, held or published: filtered, counted, and grouped by item and cause with all prices relevant to the decision.
import { type RawBuilder, sql } from 'kysely'
import { labelOrder, parseLabel } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import type { Range, Rows } from '#core/paging.ts'
import type { Params } from '#core/problems.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { liveItem } from '#db/live-item.ts'
import type { Queryable } from '#db/schema.ts'
import { IDENTICAL } from '../records/current.ts'
import { CONFIDENCES, flagsOf, STATES } from '../evidence/evidence-types.ts'
import { identicalItems } from '../judging/identical-prices.ts'
import {
  type Cause,
  MAX_IDENTICAL,
  type PriceReview,
  type ReviewCount,
  type ReviewedPrice,
  type ReviewFilter,
  type ReviewState,
  type SORTS,
} from './review-schemas.ts'
import { causeOf, type Currencies, groupsOf, inQuestion, type Lira, liraOf, RANKED, rankReviews } from './rank-reviews.ts'

/** Context of reading: the database and the currency of each market. */
export type ReviewCtx = Pick<WriteCtx, 'db' | 'viewer' | 'now'> & { rules: { currencies: Currencies } }

const ofItem = ({ item_id: item }: ReviewFilter) => (item === undefined ? sql`true` : sql`q.item_id = ${liveItem(item)}`)

const labelIdsOf = (label: string) => sql`(select id from groups where name = ${parseLabel(label)?.label ?? label})`

/** Conditions of a filter that apply to both prices `q` and groups `q`. */
function ofGroup({ cause, game, category_id: category }: ReviewFilter): RawBuilder<unknown>[] {
  return [
    ...(cause === undefined ? [] : [sql`q.cause = ${cause}`]),
    ...(game === undefined ? [] : [sql`q.item_id in (select id from items where game = ${game})`]),
    ...(category === undefined
      ? []
      : [
          sql`q.item_id in (
            with recursive below as (
              select ${category}::int4 as id union all select c.id from categories c join below b on c.parent_id = b.id
            )
            select i.id from items i join below b on b.id = i.category_id)`,
        ]),
  ]
}

/** Conditions of a filter that apply to a price `q`. */
function ofPrice({ market, label, import_id: importId }: ReviewFilter): RawBuilder<unknown>[] {
  return [
    ...(market === undefined ? [] : [sql`q.market = ${MARKETS.indexOf(market)}::int2`]),
    ...(label === undefined ? [] : [sql`q.label_id in ${labelIdsOf(label)}`]),
    ...(importId === undefined ? [] : [sql`q.import_id = ${importId}::int4`]),
  ]
}

/** The prices under review that match a filter, as SQL with the columns of `inQuestion`. @param filter without a state: held and disputed ones */
export function pricesInQuestion(filter: ReviewFilter): RawBuilder<unknown> {
  const found = [sql`true`, ...ofGroup(filter), ...ofPrice(filter)]
  return sql`select * from (${inQuestion(filter.state ? [filter.state] : RANKED, ofItem(filter))}) q where ${sql.join(found, sql` and `)}`
}

/** Number of prices that match a filter, by state. */
export async function countInQuestion(ctx: ReviewCtx, filter: ReviewFilter): Promise<ReviewCount> {
  const on = ctx.db.kysely
  await rankReviews(ctx.db, ctx.rules.currencies, ctx.now())
  const { state = 'stale' } = filter
  const counts = { held: 0, disputed: 0, stale: 0 }
  const { rows } = await sql<{ state: ReviewState; count: number }>`
    select state, sum(${pricesFound(filter)})::int as count from price_reviews q where ${foundGroups(filter)} group by 1
    union all
    select 'stale', count(*)::int from (${pricesInQuestion({ ...filter, state })}) q where state = 'stale'`.execute(on)
  for (const row of rows) counts[row.state] = row.count
  return { ...counts, prices: counts.held + counts.disputed + counts.stale }
}

const MEMBERS = sql`unnest(q.markets, q.label_ids, q.import_ids) as q(market, label_id, import_id)`

/** Number of prices of a group `q` that match a filter. */
function pricesFound(filter: ReviewFilter): RawBuilder<unknown> {
  const conditions = ofPrice(filter)
  if (conditions.length === 0) return sql`cardinality(q.markets)`
  return sql`(select count(*) from ${MEMBERS} where ${sql.join(conditions, sql` and `)})`
}

/** The groups `q` with a price that matches the filter. */
function foundGroups(filter: ReviewFilter): RawBuilder<unknown> {
  const { state, item_id: item, market, label, import_id: importId } = filter
  const conditions = ofPrice(filter)
  const found = [
    sql`true`,
    ...(state === undefined ? [] : [sql`q.state = ${state}`]),
    ...(item === undefined ? [] : [ofItem(filter)]),
    ...ofGroup(filter),
    ...(market === undefined ? [] : [sql`${MARKETS.indexOf(market)}::int2 = any(q.markets)`]),
    ...(label === undefined ? [] : [sql`q.label_ids && array${labelIdsOf(label)}`]),
    ...(importId === undefined ? [] : [sql`${importId}::int4 = any(q.import_ids)`]),
    // A group matches only if a single one of its prices meets all conditions.
    ...(conditions.length < 2
      ? []
      : [sql`(cardinality(q.markets) = 1 or exists (select from ${MEMBERS} where ${sql.join(conditions, sql` and `)}))`]),
  ]
  return sql.join(found, sql` and `)
}

interface GroupRow {
  item_id: number
  state: ReviewState
  cause: Cause | null
  times_off: number | null
  value: number | null
}

/** Groups with a price that matches the filter; each is shown with all its prices. */
export async function pageOfReviews(
  { db, rules: { currencies }, now }: ReviewCtx,
  { sort_by: sortBy = 'times_off', ...filter }: ReviewFilter & { sort_by?: (typeof SORTS)[number] },
  { limit, offset }: Range,
): Promise<Rows<PriceReview>> {
  const on = db.kysely
  await rankReviews(db, currencies, now())
  const lira = await liraOf(on, currencies, now())
  // A narrow filter may match few groups, and sorting these is faster than scanning an index in its order.
  const isNarrow = Object.keys(filter).some((name) => name !== 'state' && name !== 'cause')
  const groups = filter.state === 'stale' ? sql`(${groupsOf(['stale'], ofItem(filter), lira)})` : sql`price_reviews`
  const { rows: found } = await sql<{ total: number; groups: GroupRow[] | null }>`
    with found as ${isNarrow ? sql`` : sql`not`} materialized (
      select item_id, state, cause, times_off, value from ${groups} q where ${foundGroups(filter)}
    )
    select (select count(*)::int from found) as total, (
      select json_agg(g) from (
        select * from found
        order by ${sql.id(sortBy)} desc nulls last, item_id, state, cause limit ${limit} offset ${offset}
      ) g
    ) as groups`.execute(on)
  const { total, groups: page } = found[0]!
  return { rows: await reviewsOf(on, await withFigures(on, page ?? [], lira), currencies), total }
}

/** Adds current figures to the groups: stored ranks are only as of the latest change. */
async function withFigures(on: Queryable, groups: readonly GroupRow[], lira: Lira): Promise<GroupRow[]> {
  const keyOf = ({ item_id: item, state, cause }: GroupRow) => `${item} ${state} ${cause}`
  const states = [...new Set(groups.map(({ state }) => state))]
  const ids = `{${[...new Set(groups.map((group) => group.item_id))].join(',')}}`
  const { rows } = await sql<GroupRow>`${groupsOf(states, sql`q.item_id = any(${ids}::int4[])`, lira)}`.execute(on)
  const now = new Map(rows.map((row) => [keyOf(row), row]))
  return groups.map((group) => now.get(keyOf(group)) ?? group)
}

interface ItemRow {
  id: number
  name: string
  code: string | null
  ref: string
  game: string
  category_id: number
  category: string
  images: { url: string; order: number }[]
  attributes: { name: string; value: string }[]
}

async function reviewsOf(on: Queryable, groups: readonly GroupRow[], currencies: Currencies): Promise<PriceReview[]> {
  if (groups.length === 0) return []
  const ids = [...new Set(groups.map((group) => group.item_id))]
  const [items, prices] = await Promise.all([
    on
      .selectFrom('items as i')
      .innerJoin('categories as c', 'c.id', 'i.category_id')
      .select(['i.id', 'i.name', 'i.code', 'i.ref', 'i.game', 'i.category_id', 'c.name as category', 'i.images', 'i.attributes'])
      .where('i.id', '=', (e) => e.fn.any(e.val(ids)))
      .execute(),
    pricesOf(on, ids, currencies),
  ])
  const byId = new Map<number, ItemRow>(items.map((item) => [item.id, item]))
  return groups.flatMap(({ item_id: itemId, state, cause, times_off: timesOff, value }) => {
    const item = byId.get(itemId)
    if (!item) return []
    const inQuestion = prices.filter((row) => row.itemId === itemId && row.price.state === state && row.cause === cause)
    const labels = [...new Set(inQuestion.map(({ price }) => price.label))].sort((a, b) => (labelOrder(a) < labelOrder(b) ? -1 : 1))
    const shown = prices.filter(({ itemId: of, price }) => of === itemId && price.held_id === null && labels.includes(price.label))
    const all = state === 'held' ? [...inQuestion, ...shown] : shown
    const rank = ({ label, market, held_id: held }: ReviewedPrice) => [labels.indexOf(label), held === null ? 1 : 0, MARKETS.indexOf(market)] as const
    return {
      item: {
        id: item.id,
        name: item.name,
        code: item.code,
        ref: item.ref,
        game: item.game,
        finish: item.attributes.find(({ name }) => name === 'Finish')?.value ?? null,
        category: { id: item.category_id, name: item.category },
        images: item.images.map(({ url, order }) => ({ url, order })),
      },
      state,
      cause,
      markets: MARKETS.filter((market) => inQuestion.some(({ price }) => price.market === market)),
      labels,
      times_off: timesOff === null ? null : Math.round(timesOff * 100) / 100,
      value: value === null ? null : Math.round(value * 100) / 100,
      prices: all.map(({ price }) => price).sort((a, b) => byParts(rank(a), rank(b))),
    }
  })
}

function byParts(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((part, i) => part !== b[i])
  return at < 0 ? 0 : a[at]! - b[at]!
}

interface PriceRow {
  item_id: number
  market: number
  label: string
  price: string
  updated_at: Date
  confirmed_at: Date | null
  state: number
  cause: Cause | null
  confidence: number | null
  flags: number
  held_id: number | null
  reason: string | null
  params: Params | null
  compared_price: string | null
  times_off: number | null
  avg_1: string | null
  avg_7: string | null
  avg_30: string | null
  low: string | null
  mid: string | null
  high: string | null
  samples: number | null
  import_id: number
  line: number | null
}

/** All open held prices and all published prices of items, with the cause of those under review. */
async function pricesOf(
  on: Queryable,
  itemIds: readonly number[],
  currencies: Currencies,
): Promise<{ itemId: number; cause: Cause | null; price: ReviewedPrice }[]> {
  const { rows } = await sql<PriceRow>`
    select h.item_id, h.market, g.name as label, h.price, h.updated_at, null as confirmed_at, -1::int2 as state, h.rule as cause, null::int2 as confidence,
      0 as flags, h.id as held_id, h.reason, x.params, h.compared_price, h.times_off, null::numeric as avg_1, null::numeric as avg_7, null::numeric as avg_30,
      null::numeric as low, null::numeric as mid, null::numeric as high, null::int4 as samples, h.import_id, null::int4 as line
    from held_prices h join groups g on g.id = h.label_id left join held_price_params x on x.held_price_id = h.id
    where h.decision is null and h.item_id = any(${itemIds}::int4[])
    union all
    select p.item_id, p.market, g.name, p.price, p.updated_at, coalesce(p.confirmed_at, p.updated_at), p.state, ${causeOf}, p.confidence, p.flags, null, null,
      null, null, null, p.avg_1, p.avg_7, p.avg_30, p.low, p.mid, p.high, p.samples, p.import_id, p.line
    from (
      select *, bit_or(flags) over (partition by item_id, label_id, state) as flags_of_label from prices where item_id = any(${itemIds}::int4[])
    ) p join groups g on g.id = p.label_id
    order by updated_at`.execute(on)
  const twins = rows.some(({ flags }) => flags & IDENTICAL) ? await identicalItems(on, itemIds) : null
  const number = (text: string | null) => (text === null ? null : Number(text))
  return rows.map((row) => {
    const market = MARKETS[row.market]!
    return {
      itemId: row.item_id,
      cause: row.cause,
      price: {
        held_id: row.held_id,
        market,
        label: row.label,
        price: Number(row.price),
        currency: currencies[market],
        updated_at: row.updated_at.toISOString(),
        confirmed_at: row.confirmed_at?.toISOString() ?? null,
        state: row.held_id === null ? STATES[row.state]! : 'held',
        confidence: row.confidence === null ? null : CONFIDENCES[row.confidence]!,
        flags: flagsOf(row.flags),
        identical_to: (row.flags & IDENTICAL && twins?.get(`${row.item_id} ${row.market} ${row.label}`)?.slice(0, MAX_IDENTICAL)) || [],
        rule: row.held_id === null ? null : (row.cause as ReviewedPrice['rule']),
        reason: row.reason,
        params: row.params,
        compared_price: number(row.compared_price),
        times_off: row.times_off === null ? null : Math.round(row.times_off * 100) / 100,
        avg_1: number(row.avg_1),
        avg_7: number(row.avg_7),
        avg_30: number(row.avg_30),
        low: number(row.low),
        mid: number(row.mid),
        high: number(row.high),
        samples: row.samples,
        import_id: row.import_id,
        line: row.line,
      },
    }
  })
}
