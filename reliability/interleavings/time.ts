// Delays and chance of the service under simulation: a delay of a write is a step that the schedule takes, and chance is constant.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { replaceTimeAndChance } from '#core/process/time-and-chance.ts'

/** Told about each delay that a write begins; calls `end` when the schedule lets it pass. */
type OnDelay = (end: () => void) => void

const running = new AsyncLocalStorage<OnDelay>()
/** Notices are sent in batches, which does not concern the order of writes. */
const GATHERING_MS = 5

/** Runs a write whose delays are steps. */
export function withDelays<Result>(onDelay: OnDelay, run: () => Promise<Result>): Promise<Result> {
  return running.run(onDelay, run)
}

export function realPause(ms: number): Promise<void> {
  return pause(ms)
}

/** Replaces delays and chance of this process until the returned function is called. */
export function replaceTime(): () => void {
  return replaceTimeAndChance({
    chance: () => 0.25,
    delay: (ms, options) => {
      const onDelay = running.getStore()
      if (!onDelay) return pause(ms, undefined, options)
      return ms === GATHERING_MS ? Promise.resolve() : new Promise((resolve) => onDelay(resolve))
    },
  })
}
