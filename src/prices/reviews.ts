// Prices in question, held or published: found by filters, counted, and grouped by item and cause with all prices that bear on them.
import { type RawBuilder, sql } from 'kysely'
import { boundedId, filter, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { labelOrder, parseLabel } from '#core/labels.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import type { Params } from '#core/problems.ts'
import type { Queryable } from '#db/schema.ts'
import { liveItem } from '#db/live-item.ts'
import { CONFIDENCES, FLAGS, flagsOf, STATES } from './evidence/types.ts'
import { RULE_NAMES } from './evidence/hold.ts'
import { Rates } from './rates.ts'

/** States of prices that people decide about. */
export const REVIEW_STATES = ['held', 'disputed', 'stale'] as const
export type ReviewState = (typeof REVIEW_STATES)[number]

/** A check that could not be made is no cause. */
const CAUSE_FLAGS = FLAGS.filter((flag) => flag !== 'no_rate')
/** The rule that holds prices, or the first flag that speaks against published ones. */
export const CAUSES = [...new Set([...RULE_NAMES, ...CAUSE_FLAGS])]
export type Cause = (typeof CAUSES)[number]

export const SORTS = ['times_off', 'value'] as const

/** By what prices in question are chosen. */
export const ReviewFields = {
  state: Type.Optional(Type.Enum([...REVIEW_STATES])),
  cause: Type.Optional(
    Type.Enum([...CAUSES], { description: 'Held by this rule; or this is the first flag of the published prices of the item and label' }),
  ),
  market: Type.Optional(Type.Enum([...MARKETS])),
  label: filter('Condition or grade'),
  game: filter('Of this game'),
  category_id: boundedId('Of this category or one below it'),
  item_id: boundedId('Of this item only'),
  import_id: boundedId('Brought by this import'),
}
export type ReviewFilter = Static<ReturnType<typeof reviewFilter>>

function reviewFilter() {
  return Type.Object(ReviewFields)
}

const Time = Type.String({ format: 'date-time', description: 'UTC' })
const figure = (description: string) => orNull(Type.Number({ description }))

export const ReviewedPriceSchema = Type.Object(
  {
    held_id: orNull(Type.Integer({ description: 'Id of the held price, null for a published one' })),
    market: Type.Enum([...MARKETS]),
    label: Type.String(),
    price: Type.Number(),
    currency: Type.String(),
    updated_at: Time,
    confirmed_at: orNull(Type.String({ format: 'date-time', description: 'When its feed last stated it; null for a held price' })),
    state: Type.Enum(['held', ...STATES] as const),
    confidence: orNull(Type.Enum([...CONFIDENCES])),
    flags: Type.Array(Type.Enum([...FLAGS]), { description: 'What speaks against a published price' }),
    rule: orNull(Type.Enum([...RULE_NAMES], { description: 'The rule that holds the price' })),
    reason: orNull(Type.String()),
    params: orNull(Type.Record(Type.String(), Type.Unknown(), { description: 'Values of the reason' })),
    compared_price: figure('What a held price was compared with, in the same currency'),
    times_off: figure('How many times larger or smaller than that'),
    avg_1: figure("The feed's own average of a day"),
    avg_7: figure('of 7 days'),
    avg_30: figure('of 30 days'),
    low: figure("The feed's lowest offer"),
    mid: figure("The feed's median offer"),
    high: figure("The feed's highest offer"),
    samples: orNull(Type.Integer({ description: 'Sales or offers that the figures are of' })),
    import_id: Type.Integer(),
    line: orNull(Type.Integer({ description: 'Line of the file' })),
  },
  { title: 'ReviewedPrice' },
)
export type ReviewedPrice = Static<typeof ReviewedPriceSchema>

export const PriceReviewSchema = Type.Object(
  {
    item: Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      code: orNull(Type.String()),
      ref: Type.String(),
      game: Type.String(),
      finish: orNull(Type.String()),
      category: Type.Object({ id: Type.Integer(), name: Type.String() }),
      images: Type.Array(Type.Object({ url: Type.String(), order: Type.Integer() })),
    }),
    state: Type.Enum([...REVIEW_STATES]),
    cause: orNull(Type.Enum([...CAUSES])),
    markets: Type.Array(Type.Enum([...MARKETS]), { description: 'Of the prices in question' }),
    labels: Type.Array(Type.String()),
    times_off: figure('How far apart the prices are at most; null where they cannot be compared'),
    value: figure('The largest of the prices in lira, by the latest rates; null without a rate'),
    prices: Type.Array(ReviewedPriceSchema, { description: 'The prices in question, and the other published prices of the same labels' }),
  },
  { title: 'PriceReview' },
)
export type PriceReview = Static<typeof PriceReviewSchema>

export const ReviewCountSchema = Type.Object(
  {
    held: Type.Integer(),
    disputed: Type.Integer(),
    stale: Type.Integer(),
    prices: Type.Integer({ description: 'Together' }),
  },
  { title: 'PriceReviewCount' },
)
export type ReviewCount = Static<typeof ReviewCountSchema>

type Currencies = Readonly<Record<Market, string>>

/** Without a state: those that somebody has to decide about. What is stale ends by itself when its source is heard again. */
const UNASKED: readonly ReviewState[] = ['held', 'disputed']

/** The heaviest flag of all prices of the item and label that are in one state; null where only a check was missing. */
const causeOf = sql`(case ${sql.join(
  CAUSE_FLAGS.map((flag) => sql`when flags_of_label & ${sql.lit(1 << FLAGS.indexOf(flag))} <> 0 then ${sql.lit(flag)}`),
  sql` `,
)} end)`

/**
 * The prices in question that a filter finds, as SQL: `state, cause, item_id, market, label_id, price, updated_at, import_id, held_id,
 * times_off`. Their causes follow from all prices of the item and label, found or not.
 * @param states those to find, where the filter names none
 */
export function pricesInQuestion(filter: ReviewFilter, states: readonly ReviewState[] = UNASKED): RawBuilder<unknown> {
  const { state, cause, market, label, game, category_id: category, item_id: item, import_id: importId } = filter
  const asked = state ? [state] : states
  const published = STATES.flatMap((name, number) => ((asked as readonly string[]).includes(name) ? [number] : []))
  const ofItem = item === undefined ? sql`true` : sql`q.item_id = ${liveItem(item)}`
  const found = [
    sql`true`,
    ...(cause === undefined ? [] : [sql`q.cause = ${cause}`]),
    ...(market === undefined ? [] : [sql`q.market = ${MARKETS.indexOf(market)}::int2`]),
    ...(label === undefined ? [] : [sql`q.label_id in (select id from groups where name = ${parseLabel(label)?.label ?? label})`]),
    ...(importId === undefined ? [] : [sql`q.import_id = ${importId}::int4`]),
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
  return sql`
    select * from (
      select 'held' as state, q.rule as cause, q.item_id, q.market, q.label_id, q.price, q.updated_at, q.import_id, q.id as held_id, q.times_off
      from held_prices q where q.decision is null and ${sql.lit(asked.includes('held'))} and ${ofItem}
      union all
      select (${sql.lit(`{${STATES.join(',')}}`)}::text[])[state + 1], ${causeOf}, item_id, market, label_id, price, updated_at, import_id, null, own_times_off
      from (
        select *, bit_or(flags) over (partition by item_id, label_id, state) as flags_of_label,
          greatest(price / nullif(avg_30, 0), avg_30 / price)::real as own_times_off
        from prices q where state > 0 and ${ofItem}
      ) p where state = any(${published}::int2[])
    ) q where ${sql.join(found, sql` and `)}`
}

/** How many prices a filter finds, by their states. */
export async function countInQuestion(on: Queryable, filter: ReviewFilter): Promise<ReviewCount> {
  const { rows } = await sql<{ state: ReviewState; count: number }>`
    select state, count(*)::int as count from (${pricesInQuestion(filter, REVIEW_STATES)}) q group by 1`.execute(on)
  const of = (state: ReviewState) => rows.find((row) => row.state === state)?.count ?? 0
  const [held, disputed, stale] = [of('held'), of('disputed'), of('stale')]
  return { held, disputed, stale, prices: held + disputed + stale }
}

interface GroupRow {
  item_id: number
  state: ReviewState
  cause: Cause | null
  times_off: number | null
  value: number | null
}

/** Groups of which the filter finds a price; each is shown with all its prices. */
export async function pageOfReviews(
  on: Queryable,
  { sort_by: sortBy = 'times_off', ...filter }: ReviewFilter & { sort_by?: (typeof SORTS)[number] },
  currencies: Currencies,
  now: Date,
  limit: number,
  offset: number,
): Promise<{ rows: PriceReview[]; total: number }> {
  const rates = await Rates.load(on)
  const lira = MARKETS.map((market) => {
    const rate = rates.microLira(currencies[market], now.getTime())
    return rate === null ? null : rate / 1_000_000
  })
  const inLira = (price: RawBuilder<unknown>, market: RawBuilder<unknown>) => sql`(${price} * (${lira}::float8[])[${market} + 1])::float8`
  const { rows: found } = await sql<{ total: number; groups: GroupRow[] | null }>`
    with asked as materialized (${pricesInQuestion(filter)}),
    spread as (
      select a.item_id, a.state, a.cause, (max(p.value) / nullif(min(p.value), 0))::float8 as times_off, max(p.value) as value
      from (select distinct item_id, state, cause, label_id from asked where state <> 'held') a
      join lateral (
        select ${inLira(sql`p.price`, sql`p.market`)} as value from prices p where p.item_id = a.item_id and p.label_id = a.label_id
      ) p on true
      group by a.item_id, a.state, a.cause, a.label_id
    ),
    grouped as materialized (
      select item_id, state, cause, max(times_off)::float8 as times_off, max(value) as value
      from (
        select item_id, state, cause, times_off::float8, ${inLira(sql`price`, sql`market`)} as value from asked
        union all select item_id, state, cause, times_off, value from spread
      ) q group by item_id, state, cause
    )
    select (select count(*)::int from grouped) as total, (
      select json_agg(g) from (
        select * from grouped order by ${sql.id(sortBy)} desc nulls last, item_id, state, cause limit ${limit} offset ${offset}
      ) g
    ) as groups`.execute(on)
  const groups = found[0]!.groups ?? []
  return { rows: await reviewsOf(on, groups, currencies), total: found[0]!.total }
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

/** All open held and all published prices of items, with the cause of what is in question. */
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
