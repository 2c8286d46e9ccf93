// Threads of uploaded imports: a thread whose import ended waits a while for the next one, because most files take less time than loading the importers.
import { Worker } from 'node:worker_threads'
import { type Timer, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import { MINUTE_MS } from '#core/duration.ts'
import type { ImportJob } from './worker.ts'

const IDLE_MS = MINUTE_MS
const YOUNG_MB = 32

/** The thread of this process that waits for an import, at most one. It does not keep the process running. */
let idle: { worker: Worker; heapMb: number; timer: Timer } | null = null

export interface RunningImport {
  /** when the thread has recorded the result of the import; rejects with the error that ended the thread */
  ended: Promise<void>
  /** ends the thread; its transaction is rolled back */
  stop: () => Promise<unknown>
}

/** Runs an import in a thread with this maximum heap. Exceeding it ends only the thread, never the process. */
export function runInThread(job: ImportJob, heapMb: number): RunningImport {
  const worker = takeIdle(heapMb) ?? startThread(heapMb)
  let isOver = false
  const ended = new Promise<void>((resolve, reject) => {
    let error: Error | null = null
    const onError = (thrown: Error) => {
      error = thrown
    }
    const onExit = () => (error ? reject(error) : resolve())
    worker.once('message', () => {
      isOver = true
      worker.off('error', onError).off('exit', onExit)
      wait(worker, heapMb)
      resolve()
    })
    worker.on('error', onError).on('exit', onExit)
  })
  worker.ref()
  worker.postMessage(job)
  return { ended, stop: async () => isOver || worker.terminate() }
}

function startThread(heapMb: number): Worker {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    name: 'import',
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  // An error while it waits concerns no import.
  worker.on('error', () => {})
  worker.on('exit', () => {
    if (idle?.worker === worker) idle = null
  })
  return worker
}

function takeIdle(heapMb: number): Worker | null {
  if (idle?.heapMb !== heapMb) return null
  const { worker, timer } = idle
  stopTimer(timer)
  idle = null
  return worker
}

/** Lets the thread wait for the next import, unless another one waits already. */
function wait(worker: Worker, heapMb: number): void {
  if (idle) {
    void worker.terminate()
    return
  }
  const end = () => {
    idle = null
    void worker.terminate()
  }
  worker.unref()
  idle = { worker, heapMb, timer: startTimer(end, IDLE_MS).unref() }
}
