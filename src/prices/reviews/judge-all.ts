// Judges all prices periodically: they age, usual ratios change, and posted prices may be identical to others.
import { MARKETS } from '#core/markets.ts'
import { change } from '#db/changes/change.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { findIdenticalPrices } from '../judging/identical-prices.ts'
import { judgeBatch, judgePrices, lockJudging } from '../judging/judge-prices.ts'
import { loadConditions } from '../judging/judging-conditions.ts'
import { PriceJudge } from '../judging/price-judge.ts'
import { markReviewsForRanking } from '../records/review-changes.ts'
import { refreshDueServicePrices } from '../writing/service-price.ts'
import { rankReviews } from './rank-reviews.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { refreshUsualRatios } from '../judging/usual-ratios.ts'
import { findFigureMoves } from './figure-moves.ts'

/** Judges all current prices in batches with a transaction each, so that other writers continue in between. */
export async function judgeAllPrices(ctx: PriceWriteCtx): Promise<void> {
  await refreshDueServicePrices(ctx)
  const moves = await findFigureMoves(ctx.db.kysely, await loadConditions(ctx.db.kysely, ctx.rules, ctx.now().getTime()))
  await change(ctx, async (tx, note) => {
    await lockJudging(tx)
    const judge = await PriceJudge.load(tx, ctx.rules, ctx.now().getTime())
    await refreshUsualRatios(tx, judge.conditions)
    const identical = await findIdenticalPrices(tx, judge, MARKETS.keys(), true)
    judge.mark(identical)
    await judgePrices(
      ctx,
      tx,
      note,
      identical.map(({ itemId }) => itemId),
      judge,
    )
  })
  for (let after: number | null = 0; after !== null; ) {
    const from: number = after
    after = await change(ctx, (tx, note) => judgeBatch(ctx, tx, note, moves, from))
  }
  await inTransaction(ctx.db, markReviewsForRanking)
  await rankReviews(ctx.db, ctx.rules.currencies, ctx.now())
}
