// The scheduler of a node: runs each periodic task at its own interval and records how its last run went.
import { type Timer, machineMs, monotonicMs, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import type { Log } from '#core/context.ts'

export interface Task {
  /** unique in the node; the label of its metrics */
  name: string
  /** from the end of a run to the start of the next; a function is called after each run */
  intervalMs: number | (() => number)
  run: () => Promise<unknown>
  /** Of the tasks with the same queue, one runs at a time: together they need one connection to the database. */
  queue?: string
}

/** The history of a task; times are epoch milliseconds. */
export interface TaskRecord {
  name: string
  /** when its last run ended, null before the first */
  lastRunMs: number | null
  durationMs: number
  /** when a run last failed, null if none has; equal to `lastRunMs` while the task is failing */
  lastFailureMs: number | null
}

/** A task that failed is retried after this time, or after its interval if that is shorter. */
const RETRY_MS = 10_000

interface Scheduled extends TaskRecord {
  task: Task
  timer: Timer | null
  /** the current run, or the last one */
  running: Promise<void>
}

/** Starts tasks as they are added, until it is stopped. A failing task never throws here. */
export class Scheduler {
  readonly #log: Log
  readonly #scheduled: Scheduled[] = []
  /** the last run in each queue */
  readonly #queues = new Map<string, Promise<unknown>>()
  #stopped = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Runs the task immediately and then at its interval, never concurrently. A failure is logged when it begins and when it ends. */
  add(task: Task): void {
    const scheduled: Scheduled = {
      task,
      name: task.name,
      timer: null,
      running: Promise.resolve(),
      lastRunMs: null,
      durationMs: 0,
      lastFailureMs: null,
    }
    this.#scheduled.push(scheduled)
    this.#run(scheduled)
  }

  tasks(): readonly TaskRecord[] {
    return this.#scheduled
  }

  /** Runs a task now, after a run in progress; its interval starts again after that. */
  async runNow(name: string): Promise<void> {
    const scheduled = this.#scheduled.find((one) => one.name === name)
    if (!scheduled) throw new Error(`No task is named ${name}`)
    // Of several callers, each waits for the run of the one before.
    for (let last: Promise<void> | null = null; last !== scheduled.running; ) await (last = scheduled.running)
    stopTimer(scheduled.timer)
    this.#run(scheduled)
    await scheduled.running
  }

  /** Starts no further run; resolves when the current runs have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const { timer } of this.#scheduled) stopTimer(timer)
    await Promise.all(this.#scheduled.map(({ running }) => running))
  }

  #run(scheduled: Scheduled): void {
    if (this.#stopped) return
    scheduled.running = this.#inTurn(scheduled).then((succeeded) => {
      if (this.#stopped) return
      const { intervalMs } = scheduled.task
      const waitMs = typeof intervalMs === 'function' ? intervalMs() : intervalMs
      scheduled.timer = startTimer(() => this.#run(scheduled), succeeded ? waitMs : Math.min(waitMs, RETRY_MS)).unref()
    })
  }

  #inTurn(scheduled: Scheduled): Promise<boolean> {
    const { queue } = scheduled.task
    if (queue === undefined) return this.#record(scheduled)
    const run = () => this.#stopped || this.#record(scheduled)
    const running = (this.#queues.get(queue) ?? Promise.resolve()).then(run)
    this.#queues.set(queue, running)
    return running
  }

  /** Runs the task and records the result; returns whether it succeeded. */
  async #record(scheduled: Scheduled): Promise<boolean> {
    const { name, task, lastRunMs, lastFailureMs } = scheduled
    const wasFailing = lastFailureMs !== null && lastFailureMs === lastRunMs
    const started = monotonicMs()
    const failure = await task.run().then(
      () => null,
      (error: unknown) => ({ error }),
    )
    scheduled.durationMs = monotonicMs() - started
    scheduled.lastRunMs = machineMs()
    if (failure) {
      scheduled.lastFailureMs = scheduled.lastRunMs
      if (!wasFailing && !this.#stopped) this.#log.warn({ task: name, err: failure.error }, 'Task failed; retrying')
    } else if (wasFailing) {
      this.#log.info({ task: name }, 'Task succeeded again')
    }
    return failure === null
  }
}
