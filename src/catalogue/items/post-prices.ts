// Accepts a list of prices: one batch, in which each row is validated on its own.
import { invalid, ServiceError } from '#core/errors.ts'
import { boundedId, moment, momentOf } from '#core/fields.ts'
import { bodyReader, ReasonFields, type Static, Type } from '#core/input.ts'
import { parseLabel } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import { MAX_AMOUNT, minorOfNumber } from '#core/money.ts'
import { problem, type Reason, reason, combineProblems } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import { liveItemIds } from '#db/live-item.ts'
import type { Tx } from '#db/schema.ts'
import { closeImport, noCounts, openImport } from '#prices/imports/imports.ts'
import { addLabel, labelIds } from '#prices/records/labels.ts'
import { PriceBatch } from '#prices/records/price-batch.ts'
import { EARLIEST_MS } from '#prices/sources/cells.ts'
import type { PriceWrite, PriceWriteCtx } from '#prices/records/price-types.ts'
import { type RefusedRow, Refusals } from '#prices/imports/refusals.ts'
import { PriceWriter } from '#prices/writing/writer.ts'
import { closed, market, shortText } from '../records/fields.ts'
import { ItemLookup } from './item-lookup.ts'

const MAX_ROWS = 10_000

export const PriceRowSchema = Type.Object(
  {
    item_id: boundedId('Id of the item; or send `item_ref`'),
    item_ref: Type.Optional(shortText('Ref of the item; looked up in `market` if several markets have it')),
    market: market(),
    label: Type.String({ maxLength: 40, description: 'Condition, or grader and grade', examples: ['Near Mint', 'PSA 10'] }),
    price: Type.Number({ exclusiveMinimum: 0, description: "At most two decimals, in the market's currency" }),
    updated_at: Type.Optional(moment('When the price was valid; default: now')),
  },
  closed,
)

/** The result of a post; `row` is the position in the list, from 0. */
export interface PostedPrices {
  import_id: number
  accepted: number
  unchanged: number
  held: number
  rejected: number
  errors: RefusedRow[]
}

export const PostedPricesSchema = Type.Object(
  {
    import_id: Type.Integer({ description: 'Id of the batch of these prices; it can be reverted' }),
    accepted: Type.Integer(),
    unchanged: Type.Integer(),
    held: Type.Integer({ description: 'Held for review: see GET /held-prices' }),
    rejected: Type.Integer(),
    errors: Type.Array(
      Type.Object({
        row: Type.Integer({ description: 'Position in the list, from 0' }),
        message: Type.String(),
        field: Type.Optional(Type.String()),
        ...ReasonFields,
      }),
    ),
  },
  { title: 'PostedPrices' },
)

const readRow = bodyReader(PriceRowSchema)

export const postPrices = verb(
  {
    name: 'postPrices',
    needs: 'catalogue',
    input: Type.Object({ prices: Type.Array(Type.Unknown(), { maxItems: MAX_ROWS, allowed: reason('list_body', { max: MAX_ROWS }) }) }),
  },
  (ctx: PriceWriteCtx, { prices }) =>
    change(ctx, async (tx, note): Promise<PostedPrices> => {
      const nowMs = ctx.now().getTime()
      const opening = { format: 'prices-api', market: null, fileName: null, author: actorOf(ctx.viewer), dryRun: false }
      const importId = await openImport(tx, opening, note.at)
      const wrong: { row: number; why: Reason }[] = []
      const labels = await labelIds(tx)
      const writes = await readAll(tx, note, prices, labels, nowMs, (row, why) => wrong.push({ row, why }))
      const refusals = new Refusals()
      const errors = wrong.sort((a, b) => a.row - b.row).map(({ row, why }) => refusals.add({ row }, why))
      const writer = new PriceWriter({ db: ctx.db, tx, note, importId, rules: ctx.rules, nowMs, labels })
      const { accepted, created, unchanged, held } = await writer.write(PriceBatch.of(writes))
      await writer.finish({ whole: false })
      const rejected = errors.length
      const counts = { ...noCounts(), rowsRead: prices.length, created, updated: accepted - created, accepted, unchanged, held, rejected }
      await closeImport(tx, importId, { status: 'done', counts, refusals }, ctx.now())
      note.audit({ action: 'prices.post', subject: 'import', id: importId, after: counts })
      return { import_id: importId, accepted, unchanged, held, rejected, errors }
    }),
)

/** Returns the valid rows; passes the problems of the others to `refuse`. Adds new labels to `labels`. */
async function readAll(
  tx: Tx,
  note: Note,
  rows: unknown[],
  labels: Map<string, number>,
  nowMs: number,
  refuse: (row: number, why: Reason) => void,
): Promise<PriceWrite[]> {
  const read: { row: number; price: Price }[] = []
  for (const [row, value] of rows.entries()) {
    try {
      read.push({ row, price: readPrice(value, nowMs) })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'VALIDATION_ERROR') throw error
      refuse(row, combineProblems(error.details))
    }
  }
  const findItem = await itemFinder(
    tx,
    read.map(({ price }) => price),
  )
  const writes: PriceWrite[] = []
  for (const { row, price } of read) {
    const item = findItem(price)
    if (typeof item !== 'number') {
      refuse(row, item)
      continue
    }
    const labelId = labels.get(price.label) ?? (await addLabel(tx, note, price.label))
    labels.set(price.label, labelId)
    writes.push({ row, itemId: item, market: MARKETS.indexOf(price.market), labelId, minor: price.minor, updatedAtMs: price.updatedAtMs })
  }
  return writes
}

interface Price extends Pick<Static<typeof PriceRowSchema>, 'item_id' | 'item_ref' | 'market'> {
  /** in canonical form */
  label: string
  minor: number
  updatedAtMs: number
}

function readPrice(value: unknown, nowMs: number): Price {
  const { item_id, item_ref, market, label, price, updated_at } = readRow(value)
  const canonical = parseLabel(label)?.label
  const minor = minorOfNumber(price)
  const updatedAtMs = updated_at === undefined ? nowMs : momentOf('updated_at', updated_at).getTime()
  if ((item_id === undefined) === (item_ref === undefined)) throw invalid('item_id', 'exactly_one', { field: 'item_ref' })
  if (!canonical) throw invalid('label', 'label')
  if (!minor) throw invalid('price', 'number', { above: 0, max: MAX_AMOUNT, decimals: 2 })
  if (updatedAtMs < EARLIEST_MS) throw invalid('updated_at', 'not_before', { from: '1996-01-01' })
  return { item_id, item_ref, market, label: canonical, minor, updatedAtMs }
}

/** Resolves the items of prices: the id, or the reason why there is none. */
async function itemFinder(tx: Tx, prices: Price[]): Promise<(price: Price) => number | Reason> {
  const ids = [...new Set(prices.flatMap(({ item_id }) => item_id ?? []))]
  const currentIds = await liveItemIds(tx, ids)
  const lookup = new ItemLookup(tx)
  await lookup.load(prices.flatMap(({ item_ref }) => (item_ref === undefined ? [] : { ref: item_ref })))
  return ({ item_id: id, item_ref: ref, market }) => {
    if (id !== undefined) return currentIds.get(id) ?? problem('item_id', 'unknown_id', { thing: 'item', id })
    const inMarket = lookup.find({ ref: ref!, market })
    const found = 'reject' in inMarket ? lookup.find({ ref: ref! }) : inMarket
    return 'reject' in found ? { field: 'item_ref', ...found.reject } : found.itemId
  }
}
