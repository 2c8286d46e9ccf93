// Finds connections that a silent network or a stopped server has made useless, which TCP alone notices after minutes.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'

/** With pg's own state that its types leave out: false while a statement runs, null before it is connected. */
type Client = pg.ClientBase & { readyForQuery?: boolean | null; connection?: { stream: Duplex } }

interface Watched {
  /** received until the last tick */
  bytes: number
  /** ticks without a byte while a statement waited for its answer */
  silent: number
  /** process of the server that works for it, null until it is known */
  backend: number | null
}

interface Probe {
  client: pg.Client
  bytes: number
  silent: number
  /** those that were silent when it started */
  suspects: Map<Client, number>
}

export interface WatchOptions {
  url: string
  /** How long a statement, and then a new connection, may stay without a byte of an answer. */
  patienceMs: number
}

export class DatabaseSilentError extends Error {
  override name = 'DatabaseSilentError'
}

// Time is counted in ticks of this loop: while the loop itself stands still, it is not the database that is silent.
const TICK_MS = 250

/**
 * Watches the connections of a pool. When a statement has waited for long, a new connection asks the server whether it
 * is at it. Connections on which it is not are cut, so that what waits on them fails and can be tried again. When nothing
 * at all answers, the database counts as lost: everything is cut and nobody waits until a new connection answers again.
 */
export class ConnectionWatch {
  readonly #url: string
  readonly #patience: number
  readonly #watched = new Map<Client, Watched>()
  #probe: Probe | null = null
  #lost = false
  #leaving = false
  #timer: NodeJS.Timeout | null = null

  constructor({ url, patienceMs }: WatchOptions) {
    this.#url = url
    this.#patience = Math.ceil(patienceMs / TICK_MS)
  }

  /** From before it connects until it ends. */
  add(client: Client): void {
    this.#watched.set(client, { bytes: 0, silent: 0, backend: null })
    client.once('end', () => this.#watched.delete(client))
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
  }

  /** Names the server's process of a connection, from pg_backend_pid(): a pooler between would tell its own number. */
  identify(client: Client, backend: number): void {
    const watched = this.#watched.get(client)
    if (watched) watched.backend = backend
  }

  /** @throws DatabaseSilentError while the database is lost */
  demandAnswer(): void {
    if (this.#lost) throw new DatabaseSilentError('The database does not answer')
  }

  /** The connections are about to end: from now on it makes sure that the server is there to take leave. */
  leave(): void {
    this.#leaving = true
  }

  #cutAll(): void {
    for (const client of this.#watched.keys()) cut(client)
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
    if (this.#probe) cut(this.#probe.client)
  }

  #tick(): void {
    let heard = false
    const suspects = new Map<Client, number>()
    for (const [client, watched] of this.#watched) {
      const bytes = received(client)
      if (bytes !== watched.bytes) heard = true
      watched.silent = client.readyForQuery || bytes !== watched.bytes ? 0 : watched.silent + 1
      watched.bytes = bytes
      if (watched.silent >= this.#patience) suspects.set(client, bytes)
    }
    const probe = this.#probe
    if (!probe) {
      if (suspects.size > 0 || this.#lost || this.#leaving) this.#ask(suspects)
      return
    }
    const bytes = received(probe.client)
    probe.silent = heard || bytes !== probe.bytes ? 0 : probe.silent + 1
    probe.bytes = bytes
    if (probe.silent < this.#patience) {
      if (this.#lost) this.#cutAll()
      return
    }
    this.#probe = null
    this.#lost = true
    cut(probe.client)
    this.#cutAll()
    this.#ask(new Map())
  }

  #ask(suspects: Map<Client, number>): void {
    const client = new pg.Client({ connectionString: this.#url, application_name: 'mintmark watch' })
    const probe: Probe = { client, bytes: 0, silent: 0, suspects }
    this.#probe = probe
    client.on('error', () => {})
    this.#busyBackends(client, suspects).then(
      (busy) => {
        if (this.#probe !== probe) return
        this.#probe = null
        this.#lost = false
        this.#judge(probe, busy)
      },
      () => {
        // An error is an answer, too: what is refused fails by itself.
        if (this.#probe === probe) this.#probe = null
      },
    )
  }

  async #busyBackends(client: pg.Client, suspects: Map<Client, number>): Promise<Set<number>> {
    try {
      await client.connect()
      const backends = [...suspects.keys()].flatMap((suspect) => this.#watched.get(suspect)?.backend ?? [])
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where pid = any($1) and state not like 'idle%'`,
        [backends],
      )
      return new Set(rows.map(({ pid }) => pid))
    } finally {
      void client.end().catch(() => {})
    }
  }

  /** The server is there: of those that were silent, and still are, it works for some; the others' bytes got lost. */
  #judge({ suspects }: Probe, busy: Set<number>): void {
    for (const [client, bytes] of suspects) {
      const watched = this.#watched.get(client)
      if (!watched || client.readyForQuery || received(client) !== bytes) continue
      watched.silent = 0
      const sending = socketOf(client).writableLength > 0
      if (!sending && (watched.backend === null || !busy.has(watched.backend))) cut(client)
    }
  }
}

function received(client: Client): number {
  return socketOf(client).bytesRead
}

function cut(client: Client): void {
  socketOf(client).destroy()
}

function socketOf(client: Client): Socket {
  return client.connection!.stream as Socket
}
