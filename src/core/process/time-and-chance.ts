// The clock, the timers and the chance of this process: no other file reads them, so a simulation can give them from a seed.
import { randomUUID } from 'node:crypto'
import { setTimeout as machineDelay } from 'node:timers/promises'

/** A timer that was started; `unref` lets the process end before it. */
export interface Timer {
  unref(): this
}

interface DelayOptions {
  signal?: AbortSignal
  /** whether the process waits for it; default: true */
  ref?: boolean
}

/** Where this process gets time and chance from. */
export interface TimeAndChance {
  /** epoch milliseconds by the machine's clock */
  machineMs(): number
  /** milliseconds since any moment, which never go back */
  monotonicMs(): number
  /** a number from 0 to 1, without 1 */
  chance(): number
  /** a UUID; not a secret */
  newId(): string
  startTimer(run: () => void, ms: number): Timer
  startInterval(run: () => void, ms: number): Timer
  stopTimer(timer: Timer): void
  /** Resolves after this time; rejects if the signal is aborted before. */
  delay(ms: number, options?: DelayOptions): Promise<void>
}

const machine: TimeAndChance = {
  machineMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  chance: () => Math.random(),
  newId: () => randomUUID(),
  startTimer: (run, ms) => setTimeout(run, ms),
  startInterval: (run, ms) => setInterval(run, ms),
  stopTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
  delay: (ms, options) => machineDelay(ms, undefined, options),
}

let source = machine

/** Replaces time and chance of the whole process, for a simulation; call what it returns to end that. */
export function replaceTimeAndChance(by: Partial<TimeAndChance>): () => void {
  const before = source
  source = { ...before, ...by }
  return () => {
    source = before
  }
}

/**
 * Epoch milliseconds by the machine's clock, for what concerns processes and machines, such as the age of a file. What the product
 * promises (expiry, retries, retention) goes by the node's `now`, which may be moved.
 */
export function machineMs(): number {
  return source.machineMs()
}

/** The machine's time as a date: the `now` of commands. */
export function machineNow(): Date {
  return new Date(source.machineMs())
}

/** Milliseconds that never go back, for durations, time-outs and leases in memory. */
export function monotonicMs(): number {
  return source.monotonicMs()
}

/** A number from 0 to 1, without 1, for delays and samples. A node has its own, `random`, for what its clients can see. */
export function chance(): number {
  return source.chance()
}

/** A UUID for names and references; secrets come from `secret-bytes.ts`. */
export function newId(): string {
  return source.newId()
}

/** Calls `run` once after this time. */
export function startTimer(run: () => void, ms: number): Timer {
  return source.startTimer(run, ms)
}

/** Calls `run` again and again, always after this time. */
export function startInterval(run: () => void, ms: number): Timer {
  return source.startInterval(run, ms)
}

/** Stops a timer or an interval; one that has ended or was never started is ignored. */
export function stopTimer(timer: Timer | null | undefined): void {
  if (timer) source.stopTimer(timer)
}

/** Resolves after this time; rejects if the signal is aborted before. */
export function delay(ms: number, options?: DelayOptions): Promise<void> {
  return source.delay(ms, options)
}

/** A signal that is aborted after this time, as `AbortSignal.timeout`: it does not keep the process running. */
export function timeoutSignal(ms: number): AbortSignal {
  const timeout = new AbortController()
  startTimer(() => timeout.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms).unref()
  return timeout.signal
}
