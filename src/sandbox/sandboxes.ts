// The sandboxes of a service, as this node uses them: it opens them on demand, closes them after a while, and works in them under a lease.
import type { Log } from '#core/context.ts'
import { MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { delay, monotonicMs, newId, startInterval, stopTimer, type Timer } from '#core/process/time-and-chance.ts'
import { Turns } from '#core/concurrency/turns.ts'
import type { Db } from '#db/schema.ts'
import { type DatabaseName, isMissingDatabase, type SandboxDatabases } from './databases.ts'
import { findSandbox, keepSandbox, leaveSandbox, renewLease, RENEW_MS, type SandboxRow, startAgain, takeSandbox } from './sandbox-store.ts'
import { LeaseLostError, StopWork, type Work, type World, type WorldHome } from './world.ts'

export const MAX_OF_ACCOUNT = 3
/** Open sandboxes of a node: each takes memory and connections. Beyond it, those without requests are closed, longest unused first. */
const MAX_OPEN = 12
const IDLE_MS = 10 * MINUTE_MS
const CLOSE_EVERY_MS = 30_000
/** How long a deletion waits for its database: dropping one waits for a checkpoint of the server. */
const REMOVE_MS = 5_000
/** Sandboxes in which a node works at the same time: others wait, so that real requests are not slowed down by many. */
const WORKING = 2

/** Opens the database of a sandbox as a running one. */
export type OpenWorld = (opening: DatabaseName & { db: Db; accountId: number; now: Date; home: WorldHome }) => Promise<World>

export interface SandboxesOptions {
  db: Db
  log: Log
  databases: SandboxDatabases
  open: OpenWorld
  now: () => Date
  /** of the whole service; 0: none are created */
  max: number
}

interface Opened {
  world: Promise<World>
  generation: number
  users: number
  usedMs: number
}

/** Opens, closes and creates the sandboxes of a service. */
export class Sandboxes implements WorldHome {
  readonly db: Db
  readonly databases: SandboxDatabases
  readonly max: number
  readonly now: () => Date
  readonly #log: Log
  readonly #open: OpenWorld
  readonly #opened = new Map<number, Opened>()
  readonly #working = new Set<Promise<unknown>>()
  readonly #turns = new Turns(WORKING)
  readonly #timer: Timer
  #closed = false

  constructor({ db, log, databases, open, now, max }: SandboxesOptions) {
    this.db = db
    this.databases = databases
    this.max = max
    this.now = now
    this.#log = log
    this.#open = open
    this.#timer = startInterval(() => void this.#closeIdle(IDLE_MS, 0), CLOSE_EVERY_MS).unref()
  }

  /** Open sandboxes of this node. */
  get open(): number {
    return this.#opened.size
  }

  /**
   * Uses a sandbox as it is now; it stays open until the work ends.
   * @throws SANDBOX_BUSY if its database is gone, because the service was restored
   */
  async use<T>(row: SandboxRow, work: (world: World) => Promise<T>): Promise<T> {
    const opened = this.#openedOf(row)
    opened.users += 1
    try {
      const world = await opened.world
      await world.clock.moveTo(row.now)
      await world.catchUp()
      return await work(world)
    } catch (error) {
      if (!isMissingDatabase(error)) throw error
      await this.#forget(row.id)
      throw new ServiceError('SANDBOX_BUSY', reason('sandbox_missing'), { cause: error })
    } finally {
      opened.users -= 1
      opened.usedMs = monotonicMs()
    }
  }

  async work<T>(id: number, run: (work: Work) => Promise<T>): Promise<T> {
    const lease = newId()
    const row = await takeSandbox(this.db, id, lease, this.now())
    if (!row) throw new ServiceError('SANDBOX_BUSY', reason('sandbox_busy'))
    // The request that asks for the work may end before it.
    const opened = this.#opened.get(id)
    if (opened) opened.users += 1
    const done = this.#turns.run(() => this.#renewing(id, lease, () => this.#run(row, lease, run)))
    const over = done.catch(() => {})
    this.#working.add(over)
    void over.then(() => {
      if (opened) opened.users -= 1
      this.#working.delete(over)
    })
    return done
  }

  async row(id: number): Promise<SandboxRow> {
    const row = await findSandbox(this.db.kysely, id, null)
    if (!row) throw new ServiceError('SANDBOX_BUSY', reason('sandbox_busy'))
    return row
  }

  /** Closes a sandbox on this node and removes its database; other nodes lose their connections. What takes too long or fails is left to the task. */
  async remove(name: DatabaseName): Promise<void> {
    const removal = this.#forget(name.id)
      .then(() => this.databases.drop(name))
      .catch((error: unknown) => this.#log.warn({ err: error, sandbox: name.id }, 'Failed to remove the database of a sandbox; trying again later'))
    await Promise.race([removal, delay(REMOVE_MS, { ref: false })])
  }

  async replace({ row, lease }: Work, fill: (world: World) => Promise<void>): Promise<void> {
    const { id, generation } = row
    const next = { id, generation: generation + 1 }
    await this.build({ ...row, ...next, now: row.starts_at }, fill)
    if (!(await startAgain(this.db, id, lease, next.generation))) {
      await this.databases.drop(next)
      throw new LeaseLostError('The sandbox was deleted')
    }
    await this.remove({ id, generation })
  }

  /** Creates and fills the database of a sandbox. @throws CONFLICT if the role may not create databases */
  async build(row: SandboxRow, fill: (world: World) => Promise<void>): Promise<void> {
    await this.databases.create(row)
    const world = await this.#opening(row)
    try {
      await fill(world)
    } finally {
      await world.close()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    stopTimer(this.#timer)
    await Promise.all(this.#working)
    await Promise.all([...this.#opened.keys()].map((id) => this.#forget(id)))
  }

  async #run<T>(row: SandboxRow, lease: string, run: (work: Work) => Promise<T>): Promise<T> {
    const keep: Work['keep'] = async (reached) => {
      if (this.#closed) throw new StopWork('interrupted')
      if (!(await keepSandbox(this.db, row.id, lease, reached))) throw new LeaseLostError('The sandbox was taken or deleted')
    }
    try {
      const result = await run({ row, lease, keep })
      await leaveSandbox(this.db, row.id, lease, null)
      return result
    } catch (error) {
      // What the caller asked for was refused: the sandbox is as it was.
      if (error instanceof ServiceError && error.status < 500) {
        await leaveSandbox(this.db, row.id, lease, row.problem)
        throw error
      }
      const problem = error instanceof StopWork ? error.problem : 'error'
      if (problem === 'error' && !(error instanceof LeaseLostError)) this.#log.error({ err: error, sandbox: row.id }, 'Work in a sandbox failed')
      await leaveSandbox(this.db, row.id, lease, problem).catch(() => {})
      throw error
    }
  }

  async #renewing<T>(id: number, lease: string, work: () => Promise<T>): Promise<T> {
    const timer = startInterval(() => void renewLease(this.db, id, lease).catch(() => {}), RENEW_MS).unref()
    return work().finally(() => stopTimer(timer))
  }

  #openedOf(row: SandboxRow): Opened {
    const { id, generation } = row
    const there = this.#opened.get(id)
    if (there?.generation === generation) return there
    if (there) void this.#forget(id)
    const opened: Opened = { world: this.#opening(row), generation, users: 0, usedMs: monotonicMs() }
    this.#opened.set(id, opened)
    opened.world.catch(() => {
      if (this.#opened.get(id) === opened) this.#opened.delete(id)
    })
    if (this.#opened.size > MAX_OPEN) void this.#closeIdle(0, this.#opened.size - MAX_OPEN)
    return opened
  }

  async #opening({ id, generation, account_id: accountId, now }: SandboxRow): Promise<World> {
    const db = await this.databases.open({ id, generation })
    return this.#open({ id, generation, db, accountId, now, home: this }).catch(async (error: unknown) => {
      await db.close()
      throw error
    })
  }

  /** Closes those that nobody has used for a time, longest unused first. @param atMost 0: all of them */
  async #closeIdle(idleMs: number, atMost: number): Promise<void> {
    const before = monotonicMs() - idleMs
    const idle = [...this.#opened].filter(([, { users, usedMs }]) => users === 0 && usedMs <= before).toSorted(([, a], [, b]) => a.usedMs - b.usedMs)
    await Promise.all(idle.slice(0, atMost || idle.length).map(([id]) => this.#forget(id)))
  }

  async #forget(id: number): Promise<void> {
    const opened = this.#opened.get(id)
    if (!opened) return
    this.#opened.delete(id)
    const world = await opened.world.catch(() => null)
    await world?.close().catch((error: unknown) => this.#log.warn({ err: error, sandbox: id }, 'Failed to close a sandbox'))
  }
}
