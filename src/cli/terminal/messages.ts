// Messages between the supervisor and the processes that it runs.
import type { Worker } from 'node:cluster'

/** The part of the service that a process runs. */
export interface ProcessPart {
  /** name in the log and in metrics: `1` to `API_PROCESSES` serve the public listener */
  name: string
  listeners: { public: boolean; operator: boolean }
  worker: boolean
}

/** How a process ends: immediately; after draining clients; or while other processes continue to serve its port. */
export type Ending = 'now' | 'drained' | 'replaced'

/** Start parameters of all processes. */
export interface StartParameters {
  databaseUrl: string
  operatorPort: number
  demoKey: string | null
}

export type ToProcess =
  | ({ kind: 'start'; part: ProcessPart } & StartParameters)
  | { kind: 'end'; how: Ending }
  /** requests the metrics of this process */
  | { kind: 'metrics'; id: number }
  /** the response to a request for metrics */
  | { kind: 'others'; id: number; texts: string[] }

export type FromProcess =
  | { kind: 'up' }
  | { kind: 'ready'; publicUrl: string | null; operatorUrl: string | null }
  | { kind: 'failed'; message: string }
  | { kind: 'metrics'; id: number; text: string }
  /** requests the metrics of the other processes */
  | { kind: 'others'; id: number }

/** Sends a message to a process. Messages to a process that has ended are dropped: its exit event follows. */
export function sendToProcess(worker: Worker, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, () => {})
}

/** Sends a message to the supervisor. */
export function sendToSupervisor(message: FromProcess): void {
  process.send!(message, undefined, undefined, () => {})
}
