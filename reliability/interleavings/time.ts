// Delays and chance of the service under simulation: a delay of a write is a step that the schedule takes, and chance is constant.
import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

/** Told about each delay that a write begins; calls `end` when the schedule lets it pass. */
export type OnDelay = (end: () => void) => void

const running = new AsyncLocalStorage<OnDelay>()
const realDelay = timers.setTimeout
const GATHERING_MS = 5

/** Runs a write whose delays are steps. */
export function withDelays<Result>(onDelay: OnDelay, run: () => Promise<Result>): Promise<Result> {
  return running.run(onDelay, run)
}

export function realPause(ms: number): Promise<void> {
  return realDelay(ms)
}

/** Replaces delays and chance of this process until the returned function is called. */
export function replaceTime(): () => void {
  const { random } = Math
  const replaced = (ms: number, value: unknown, options: never): Promise<unknown> => {
    const onDelay = running.getStore()
    if (!onDelay) return realDelay(ms, value, options)
    // Notices are sent in batches; that does not concern the order of writes.
    if (ms === GATHERING_MS) return Promise.resolve(value)
    return new Promise<unknown>((resolve) => onDelay(() => resolve(value)))
  }
  timers.setTimeout = replaced as typeof timers.setTimeout
  Math.random = () => 0.25
  syncBuiltinESMExports()
  return () => {
    timers.setTimeout = realDelay
    Math.random = random
    syncBuiltinESMExports()
  }
}
