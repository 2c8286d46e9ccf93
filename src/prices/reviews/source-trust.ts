// Sets a source aside, which makes its prices stale immediately, and restores it.
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import { name } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { STATES } from '../evidence/evidence-types.ts'
import { judgeBatch } from '../judging/judge-prices.ts'
import { loadConditions } from '../judging/judging-conditions.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { findFigureMoves } from './figure-moves.ts'

const SOURCES = MARKETS.filter((market) => market !== 'service')

export const SourceTrustSchema = Type.Object(
  {
    market: Type.Enum(SOURCES),
    set_aside: Type.Boolean(),
    prices: Type.Integer({ description: 'Current prices of the source' }),
    stale: Type.Integer({ description: 'Stale prices among them' }),
  },
  { title: 'SourceTrust' },
)
export type SourceTrust = Static<typeof SourceTrustSchema>

const market = Type.Enum(SOURCES)
const why = name('For the audit log', 500)

export const setSourceAside = verb(
  { name: 'setSourceAside', needs: 'catalogue', input: Type.Object({ market, reason: why }) },
  (ctx: PriceWriteCtx, { market, reason }) =>
    change(ctx, async (tx, note) => {
      const position = MARKETS.indexOf(market)
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('sources_set_aside')
        .values({ market: position, author: actorOf(ctx.viewer), reason, at: ctx.now() })
        .onConflict((clash) => clash.doNothing())
        .executeTakeFirst()
      if (numInsertedOrUpdatedRows === 0n) throw conflict('source_set_aside', { market })
      return judged(ctx, tx, note, { market, action: 'source.set-aside', reason })
    }),
)

const Restored = Type.Object({ market, reason: Type.Optional(why) })

async function restore(ctx: PriceWriteCtx, { market, reason }: Static<typeof Restored>): Promise<SourceTrust> {
  return change(ctx, async (tx, note) => {
    const { numDeletedRows } = await tx.deleteFrom('sources_set_aside').where('market', '=', MARKETS.indexOf(market)).executeTakeFirst()
    if (numDeletedRows === 0n) throw conflict('source_not_set_aside', { market })
    return judged(ctx, tx, note, { market, action: 'source.take-back', reason })
  })
}

export const restoreSource = verb({ name: 'restoreSource', needs: 'catalogue', input: Restored }, restore)

export const takeSourceBack = verb({ name: 'takeSourceBack', needs: 'catalogue', input: Restored }, restore)

interface Change {
  market: SourceTrust['market']
  action: string
  reason?: string | undefined
}

/** Judges all items with prices of the source: its own prices become stale or fresh, which may change verdicts of other sources' prices. */
async function judged(ctx: PriceWriteCtx, tx: Tx, note: Note, { market, action, reason }: Change): Promise<SourceTrust> {
  const position = MARKETS.indexOf(market)
  const moves = await findFigureMoves(tx, await loadConditions(tx, ctx.rules, ctx.now().getTime()))
  for (let after: number | null = 0; after !== null; ) after = await judgeBatch(ctx, tx, note, moves, after, position)
  const { rows } = await sql<{ prices: number; stale: number }>`
    select count(*)::int4 as prices, (count(*) filter (where state = ${sql.lit(STATES.indexOf('stale'))}))::int4 as stale from prices where market = ${position}`.execute(
    tx,
  )
  const after = { market, set_aside: action === 'source.set-aside', ...rows[0]! }
  note.audit({ action, subject: 'source', id: market, after: { ...after, ...(reason !== undefined && { reason }) } })
  return after
}
