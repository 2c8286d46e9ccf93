// Sets one price of an item manually: publishes it regardless of the rules, confirms it, and logs the price it replaced in the audit log.
import { invalid } from '#core/errors.ts'
import { id, remark } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { parseLabel } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import { MAX_AMOUNT, minorOfNumber, minorToNumber } from '#core/money.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { confirmPrices } from '#prices/judging/confirmed-prices.ts'
import { requireItem } from '#prices/history/history.ts'
import { closeImport, noCounts, openImport } from '#prices/imports/imports.ts'
import { addLabel, labelIds } from '#prices/records/labels.ts'
import { PriceBatch } from '#prices/records/price-batch.ts'
import { Refusals } from '#prices/imports/refusals.ts'
import type { PriceWrite, PriceWriteCtx } from '#prices/records/price-types.ts'
import { lockMarkets } from '#prices/writing/lock-markets.ts'
import { PriceWriter } from '#prices/writing/writer.ts'

const Price = Type.Number({ description: "In the market's currency" })

export const SetPriceSchema = Type.Object(
  {
    item_id: Type.Integer(),
    market: Type.Enum([...MARKETS]),
    label: Type.String({ examples: ['Near Mint'] }),
    price: Price,
    updated_at: Type.String({ format: 'date-time', description: 'UTC' }),
    replaced: Type.Union([Price, Type.Null()], { description: 'Previous price; null if there was none' }),
    import_id: Type.Integer({ description: 'Id of the batch that sets the price; it can be reverted' }),
  },
  { title: 'SetPrice' },
)
export type SetPrice = Static<typeof SetPriceSchema>

export const setPrice = verb(
  {
    name: 'setPrice',
    needs: 'catalogue',
    input: Type.Object({
      id: id('item'),
      // The service's own prices are computed from its sales.
      market: Type.Enum(MARKETS.filter((market) => market !== 'service')),
      label: Type.String({ maxLength: 40, description: 'Condition, or grader and grade', examples: ['Near Mint', 'PSA 10'] }),
      price: Type.Number({
        exclusiveMinimum: 0,
        allowed: reason('number', { above: 0, max: MAX_AMOUNT, decimals: 2 }),
        description: "At most two decimals, in the market's currency",
      }),
      reason: remark('Why, for the audit log'),
    }),
  },
  (ctx: PriceWriteCtx, { id: requestedId, market, label, price, reason: why }) => {
    const canonical = parseLabel(label)?.label
    if (!canonical) throw invalid('label', 'label')
    const minor = minorOfNumber(price)
    if (!minor) throw invalid('price', 'number', { above: 0, max: MAX_AMOUNT, decimals: 2 })
    return change(ctx, async (tx, note): Promise<SetPrice> => {
      const position = MARKETS.indexOf(market)
      // Blocks imports of the market and merges, so that the audit log names the price that is really replaced.
      await lockMarkets(tx, [position])
      const itemId = await requireItem(tx, requestedId)
      const labelId = (await labelIds(tx)).get(canonical) ?? (await addLabel(tx, note, canonical))
      const before = await currentOf(tx, itemId, position, labelId)
      // Dated after the current price, so that it replaces even one that is dated in the future.
      const updatedAtMs = Math.max(ctx.now().getTime(), before === null ? 0 : before.updated_at.getTime() + 1)
      const importId = await openImport(
        tx,
        { format: 'prices-api', market: null, fileName: null, author: actorOf(ctx.viewer), dryRun: false },
        note.at,
      )
      const write: PriceWrite = { row: 0, itemId, market: position, labelId, minor, updatedAtMs }
      const writer = new PriceWriter({ db: ctx.db, tx, note, importId, rules: ctx.rules, accepted: true, nowMs: ctx.now().getTime() })
      const { accepted, created, unchanged } = await writer.write(PriceBatch.of([write]))
      const after = (await currentOf(tx, itemId, position, labelId))!
      await confirmPrices(ctx, tx, null, [{ ...write, updatedAtMs: after.updated_at.getTime() }])
      await writer.finish({ whole: false })
      const counts = { ...noCounts(), rowsRead: 1, created, updated: accepted - created, accepted, unchanged }
      await closeImport(tx, importId, { status: 'done', counts, refusals: new Refusals() }, ctx.now())
      const of = { item_id: itemId, market, label: canonical }
      note.audit({
        action: 'price.set',
        subject: 'item',
        id: itemId,
        before: before && { ...of, price: Number(before.price), updated_at: before.updated_at.toISOString() },
        after: { ...of, price: minorToNumber(minor), reason: why, import_id: importId },
      })
      return {
        ...of,
        price: minorToNumber(minor),
        updated_at: after.updated_at.toISOString(),
        replaced: before && Number(before.price),
        import_id: importId,
      }
    })
  },
)

async function currentOf(tx: Tx, itemId: number, market: number, labelId: number): Promise<{ price: string; updated_at: Date } | null> {
  const row = await tx
    .selectFrom('prices')
    .select(['price', 'updated_at'])
    .where('item_id', '=', itemId)
    .where('market', '=', market)
    .where('label_id', '=', labelId)
    .executeTakeFirst()
  return row ?? null
}
