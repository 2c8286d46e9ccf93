// Moves the clock of a sandbox forward: everything that becomes due runs at its time, in order.
import { DAY_MS } from '#core/duration.ts'
import { invalid, ServiceError } from '#core/errors.ts'
import { moment, momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { delay, monotonicMs } from '#core/process/time-and-chance.ts'
import { earlierResult } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { runDueWork } from '#jobs/due-work.ts'
import { FiredReport } from './fired.ts'
import { type SandboxCtx, storedResult, worldOf } from './sandbox-context.ts'
import { sandboxOf } from './sandbox-store.ts'
import type { Sandbox } from './sandbox-types.ts'
import { isTooLarge } from './size-limit.ts'
import { LeaseLostError, StopWork, type Work, type World } from './world.ts'

/** Of one call. */
const MAX_DAYS = 400
/** How long a call may work; it can be continued. */
const SLICE_MS = 60_000
/** How long a response waits for the end of the work. */
const WAIT_MS = 10_000
const DURATION = '^P(?=[0-9T])([0-9]{1,4}Y)?([0-9]{1,4}M)?([0-9]{1,4}W)?([0-9]{1,5}D)?(T(?=[0-9])([0-9]{1,6}H)?([0-9]{1,7}M)?([0-9]{1,8}S)?)?$'
const DURATION_RULE = reason('duration', { example: 'P30D', days: MAX_DAYS })

export const advanceSandbox = writeVerb(
  {
    name: 'advanceSandbox',
    needs: OPERATION_PLAN.advanceSandbox,
    keys: 'test',
    rehearsable: false,
    input: Type.Object({
      to: Type.Optional(moment(`Time to move to; not before the time of the sandbox, and at most ${MAX_DAYS} days after it`)),
      by: Type.Optional(
        Type.String({
          pattern: DURATION,
          maxLength: 60,
          allowed: DURATION_RULE,
          description: `ISO 8601 duration to move by, of at most ${MAX_DAYS} days; \`PT0S\` runs what is due already. Either this or \`to\``,
          examples: ['P30D'],
        }),
      ),
    }),
  },
  async (ctx: SandboxCtx, { to, by }): Promise<Sandbox> => {
    const world = worldOf(ctx)
    if ((to === undefined) === (by === undefined)) throw invalid('to', 'to_or_by', { field: 'to', name: 'by' })
    const end = to === undefined ? null : momentOf('to', to)
    const done = world.home.work(world.id, async (work) => {
      const earlier = await earlierResult<Sandbox>(ctx)
      if (!earlier) await advance(world, work, end ?? later(work.row.now, by!, ctx.market.timeZone))
    })
    return storedResult(ctx, await afterWork(world, done))
  },
)

/** The sandbox when the work has ended, or as it is after a while. @throws the refusal of the work */
export async function afterWork(world: World, done: Promise<unknown>): Promise<Sandbox> {
  const ended = done.catch((error: unknown) => {
    // The row says why work has ended early.
    if (!(error instanceof StopWork || error instanceof LeaseLostError) && error instanceof ServiceError) throw error
  })
  ended.catch(() => {})
  await Promise.race([ended, delay(WAIT_MS, { ref: false })])
  return sandboxOf(await world.home.row(world.id))
}

/**
 * Runs everything that is due until a time, inclusive.
 * @throws VALIDATION_ERROR if the time is before that of the sandbox, or too far ahead
 */
export async function advance(world: World, work: Work, to: Date): Promise<void> {
  const { clock } = world
  const { now } = work.row
  if (to < now) throw invalid('to', 'not_before', { from: now.toISOString() })
  if (to.getTime() - now.getTime() > MAX_DAYS * DAY_MS) throw invalid('to', 'days_ahead', { days: MAX_DAYS })
  await clock.moveTo(now)
  await world.catchUp()
  const startedMs = monotonicMs()
  const report = new FiredReport(world)
  await report.begin()
  const moveTo = async (at: Date) => {
    // Stored first: nothing happens at a time that another node does not know.
    await work.keep({ now: at, fired: report.fired, firedTotal: report.total })
    if (monotonicMs() - startedMs > SLICE_MS) throw new StopWork('time_limit')
    if (await isTooLarge(world)) throw new StopWork('size_limit')
    await clock.moveTo(at)
  }
  await runDueWork({ work: world.work, clock: { now: clock.now, moveTo }, to, ran: (name, at) => report.add(name, at) })
  await work.keep({ now: to, fired: report.fired, firedTotal: report.total })
}

/** By the calendar of the service's zone: a day can have 23 hours. */
function later(now: Date, by: string, zone: string): Date {
  try {
    return new Date(Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone).add(Temporal.Duration.from(by)).epochMilliseconds)
  } catch {
    throw invalid('by', 'duration', { example: 'P30D', days: MAX_DAYS, value: by })
  }
}
