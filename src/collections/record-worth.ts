// Worker task that records the worth of each collection once a day; missed days are not filled in.
import { localDay } from '#core/time.ts'
import type { PricingCtx } from './records/types.ts'
import { worthOf } from './worth.ts'
import { idsWithoutWorth, insertWorth } from './worth-store.ts'

interface RecordingCtx extends PricingCtx {
  now: () => Date
}

const BATCH = 200

/** Resolves when the worth of every collection with records is recorded for today; several workers may run it concurrently. */
export async function recordWorth(ctx: RecordingCtx): Promise<void> {
  const { kysely } = ctx.db
  for (let lastId = 0; ; ) {
    const ids = await idsWithoutWorth(kysely, dayOf(ctx, ctx.now()), lastId, BATCH)
    for (const id of ids) {
      const at = ctx.now()
      await insertWorth(kysely, id, [{ day: dayOf(ctx, at), at, ...(await worthOf(ctx, id)) }])
    }
    if (ids.length < BATCH) return
    lastId = ids.at(-1)!
  }
}

function dayOf({ market }: RecordingCtx, at: Date): string {
  return localDay(at, market.timeZone)
}
