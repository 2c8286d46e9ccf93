// Confirms or rejects the usual ratio of a set that is too far from the game's to be applied without a decision.
import { sql } from 'kysely'
import { conflict, notFound } from '#core/errors.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import type { RatioDecision } from '../evidence/ratios.ts'
import { factorBetween } from '../evidence/thresholds.ts'
import { judgePrices, lockJudging } from '../judging/judge-prices.ts'
import { FINISH, loadUsualRatios } from '../judging/usual-ratios.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { RatioFields, shownRatios, type UsualRatio } from './list-usual-ratios.ts'

/** A ratio is the one that the caller saw if it differs by less than this factor: it moves a little with every price. */
const SAME_RATIO = 1.05

const Decided = Type.Object({
  ...RatioFields,
  ratio: Type.Number({ exclusiveMinimum: 0, description: 'The ratio that you saw; the decision is rejected if it has changed by 5 % or more since' }),
})

export const confirmUsualRatio = verb({ name: 'confirmUsualRatio', needs: 'catalogue', input: Decided }, (ctx: PriceWriteCtx, input) =>
  decide(ctx, input, 'confirmed'),
)

export const rejectUsualRatio = verb({ name: 'rejectUsualRatio', needs: 'catalogue', input: Decided }, (ctx: PriceWriteCtx, input) =>
  decide(ctx, input, 'rejected'),
)

function decide(ctx: PriceWriteCtx, input: Static<typeof Decided>, decision: RatioDecision['decision']): Promise<UsualRatio> {
  const [finish, marketA, marketB] = [input.finish ?? '', MARKETS.indexOf(input.market), MARKETS.indexOf(input.other_market)]
  return change(ctx, async (tx, note) => {
    // Ratios change only under this lock.
    await lockJudging(tx)
    const find = async () =>
      (await loadUsualRatios(tx))
        .beyondLimit()
        .find((one) => one.categoryId === input.category_id && one.finish === finish && one.marketA === marketA && one.marketB === marketB)
    const found = await find()
    if (!found) throw notFound('usual_ratio_missing')
    if (factorBetween(found.ratio, input.ratio) >= SAME_RATIO)
      throw conflict('usual_ratio_changed', { value: String(Number(found.ratio.toPrecision(4))) })
    const { game, categoryId, ratio } = found
    const decided = { decision, ratio, author: actorOf(ctx.viewer), at: ctx.now() }
    await tx
      .insertInto('usual_ratio_decisions')
      .values({ game, category_id: categoryId, finish, market_a: marketA, market_b: marketB, ...decided })
      .onConflict((clash) => clash.columns(['game', 'category_id', 'finish', 'market_a', 'market_b']).doUpdateSet(decided))
      .execute()
    const { rows } = await sql<{ id: number }>`
      select id from items i where category_id = ${categoryId} and game = ${game} and ${sql.raw(FINISH)} = ${finish}`.execute(tx)
    await judgePrices(
      ctx,
      tx,
      note,
      rows.map(({ id }) => id),
    )
    const [after] = await shownRatios(tx, [(await find())!])
    const { finish: of, market, other_market, applied_ratio } = after!
    note.audit({
      action: `usual-ratio.${decision === 'confirmed' ? 'confirm' : 'reject'}`,
      subject: 'category',
      id: categoryId,
      after: { finish: of, market, other_market, ratio, applied_ratio },
    })
    return after!
  })
}
