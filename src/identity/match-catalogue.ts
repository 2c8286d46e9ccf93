// Matches the whole catalogue to its sources: creates records for items without any, matches the records, and merges duplicates.
import { sql } from 'kysely'
import { adoptItems } from '#catalogue/items/adopt-items.ts'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { type Static, Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import type { World } from './records/game-records.ts'
import { SealedAliasRows, setSealedAliases } from './records/sealed-aliases.ts'
import { settle } from './merge/settle.ts'

/** The result for one world of a game. */
export interface MatchedWorld {
  game: string
  /** a language family of cards, or `sealed` */
  world: string
  /** numbers of items that are new, changed, merged into others, or removed because their records are pending */
  created: number
  updated: number
  merged: number
  emptied: number
  /** cards and products that are pending a decision */
  waiting: number
  /** number of linked records by method */
  methods: Record<string, number>
  /** the first merges, as item ids */
  merges: { from: number; into: number }[]
}

export interface MatchReport {
  dry_run: boolean
  /** items that had no source record yet */
  adopted: number
  worlds: MatchedWorld[]
}

export interface MatchCtx extends PriceWriteCtx {
  /** called as the run progresses */
  onProgress?: (step: { adopted: number; game: string | null }) => void
}

type Aliases = Static<typeof SealedAliasRows>

/** Number of items that get their records in one transaction; finished batches remain if the run is stopped. */
const ADOPTED_AT_ONCE = 10_000
const SHOWN_MERGES = 100

class DryRun extends Error {
  readonly report: MatchReport

  constructor(report: MatchReport) {
    super('dry run')
    this.report = report
  }
}

/**
 * Matches all records. Reads and most writes continue meanwhile; only catalogue imports and merges wait. A run that was stopped continues where it
 * left off when it is started again.
 */
export const matchCatalogue = verb(
  {
    name: 'matchCatalogue',
    needs: 'catalogue',
    input: Type.Object({
      dry_run: Type.Optional(Type.Boolean({ description: 'Only report; change nothing' })),
      sealed_aliases: Type.Optional(SealedAliasRows),
    }),
  },
  (ctx: MatchCtx, { dry_run: dryRun = false, sealed_aliases: aliases }): Promise<MatchReport> =>
    dryRun ? matchedDryRun(ctx, aliases) : matched(ctx, aliases),
)

async function matched(ctx: MatchCtx, aliases: Aliases | undefined): Promise<MatchReport> {
  if (aliases) await change(ctx, (tx, note) => setSealedAliases(tx, note, aliases))
  let adopted = 0
  for (;;) {
    const more = await change(ctx, async (tx, { at }) => {
      await lockIdentity(tx)
      return adoptItems(tx, at, { most: ADOPTED_AT_ONCE })
    })
    adopted += more
    ctx.onProgress?.({ adopted, game: null })
    if (more === 0) break
  }
  const worlds: MatchedWorld[] = []
  for (const world of await worldsOf(ctx.db.kysely)) {
    ctx.onProgress?.({ adopted, game: world.game })
    worlds.push(
      await change(ctx, async (tx, note) => {
        await lockIdentity(tx)
        const outcome = await matchWorld(ctx, tx, note, world)
        note.audit({ action: 'catalogue.match', subject: 'game', id: world.game, after: { ...outcome, merges: undefined } })
        return outcome
      }),
    )
  }
  return { dry_run: false, adopted, worlds }
}

/** Runs everything in a transaction that is rolled back. */
async function matchedDryRun(ctx: MatchCtx, aliases: Aliases | undefined): Promise<MatchReport> {
  try {
    return await change(ctx, async (tx, note): Promise<MatchReport> => {
      await lockIdentity(tx)
      if (aliases) await setSealedAliases(tx, note, aliases)
      const adopted = await adoptItems(tx, note.at)
      ctx.onProgress?.({ adopted, game: null })
      const worlds: MatchedWorld[] = []
      for (const world of await worldsOf(tx)) {
        ctx.onProgress?.({ adopted, game: world.game })
        worlds.push(await matchWorld(ctx, tx, note, world))
      }
      throw new DryRun({ dry_run: true, adopted, worlds })
    })
  } catch (error) {
    if (error instanceof DryRun) return error.report
    throw error
  }
}

async function worldsOf(on: PriceWriteCtx['db']['kysely']): Promise<World[]> {
  const { rows } = await sql<World>`select distinct game, world from source_records where active order by game, world`.execute(on)
  return rows
}

async function matchWorld(ctx: MatchCtx, tx: Tx, note: Note, world: World): Promise<MatchedWorld> {
  const { created, updated, merged, emptied, waiting, methods } = await settle(ctx, tx, note, world, { importId: null, touched: new Set() })
  return { ...world, created, updated, merged: merged.length, emptied, waiting, methods, merges: merged.slice(0, SHOWN_MERGES) }
}
