// Runs background work against a clock that is moved instead of waited for: it jumps from one due time to the next and runs what is due there.
// Sandboxes advance with it, and simulations of long periods.

/** Work that becomes due at times that its data or the calendar tell. */
export interface DueWork {
  /** unique in its list; the order of the list is the order at one moment */
  name: string
  /**
   * When it is due next: a time that has passed if it is due already, null if nothing waits.
   * @param after for work of the calendar: everything up to and including this time has run
   */
  next: (after: Date) => Promise<Date | null> | Date | null
  run: () => Promise<unknown>
}

/** A clock that only moves forward, when it is told to. */
export interface MovableClock {
  now: () => Date
  moveTo: (at: Date) => Promise<void> | void
}

export interface DuePeriod {
  work: readonly DueWork[]
  clock: MovableClock
  /** inclusive: work that is due at this time runs as well */
  to: Date
  /** called after each run, for reports; may throw to end the period between two runs */
  ran?: (name: string, at: Date) => Promise<void> | void
}

/** Work that is still due after so many runs at one moment waits for the next moment: something else, such as a lock, holds it up. */
const RUNS_AT_ONCE = 50

/**
 * Moves the clock to `to`, stopping at every time at which work is due. What happens depends only on the data and the times, not on how a period is
 * divided: two periods of a day do the same as one of two days.
 */
export async function runDueWork({ work, clock, to, ran }: DuePeriod): Promise<void> {
  let after = clock.now()
  const runs = new Map<DueWork, number>()
  for (;;) {
    const due = await dueTimes(work, after)
    const waiting = due.filter(({ one }) => (runs.get(one) ?? 0) < RUNS_AT_ONCE)
    const first = Math.min(...waiting.map(({ atMs }) => atMs))
    if (!(first <= to.getTime())) break
    if (first > clock.now().getTime()) {
      await clock.moveTo(new Date(first))
      runs.clear()
    }
    const at = clock.now()
    for (const { one, atMs } of waiting) {
      if (atMs > at.getTime()) continue
      runs.set(one, (runs.get(one) ?? 0) + 1)
      await one.run()
      await ran?.(one.name, at)
    }
    after = at
  }
  if (to > clock.now()) await clock.moveTo(to)
}

async function dueTimes(work: readonly DueWork[], after: Date): Promise<{ one: DueWork; atMs: number }[]> {
  const due: { one: DueWork; atMs: number }[] = []
  for (const one of work) {
    const at = await one.next(after)
    if (at !== null) due.push({ one, atMs: at.getTime() })
  }
  return due
}
