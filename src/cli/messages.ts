// What the supervisor and the processes that it runs tell each other.
import type { Worker } from 'node:cluster'

/** Which part of the service a process runs. */
export interface Part {
  /** in the log and in metrics: `1` to `API_PROCESSES` serve the public listener */
  name: string
  listeners: { public: boolean; operator: boolean }
  worker: boolean
}

/** How a process ends: at once; told to callers and the proxy before; or while others go on serving its port. */
export type Ending = 'now' | 'drained' | 'replaced'

/** What all processes are told at their start. */
export interface Shared {
  databaseUrl: string
  operatorPort: number
  demoKey: string | null
}

export type ToProcess =
  | ({ kind: 'start'; part: Part } & Shared)
  | { kind: 'end'; how: Ending }
  /** asks for the metrics of this process */
  | { kind: 'metrics'; id: number }
  /** answers what this process asked */
  | { kind: 'others'; id: number; texts: string[] }

export type FromProcess =
  | { kind: 'up' }
  | { kind: 'ready'; publicUrl: string | null; operatorUrl: string | null }
  | { kind: 'failed'; message: string }
  | { kind: 'metrics'; id: number; text: string }
  /** asks for the metrics of the other processes */
  | { kind: 'others'; id: number }

/** Sends a message; a process that has gone gets none, which its exit tells. */
export function tell(worker: Worker, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, () => {})
}

/** Sends a message to the supervisor. */
export function report(message: FromProcess): void {
  process.send!(message, undefined, undefined, () => {})
}
