// Chooses the server of a database for connections: with several, the one with the required role, and another one when it is lost.
import pg from 'pg'
import { delay, monotonicMs, startTimer } from '#core/process/time-and-chance.ts'
import { readDatabaseAddress, type RequiredRole } from '#core/network/database-address.ts'
import type { Server } from '#core/network/server-address.ts'
import { explainTls } from './tls-errors.ts'

/** How long callers wait from the start of a search; after that they fail immediately while the search continues. */
const WAIT_MS = 1_500
const ATTEMPT_MS = 1_000
const FIRST_PAUSE_MS = 50
/** If several servers are suitable, the first in the address is used, unless another responds faster by at least this much. */
const HEAD_START_MS = 25
const MAX_PAUSE_MS = 250
const ASK_AGAIN_MS = 50
/** Queries on one connection before a new one is opened, because the address may resolve to another server by then. */
const ASKED_BY_ONE = 20

/** The result of the query `ROLE` on a server. */
export interface Role {
  standby: boolean
  read_only: boolean
}

export const ROLE = `pg_is_in_recovery() as standby, current_setting('transaction_read_only')::bool as read_only`

/** No server of the address has the required role; this may change at any moment. */
export class NoServerError extends Error {
  override name = 'NoServerError'
}

interface Search {
  startedMs: number
  found: Promise<Server>
  end: AbortController
}

/**
 * The servers of an address. All are queried in parallel, each with its own back-off, so that an unresponsive one delays no connection. A
 * suitable server is used until it is forgotten.
 */
export class Servers {
  /** for one connection, to the first server */
  readonly url: string
  readonly role: RequiredRole
  readonly #servers: readonly Server[]
  /** why each was not used, as text */
  readonly #refusals = new Map<Server, string>()
  #found: Server | null = null
  #search: Search | null = null
  #closed = false

  /** @throws Error that says what is allowed in an address */
  constructor(address: string) {
    const { servers, role, url } = readDatabaseAddress(address)
    this.#servers = servers
    this.role = role
    this.url = url
  }

  /** Whether there are several servers to choose from; otherwise `url` is enough. */
  get choosing(): boolean {
    return this.#servers.length > 0
  }

  /** The server in use; null during a search. */
  get found(): Server | null {
    return this.#found
  }

  /** Duration of the current search; 0 while a server is in use. */
  get searchedMs(): number {
    return this.#search ? monotonicMs() - this.#search.startedMs : 0
  }

  /** @throws NoServerError if none is found within 1.5 s; immediately if the search has already lasted that long */
  async locate(): Promise<Server> {
    if (this.#found) return this.#found
    const search = (this.#search ??= this.#begin())
    const leftMs = search.startedMs + WAIT_MS - monotonicMs()
    const timer = new AbortController()
    const giveUp = delay(Math.max(0, leftMs), { signal: timer.signal }).then(() => {
      throw new NoServerError(this.#complaint())
    })
    giveUp.catch(() => {})
    try {
      return await Promise.race([search.found, giveUp])
    } finally {
      timer.abort()
    }
  }

  /** It failed or lost its role: the next caller starts a search. */
  forget({ host, port }: Server): void {
    if (this.#found && this.#found.host === host && this.#found.port === port) this.#found = null
  }

  /** False once another server than the connection's is in use. */
  isCurrent({ host, port }: Server): boolean {
    return this.#found === null || (this.#found.host === host && this.#found.port === port)
  }

  fits({ standby, read_only: readOnly }: Role): boolean {
    return this.role === 'any' || (this.role === 'standby' ? standby : !readOnly)
  }

  close(): void {
    this.#closed = true
    this.#search?.end.abort()
  }

  #begin(): Search {
    const end = new AbortController()
    const found = Promise.race(this.#servers.map((server, n) => this.#askUntilItFits(server, n * HEAD_START_MS, end.signal)))
    found.then(
      (server) => {
        this.#found = server
        this.#search = null
        end.abort()
      },
      () => (this.#search = null),
    )
    return { startedMs: monotonicMs(), found, end }
  }

  async #askUntilItFits(server: Server, headStartMs: number, signal: AbortSignal): Promise<Server> {
    const pause = (ms: number) =>
      delay(ms, { signal, ref: false }).catch(() => {
        throw new NoServerError(this.#closed ? 'The pool was closed' : 'Another server was found')
      })
    await pause(headStartMs)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      if (await this.#comesToFit(server, pause)) return server
      await pause(pauseMs)
    }
  }

  /** Queries one connection repeatedly: it survives the promotion of a standby, and a new one would cost the server a process each time. */
  async #comesToFit(server: Server, pause: (ms: number) => Promise<void>): Promise<boolean> {
    const limits = { connectionTimeoutMillis: ATTEMPT_MS, query_timeout: ATTEMPT_MS }
    const client = setServer(new pg.Client({ connectionString: this.url, application_name: 'mintmark search', ...limits }), server)
    client.on('error', () => {})
    try {
      await client.connect()
      for (let times = 0; times < ASKED_BY_ONE; times++) {
        const { rows } = await client.query<Role>(`select ${ROLE}`)
        if (this.fits(rows[0]!)) return true
        this.#refusals.set(server, rows[0]!.standby ? 'a standby' : this.role === 'standby' ? 'no standby' : 'read-only')
        await pause(ASK_AGAIN_MS)
      }
      return false
    } catch (error) {
      if (error instanceof NoServerError) throw error
      this.#refusals.set(server, explainTls(error as Error).message || String((error as { code?: string }).code))
      return false
    } finally {
      // A silent server would never confirm the end of the connection.
      void client.end().catch(() => {})
      startTimer(() => client.connection.stream.destroy(), ATTEMPT_MS).unref()
    }
  }

  #complaint(): string {
    const what = this.role === 'standby' ? 'is a standby' : this.role === 'any' ? 'answers' : 'takes writes'
    const each = this.#servers.map((server) => `${server.host}:${server.port}: ${this.#refusals.get(server) ?? 'no answer'}`)
    return `No server of the database ${what} (${each.join('; ')})`
  }
}

/** Makes a client connect to another server than that of its connection string; call it before connecting. */
export function setServer<Client extends pg.ClientBase>(client: Client, { host, port }: Server): Client {
  return Object.assign(client, { host, port })
}
