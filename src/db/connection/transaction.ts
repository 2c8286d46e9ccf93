// Transactions that are retried after a deadlock, a serialisation failure or a broken reference, and how a lost database is detected.
import type { IsolationLevel, Kysely, Transaction } from 'kysely'
import { chance, delay } from '#core/process/time-and-chance.ts'
import { announceAfter } from './announce.ts'
import { DatabaseSilentError } from './connection-watch.ts'
import { NoServerError } from './servers.ts'

/**
 * serialization_failure, deadlock_detected, and foreign_key_violation: a referenced row was deleted between reading and
 * writing, such as an item that was merged. On a retry it has another id or the write is rejected.
 */
const RETRYABLE = new Set(['40001', '40P01', '23503'])

/** The system's codes, then PostgreSQL's: connection failure, standby, shutdown, crash, start. */
const LOST_CODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|25006|57P0[1235])$/
/** Disk or space full. */
const FULL_CODE = /^(53...|58030)$/
const UNAVAILABLE_MESSAGE = /^(timeout exceeded when trying|Client (has encountered|was closed))/

/** A concurrent transaction has written what this one was about to write: `inTransaction` starts it again, and it sees that write. */
export class ConcurrentWriteError extends Error {
  readonly code = '40001'

  constructor() {
    super('written concurrently')
  }
}

export interface TransactionOptions {
  isolation?: IsolationLevel
  /** Maximum attempts; 5 unless set. */
  attempts?: number
}

/**
 * Runs `run` in a transaction, commits and sends its notices (`announce`); any error rolls back. After a deadlock, a serialisation
 * failure or a broken reference (also at the commit itself) `run` starts again, so it must have no effects outside the
 * database.
 */
export function inTransaction<Schema, Result>(
  db: { kysely: Kysely<Schema> },
  run: (tx: Transaction<Schema>) => Promise<Result>,
  { isolation, attempts = 5 }: TransactionOptions = {},
): Promise<Result> {
  return retrying(() => {
    const transaction = db.kysely.transaction()
    return announceAfter(db.kysely, run, (ran) => (isolation ? transaction.setIsolationLevel(isolation) : transaction).execute(ran))
  }, attempts)
}

/** Retries what one of the `RETRYABLE` errors has rolled back: a transaction, or a single statement. */
export async function retrying<Result>(run: () => Promise<Result>, attempts = 5): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt >= attempts || !RETRYABLE.has(codeOf(error))) throw error
      // Attempts that collided must not collide again: a random share of 10, 20, 40... ms.
      await delay(chance() * 5 * 2 ** attempt)
    }
  }
}

/** Whether the error means that the database cannot be reached or was lost, so that a later retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseSilentError || error instanceof NoServerError) return true
  return isServerLost(error) || FULL_CODE.test(codeOf(error)) || UNAVAILABLE_MESSAGE.test(error.message)
}

/** Whether the error means that the server is down or no longer accepts writes, and another one may have taken over. */
export function isServerLost(error: Error): boolean {
  const connecting = 'syscall' in error && error.syscall === 'connect'
  return connecting || LOST_CODE.test(codeOf(error)) || error.message.startsWith('Connection terminated')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
