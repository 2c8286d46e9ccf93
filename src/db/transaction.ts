// Transactions that run again after a deadlock, a serialisation failure or a broken reference, and how a lost database is recognised.
import type { IsolationLevel, Kysely, Transaction } from 'kysely'
import { setTimeout as delay } from 'node:timers/promises'
import { thenAnnounce } from './announce.ts'
import { DatabaseSilentError } from './connection-watch.ts'
import { NoServerError } from './servers.ts'

/**
 * serialization_failure, deadlock_detected, and foreign_key_violation: what a row refers to went away between reading and
 * writing, such as an item that was merged into another one. Read again, it is there under another id or is refused.
 */
const RETRYABLE = new Set(['40001', '40P01', '23503'])

/** The system's codes, then PostgreSQL's: connection trouble, standby, shut down, crashed, starting. */
const LOST_CODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|25006|57P0[1235])$/
/** Disk or room full. */
const FULL_CODE = /^(53...|58030)$/
const UNAVAILABLE_MESSAGE = /^(timeout exceeded when trying|Client (has encountered|was closed))/

export interface TransactionOptions {
  isolation?: IsolationLevel
  /** How often to try in all, 5 unless told. */
  attempts?: number
}

/**
 * Runs `run` in a transaction, commits and sends what was announced in it (`announce`); whatever it throws rolls back. After a deadlock, a serialisation
 * failure or a broken reference (also one of the commit itself) `run` starts anew, so it must have no effects outside the
 * database.
 */
export function inTransaction<Schema, Result>(
  db: { kysely: Kysely<Schema> },
  run: (tx: Transaction<Schema>) => Promise<Result>,
  { isolation, attempts = 5 }: TransactionOptions = {},
): Promise<Result> {
  return retrying(() => {
    const transaction = db.kysely.transaction()
    return thenAnnounce(db.kysely, run, (ran) => (isolation ? transaction.setIsolationLevel(isolation) : transaction).execute(ran))
  }, attempts)
}

/** Runs again what one of the `RETRYABLE` errors has undone: a transaction, or a statement that is one by itself. */
export async function retrying<Result>(run: () => Promise<Result>, attempts = 5): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt >= attempts || !RETRYABLE.has(codeOf(error))) throw error
      // Those that collided must not meet again: a random share of 10, 20, 40... ms.
      await delay(Math.random() * 5 * 2 ** attempt)
    }
  }
}

/** Whether the error means that the database cannot be reached or went away, so that the same may work later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseSilentError || error instanceof NoServerError) return true
  return isServerLost(error) || FULL_CODE.test(codeOf(error)) || UNAVAILABLE_MESSAGE.test(error.message)
}

/** Whether the error means that the server went away, or takes no writes any more, and another may have taken over. */
export function isServerLost(error: Error): boolean {
  const connecting = 'syscall' in error && error.syscall === 'connect'
  return connecting || LOST_CODE.test(codeOf(error)) || error.message.startsWith('Connection terminated')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
