// One page of a collection's records, searched and sorted: for collections that are too long to be read as a whole.
import { type RawBuilder, sql } from 'kysely'
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import type { Range, Rows } from '#core/paging.ts'
import { withTotal } from '#db/page.ts'
import type { Queryable } from '#db/schema.ts'
import { type SortDirection, sortParams } from '#db/sorting.ts'
import { PAST_NEWEST, RECORD_COLUMNS, RECORD_JOINS, recordsBefore, type RecordRow } from './records/store.ts'
import type { PricingCtx } from './records/types.ts'
import { costCurrency, recordWithValue } from './worth.ts'

/** Rows that are read at once to sort by what only memory knows: the current prices. */
const BATCH = 1_000

/** Records without the sorted value come last in both directions. */
const STORED = {
  name: sql`lower(i.name)`,
  grade: sql`g.name`,
  quantity: sql`r.quantity`,
  cost: sql`r.purchase_price * r.quantity`,
  purchase_date: sql`r.purchase_date`,
} satisfies Record<string, RawBuilder<unknown>>
const VALUED = ['value', 'gain'] as const

type StoredSort = keyof typeof STORED
type ValuedSort = (typeof VALUED)[number]

/** Parameters of a page of records; any of them selects a page instead of the whole list. */
export const RECORD_PAGE_PARAMS = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Page number, from 1: returns one page' })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Entries per page; returns one page. Default of a page: 20' })),
  search: filter('Part of the name, code, own code or note, case-insensitive; returns one page'),
  for_trade: Type.Optional(Type.Boolean({ default: false, description: '`1` returns one page of the records with copies for trade' })),
  ...sortParams([...(Object.keys(STORED) as StoredSort[]), ...VALUED]),
}

interface Selection {
  search?: string | undefined
  /** whether only records with copies for trade are selected */
  for_trade?: boolean | undefined
}

export interface RecordFilter extends Selection {
  sort_by?: StoredSort | ValuedSort | undefined
  sort_order?: SortDirection | undefined
}

export function pageOfRecords(
  ctx: PricingCtx,
  collectionId: number,
  { sort_by: name, sort_order: direction = 'asc', ...selection }: RecordFilter,
  range: Range,
): Promise<Rows<RecordRow>> {
  const matching = matchingRecords(collectionId, selection)
  if (name === 'value' || name === 'gain') return valuedPage(ctx, { matching, name, direction }, range)
  const towards = sql.raw(direction)
  const order = name === undefined ? sql`r.id desc` : sql`${STORED[name]} ${towards} nulls last, r.id ${towards}`
  return storedPage(ctx.db.kysely, matching, order, range)
}

function matchingRecords(collectionId: number, { search, for_trade: forTrade = false }: Selection): RawBuilder<unknown> {
  const ofCollection = sql`r.collection_id = ${collectionId}`
  // A sold-out record may still state copies for trade.
  const chosen = forTrade ? sql`${ofCollection} and least(r.for_trade, r.quantity) > 0` : ofCollection
  if (search === undefined) return chosen
  return sql`${chosen} and strpos(lower(concat_ws(chr(10), i.name, i.code, r.card_uniq_id, r.note)), lower(${search})) > 0`
}

function storedPage(on: Queryable, matching: RawBuilder<unknown>, order: RawBuilder<unknown>, { limit, offset }: Range): Promise<Rows<RecordRow>> {
  const reading = sql<RecordRow>`
    select ${RECORD_COLUMNS} from collection_items r ${RECORD_JOINS} where ${matching} order by ${order} limit ${limit} offset ${offset}`.execute(on)
  const counting = sql<{ total: number }>`
    select count(*)::int4 as total from collection_items r join items i on i.id = r.item_id where ${matching}`.execute(on)
  return withTotal(
    reading.then(({ rows }) => rows),
    counting.then(({ rows }) => rows[0]!.total),
  )
}

interface ValuedOrder {
  matching: RawBuilder<unknown>
  name: ValuedSort
  direction: SortDirection
}

interface Place {
  id: number
  /** position of the currency: amounts in different currencies are never compared */
  currency: string
  amount: number | null
}

/** Reads the records in batches, because the order follows from prices in memory, and then those of the page. */
async function valuedPage(ctx: PricingCtx, { matching, name, direction }: ValuedOrder, { limit, offset }: Range): Promise<Rows<RecordRow>> {
  const on = ctx.db.kysely
  const places: Place[] = []
  for (let last = PAST_NEWEST; ; ) {
    const rows = await recordsBefore(on, matching, last, BATCH)
    for (const row of rows) {
      const amount = recordWithValue(ctx, row)[name] ?? null
      places.push({ id: row.id, currency: amount?.currency ?? '', amount: amount && asDouble(amount.amount) })
    }
    if (rows.length < BATCH) break
    last = rows.at(-1)!.id
  }
  places.sort(placeOrder(costCurrency(ctx), direction))
  const ids = places.slice(offset, offset + limit).map(({ id }) => id)
  if (ids.length === 0) return { rows: [], total: places.length }
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from collection_items r ${RECORD_JOINS}
    where r.id = any(${ids}) order by array_position(${ids}::int4[], r.id)`.execute(on)
  return { rows, total: places.length }
}

/** Amounts that a double cannot represent are JSON texts: see `recordWithValue`. */
function asDouble(amount: number): number {
  return typeof amount === 'number' ? amount : Number(JSON.stringify(amount))
}

/** The currency of costs first, the others by code; within a currency by amount; records without an amount last. */
function placeOrder(own: string, direction: SortDirection): (a: Place, b: Place) => number {
  const sign = direction === 'desc' ? -1 : 1
  const rankOf = ({ amount, currency }: Place) => (amount === null ? 2 : currency === own ? 0 : 1)
  return (a, b) => {
    if (rankOf(a) !== rankOf(b)) return rankOf(a) - rankOf(b)
    if (a.currency !== b.currency) return a.currency < b.currency ? -1 : 1
    return sign * ((a.amount ?? 0) - (b.amount ?? 0) || a.id - b.id)
  }
}
