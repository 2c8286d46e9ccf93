// Runs a service as several processes on the same ports: starts them, replaces those that end, and restarts them one by one.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { delay, monotonicMs, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import type { Log } from '#core/context.ts'
import { type Ending, type FromProcess, type ProcessPart, type StartParameters, sendToProcess } from '../terminal/messages.ts'

export interface SupervisorOptions {
  parts: readonly ProcessPart[]
  shared: StartParameters
  log: Log
}

export interface Supervisor {
  publicUrl: string | null
  operatorUrl: string | null
  /** Replaces one process after the other; each serves until its successor is ready. */
  restart: () => Promise<void>
  /** Drains clients, then ends all processes. */
  drain: () => Promise<void>
  /** Ends all processes. */
  close: () => Promise<void>
}

/** A process that is replaced whenever it ends. */
interface Slot {
  readonly part: ProcessPart
  /** null while no process serves */
  serving: Worker | null
  servingSinceMs: number
  /** consecutive ends shortly after the start */
  quickEnds: number
  /** number of unexpected ends */
  ends: number
}

interface Started {
  worker: Worker
  publicUrl: string | null
  operatorUrl: string | null
}

/** A process that has served for this long is replaced immediately when it ends. */
const STEADY_MS = 60_000
const FIRST_WAIT_MS = 250
const MAX_WAIT_MS = 30_000
/** How long a process may take to end; longer than all of its own timeouts. */
const END_MS: Record<Ending, number> = { now: 10_000, drained: 20_000, replaced: 90_000 }
/** A process that does not respond in this time is left out of metrics. */
const METRICS_MS = 2_000

/**
 * Starts all processes and resolves when they serve.
 * @throws Error of a process that could not start; the others are ended
 */
export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  // The supervisor accepts connections and passes them on, so that none is queued at a process that ends.
  cluster.schedulingPolicy = cluster.SCHED_RR
  const processes = new Processes(options)
  try {
    const addresses = await processes.start()
    return { ...addresses, restart: () => processes.restart(), drain: () => processes.endAll('drained'), close: () => processes.endAll('now') }
  } catch (error) {
    await processes.endAll('now')
    throw error
  }
}

class Processes {
  readonly #options: SupervisorOptions
  readonly #running = new Set<Worker>()
  readonly #slots: Slot[]
  readonly #metrics: ReturnType<typeof metricsExchange>
  #stopping = false
  #restarting = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#slots = options.parts.map((part) => ({ part, serving: null, servingSinceMs: 0, quickEnds: 0, ends: 0 }))
    this.#metrics = metricsExchange(this.#slots)
  }

  /** Starts a process for each part. @throws Error of a process that could not start */
  async start(): Promise<{ publicUrl: string | null; operatorUrl: string | null }> {
    const started = await Promise.all(this.#options.parts.map((part) => this.#launch(part)))
    started.forEach(({ worker }, i) => this.#serve(this.#slots[i]!, worker))
    const publicUrl = started.find((each) => each.publicUrl)?.publicUrl ?? null
    const operatorUrl = started.find((each) => each.operatorUrl)?.operatorUrl ?? null
    return { publicUrl, operatorUrl }
  }

  async endAll(how: Ending): Promise<void> {
    this.#stopping = true
    await Promise.all([...this.#running].map((worker) => this.#end(worker, how)))
  }

  /** Replaces the processes one by one. */
  async restart(): Promise<void> {
    const { log } = this.#options
    if (this.#restarting || this.#stopping) {
      log.warn({}, 'SIGUSR2 ignored: the processes are already restarting or stopping')
      return
    }
    this.#restarting = true
    log.info({ processes: this.#slots.length }, 'Restarting the processes one by one')
    try {
      for (const slot of this.#slots) {
        const { worker } = await this.#launch(slot.part)
        if (this.#stopping) return
        const before = slot.serving
        slot.quickEnds = 0
        this.#serve(slot, worker)
        if (before) await this.#end(before, 'replaced')
      }
      log.info({}, 'All processes restarted')
    } catch (error) {
      if (!this.#stopping) log.error({ err: error }, 'Restart failed: the new process does not start; keeping the running ones')
    } finally {
      this.#restarting = false
    }
  }

  #launch(part: ProcessPart): Promise<Started> {
    const { shared } = this.#options
    const worker = cluster.fork()
    this.#running.add(worker)
    return new Promise((resolve, reject) => {
      let problem: string | null = null
      worker.on('message', (message: FromProcess) => {
        if (message.kind === 'up') sendToProcess(worker, { kind: 'start', part, ...shared })
        else if (message.kind === 'ready') resolve({ worker, publicUrl: message.publicUrl, operatorUrl: message.operatorUrl })
        else if (message.kind === 'failed') problem = message.message
        else if (message.kind === 'metrics') this.#metrics.answered(message.id, message.text)
        else void this.#metrics.ofOthers(worker).then((texts) => sendToProcess(worker, { kind: 'others', id: message.id, texts }))
      })
      const onExit = (why: string) => {
        this.#running.delete(worker)
        reject(new Error(problem ?? `Process ${part.name} ended at its start: ${why}`))
      }
      worker.once('error', (error) => onExit(error.message))
      worker.once('exit', (code, signal) => onExit(String(signal ?? code)))
    })
  }

  #serve(slot: Slot, worker: Worker): void {
    const { log } = this.#options
    if (worker.isDead()) return void this.#replace(slot)
    slot.serving = worker
    slot.servingSinceMs = monotonicMs()
    worker.once('exit', (code, signal) => {
      if (slot.serving !== worker) return
      slot.serving = null
      if (this.#stopping) return
      slot.ends += 1
      slot.quickEnds = monotonicMs() - slot.servingSinceMs < STEADY_MS ? slot.quickEnds + 1 : 0
      log.error({ process: slot.part.name, pid: worker.process.pid, ended: signal ?? code }, 'A process ended; starting another')
      void this.#replace(slot)
    })
  }

  async #replace(slot: Slot): Promise<void> {
    const { log } = this.#options
    for (;;) {
      if (slot.quickEnds > 0) await delay(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (slot.quickEnds - 1)))
      if (this.#stopping || slot.serving) return
      try {
        const { worker } = await this.#launch(slot.part)
        // A restart may have replaced it already.
        if (slot.serving) await this.#end(worker, 'replaced')
        else this.#serve(slot, worker)
        return
      } catch (error) {
        if (this.#stopping) return
        slot.quickEnds += 1
        log.error({ err: error, process: slot.part.name }, 'Failed to start a process; retrying')
      }
    }
  }

  async #end(worker: Worker, how: Ending): Promise<void> {
    const { log } = this.#options
    if (worker.isDead() || !this.#running.has(worker)) return
    const exit = once(worker, 'exit')
    sendToProcess(worker, { kind: 'end', how })
    const late = startTimer(() => {
      log.warn({ pid: worker.process.pid }, 'A process did not end in time; killing it')
      worker.process.kill('SIGKILL')
    }, END_MS[how])
    await exit
    stopTimer(late)
  }
}

/** Collects the metrics of processes, and adds those of the supervisor. */
function metricsExchange(slots: readonly Slot[]) {
  const requests = new Map<number, (text: string) => void>()
  let lastId = 0
  const ask = async (worker: Worker): Promise<string> => {
    const id = (lastId += 1)
    const answer = new Promise<string>((resolve) => requests.set(id, resolve))
    sendToProcess(worker, { kind: 'metrics', id })
    const waiting = new AbortController()
    const nothing = () => ''
    const text = await Promise.race([answer, delay(METRICS_MS, { signal: waiting.signal }).then(nothing, nothing)])
    waiting.abort()
    requests.delete(id)
    return text
  }
  return {
    answered: (id: number, text: string): void => requests.get(id)?.(text),
    ofOthers: async (asking: Worker): Promise<string[]> => {
      const others = slots.flatMap(({ serving }) => (serving && serving !== asking ? [serving] : []))
      return [slotMetrics(slots), ...(await Promise.all(others.map(ask)))]
    },
  }
}

function slotMetrics(slots: readonly Slot[]): string {
  const samples = (name: string, value: (slot: Slot) => number) => slots.map((slot) => `${name}{process="${slot.part.name}"} ${value(slot)}`)
  return [
    '# HELP mintmark_process_up Whether the process serves',
    '# TYPE mintmark_process_up gauge',
    ...samples('mintmark_process_up', ({ serving }) => (serving ? 1 : 0)),
    '# HELP mintmark_process_ends_total Times that the process ended without being told to, and was replaced',
    '# TYPE mintmark_process_ends_total counter',
    ...samples('mintmark_process_ends_total', ({ ends }) => ends),
    '',
  ].join('\n')
}
