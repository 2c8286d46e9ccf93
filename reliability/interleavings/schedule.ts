// The vocabulary of schedules: steps, what callers learn, and the trace that identifies a run.
import { createHash } from 'node:crypto'
import { ServiceError } from '#core/errors.ts'
import { isUnavailable } from '#db/connection/transaction.ts'
import { normalisedText } from './baseline.ts'
import type { Footprint } from './footprint.ts'

/** What happens to the next message of a write: it passes, or it or its answer is lost with the connection, or the server process ends. */
export type Action = 'pass' | 'lose request' | 'lose answer' | 'terminate'

export interface Step {
  /** number of the write in its schedule */
  who: number
  action: Action
  text: string
  /** of its parameters, as one text */
  values: string
  /** 'ok' with command tags, 'waits', or an SQLSTATE */
  result: string
  footprint: Footprint
  /** writes that could have taken this step instead */
  enabled: number[]
}

export type Outcome = { kind: 'done' | 'refused' | 'lost' | 'failed'; text: string }

export interface Played {
  steps: Step[]
  outcomes: Outcome[]
}

/** Chooses the next step. @param next texts of the next messages by write; a delay has none @param steps those taken so far */
export type Choose = (enabled: number[], next: ReadonlyMap<number, string>, steps: readonly Step[]) => { who: number; action?: Action }

/** What the caller of a write learns from its error. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof ServiceError) return { kind: 'refused', text: `${error.code}: ${normalisedText(error.message)}` }
  if (isUnavailable(error)) return { kind: 'lost', text: '' }
  const { message, code } = error as { message: string; code?: string }
  return { kind: 'failed', text: `${code ?? ''} ${message}` }
}

/** What happened, a line for each step and each outcome: the same seed gives the same trace. */
export function traceOf({ steps, outcomes }: Played): string[] {
  const taken = steps.map(({ who, action, text, result }) => `${who} ${action} ${text.replace(/\s+/g, ' ').trim()} → ${result}`)
  return [...taken, ...outcomes.map(({ kind, text }) => `${kind} ${text}`)]
}

export function hashOf(trace: readonly string[]): string {
  return createHash('sha256').update(trace.join('\n')).digest('hex').slice(0, 16)
}
