// Worker task that compares each watched goal with its collection once a day, and tells those that were complete and are so no longer.
import type { Completion } from '#collections/completion/completion-types.ts'
import { type CompletionCtx, readCompletion } from '#collections/completion/read-completion.ts'
import { ServiceError } from '#core/errors.ts'
import { OPERATION_PLAN, planAllows } from '#core/plans.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { emitReopened } from '#webhooks/emit.ts'
import type { ReopenedGoal } from '#webhooks/events/event-body.ts'
import { type DueGoal, dueGoals, type SettledGoal, settleGoals } from './goal-store.ts'
import { type TellCtx, todayIn } from './tell-watches.ts'

export type GoalCtx = TellCtx & WriteCtx & Omit<CompletionCtx, 'viewer' | 'market'>

/** Goals that are read before their results are stored in one transaction, with at most as many events. */
const GOALS_AT_ONCE = 20
/** Goals of a run: the others wait for the next one, a few seconds later. */
const GOALS_PER_RUN = 500
/** Missing cards that an event names. */
const NAMED_CARDS = 5

interface Compared extends SettledGoal {
  of: DueGoal
  found: Completion | null
}

/** Compares the goals that are due. If several workers do it at once, the first one that stores a result tells it, and the others do nothing. */
export async function tellGoals(ctx: GoalCtx): Promise<void> {
  for (let compared = 0; compared < GOALS_PER_RUN; compared += GOALS_AT_ONCE) {
    const today = todayIn(ctx)
    const due = await dueGoals(ctx.db.kysely, today, GOALS_AT_ONCE)
    if (due.length === 0) return
    // Items that were merged a moment ago would count as two cards.
    await ctx.caughtUp()
    const results: Compared[] = []
    const failures: unknown[] = []
    for (const goal of due) {
      // One that cannot be read must not hold up the others: it is due again tomorrow.
      const failed = (error: unknown) => void failures.push(error)
      results.push((await compare(ctx, goal).catch(failed)) ?? unchanged(goal))
    }
    await change(ctx, async (tx) => {
      const rows = results.map(({ id, dueDay, complete, isTold }) => ({ id, dueDay, complete, isTold }))
      const stored = await settleGoals(tx, rows, today)
      const reopened = results
        .filter(({ id, isTold }) => isTold && stored.has(id))
        .map(({ of, found }) => ({ accountId: of.accountId, goal: reopenedGoal(of, found!) }))
        .toSorted((a, b) => a.accountId - b.accountId || a.goal.watch_id - b.goal.watch_id)
      await emitReopened(tx, { now: ctx.now(), zone: ctx.market.timeZone }, reopened)
    })
    if (failures.length > 0) throw failures[0]
  }
}

function unchanged(of: DueGoal): Compared {
  return { of, id: of.id, dueDay: of.dueDay, complete: of.complete, isTold: false, found: null }
}

async function compare(ctx: GoalCtx, of: DueGoal): Promise<Compared> {
  const { id, dueDay, complete: before, plan, suspended } = of
  if (suspended || !planAllows(plan, OPERATION_PLAN.listWatches)) return unchanged(of)
  let found = await readGoal(ctx, of)
  if (before && found && !isComplete(found)) {
    // A merge between the two reads would look like a missing card.
    await ctx.caughtUp()
    found = await readGoal(ctx, of)
  }
  if (!found) return unchanged(of)
  const complete = isComplete(found)
  return { of, id, dueDay, complete, isTold: before === true && !complete, found }
}

function isComplete({ owned, of }: Completion): boolean {
  return owned === of
}

/** Null if nothing can be compared: the set has no card of the goal or too many, or it or the collection has been deleted. */
async function readGoal(ctx: GoalCtx, { accountId, plan, ...of }: DueGoal): Promise<Completion | null> {
  const { collectionId: id, categoryId: category_id, goal, language } = of
  const viewer = { kind: 'account', accountId, plan, keyId: 0, readOnly: true } as const
  try {
    const { data } = await readCompletion.run({ ...ctx, viewer }, { id, category_id, goal, language, per_page: NAMED_CARDS })
    return Array.isArray(data) || data.of === 0 ? null : data
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return null
    throw error
  }
}

function reopenedGoal({ id, ...of }: DueGoal, found: Completion): ReopenedGoal {
  return {
    watch_id: id,
    collection_id: of.collectionId,
    collection_name: of.collectionName,
    category_id: of.categoryId,
    category_name: of.categoryName,
    goal: of.goal,
    language: of.language,
    of: found.of,
    missing_count: found.of - found.owned,
    missing: found.missing.map(({ item_id, name, number }) => ({ item_id, name, number })),
  }
}
