// Detects connections broken by a silent network or a stopped server, which TCP alone detects after minutes.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { DATABASE_TIME } from './database-time.ts'
import { type Timer, startInterval, stopTimer } from '#core/process/time-and-chance.ts'
import { setServer, type Servers } from './servers.ts'

/** Includes pg's own state that its types omit: false while a statement runs, null before it is connected. */
type Client = pg.ClientBase & { readyForQuery?: boolean | null; connection?: { stream: Duplex } }

interface Watched {
  /** bytes received until the last tick */
  bytes: number
  /** ticks without a byte while a statement was waiting for its result */
  silent: number
  /** process id of its server process; null until known */
  backend: number | null
}

interface Probe {
  client: pg.Client
  bytes: number
  /** ticks without a byte of a response to the probe */
  silent: number
  /** whether any other connection has received data since then */
  heard: boolean
  /** connections that were silent when the probe started, with the bytes they had received */
  suspects: Map<Client, number>
}

export interface WatchOptions {
  servers: Servers
  /** How long a statement, and then a new connection, may wait without receiving a byte. */
  patienceMs: number
}

export class DatabaseSilentError extends Error {
  override name = 'DatabaseSilentError'
}

// Time is counted in ticks of the event loop, so that a blocked loop does not make the database appear silent.
const TICK_MS = 250
/** Ticks between the starts of two probes: with the connections of the pool, at most one new connection a second. */
const PROBE_EVERY = 5
/** A commit that waits longer for a synchronous standby is abandoned; whether it took effect depends on the standby. */
const STANDBY_SECONDS = 5

/**
 * Watches the connections of a pool. If a statement has waited too long, a probe checks with the server over a new connection
 * whether it is working on it. Connections that it is not working on are closed, so that their statements fail and can be retried.
 * If neither the probe nor any other connection receives a byte, the database counts as lost: every connection is closed, no new
 * one is opened, and probes continue until one gets a response. A probe that receives nothing is abandoned even if other connections
 * receive data: it may have been opened during a silence that has ended, and would never get a response. With
 * several servers, the search for another one replaces further probes.
 */
export class ConnectionWatch {
  readonly #servers: Servers
  readonly #patience: number
  readonly #watched = new Map<Client, Watched>()
  #probe: Probe | null = null
  /** ticks since the last probe started */
  #sinceProbe = PROBE_EVERY
  #lost = false
  #leaving = false
  #timer: Timer | null = null

  constructor({ servers, patienceMs }: WatchOptions) {
    this.#servers = servers
    this.#patience = Math.ceil(patienceMs / TICK_MS)
  }

  /** Watches a connection that is about to be opened, until it ends. */
  add(client: Client): void {
    this.#watched.set(client, { bytes: 0, silent: 0, backend: null })
    client.once('end', () => this.#watched.delete(client))
    this.#timer ??= startInterval(() => this.#tick(), TICK_MS).unref()
  }

  /** Sets the server process of a connection, from pg_backend_pid(): with a pooler, the protocol reports the pooler's number. */
  identify(client: Client, backend: number): void {
    const watched = this.#watched.get(client)
    if (watched) watched.backend = backend
  }

  /** @throws DatabaseSilentError while the database is lost */
  demandAnswer(): void {
    if (this.#lost) throw new DatabaseSilentError('The database does not respond')
  }

  /** Called before the connections end: checks that the server still responds, so that they can end properly. */
  leave(): void {
    this.#leaving = true
  }

  close(): void {
    stopTimer(this.#timer)
    this.#timer = null
    if (this.#probe) cut(this.#probe.client)
  }

  #tick(): void {
    const { heard, suspects } = this.#listen()
    this.#sinceProbe += 1
    if (this.#probe) this.#follow(this.#probe, heard)
    if (this.#probe || this.#sinceProbe < PROBE_EVERY) return
    if (suspects.size > 0 || this.#lost || this.#leaving) this.#ask(suspects)
  }

  /** Returns whether anything was received since the last tick, and which connections have been silent for too long. */
  #listen(): { heard: boolean; suspects: Map<Client, number> } {
    let heard = false
    const suspects = new Map<Client, number>()
    for (const [client, watched] of this.#watched) {
      const bytes = received(client)
      if (bytes !== watched.bytes) heard = true
      watched.silent = client.readyForQuery || bytes !== watched.bytes ? 0 : watched.silent + 1
      watched.bytes = bytes
      if (watched.silent >= this.#patience) suspects.set(client, bytes)
    }
    return { heard, suspects }
  }

  /** Abandons the probe if it gets no response; if no other connection received anything either, the database is lost. */
  #follow(probe: Probe, heard: boolean): void {
    const bytes = received(probe.client)
    probe.silent = bytes === probe.bytes ? probe.silent + 1 : 0
    probe.bytes = bytes
    probe.heard ||= heard
    if (probe.silent < this.#patience) return
    this.#probe = null
    cut(probe.client)
    if (probe.heard) return
    if (this.#servers.choosing) this.#servers.forget(probe.client)
    else this.#lost = true
    for (const client of this.#watched.keys()) cut(client)
  }

  #ask(suspects: Map<Client, number>): void {
    const { choosing, found, searchedMs, url } = this.#servers
    if (choosing && !found) {
      // The search replaces the probe: a silent connection belongs to a server that does not respond to the search.
      if (searchedMs >= this.#patience * TICK_MS) for (const client of suspects.keys()) cut(client)
      return
    }
    const client = new pg.Client({ connectionString: url, application_name: 'mintmark watch' })
    if (found) setServer(client, found)
    const probe: Probe = { client, bytes: 0, silent: 0, heard: false, suspects }
    this.#probe = probe
    this.#sinceProbe = 0
    client.on('error', () => {})
    this.#busyBackends(client, suspects).then(
      // A result that arrived together with this response may be processed after it, in the same turn of the event loop.
      (busy) =>
        setImmediate(() => {
          if (this.#probe !== probe) return
          this.#probe = null
          this.#lost = false
          this.#judge(probe, busy)
        }),
      () => {
        // A rejected connection is a response, too: work that needs the database fails by itself.
        if (this.#probe === probe) this.#probe = null
      },
    )
  }

  async #busyBackends(client: pg.Client, suspects: Map<Client, number>): Promise<Set<number>> {
    try {
      await client.connect()
      const backends = [...suspects.keys()].flatMap((suspect) => this.#watched.get(suspect)?.backend ?? [])
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where pid = any($1) and state not like 'idle%'
           and (wait_event is distinct from 'SyncRep' or state_change > ${DATABASE_TIME} - make_interval(secs => ${STANDBY_SECONDS}))`,
        [backends],
      )
      return new Set(rows.map(({ pid }) => pid))
    } finally {
      void client.end().catch(() => {})
    }
  }

  /** Called when the server responds: waits for the connections it is working on, and closes the silent ones whose data was lost. */
  #judge({ suspects }: Probe, busy: Set<number>): void {
    for (const [client, bytes] of suspects) {
      const watched = this.#watched.get(client)
      if (!watched || client.readyForQuery || received(client) !== bytes) continue
      watched.silent = 0
      const sending = socketOf(client).writableLength > 0
      const isElsewhere = !this.#servers.isCurrent(client as pg.Client)
      if (isElsewhere || (!sending && (watched.backend === null || !busy.has(watched.backend)))) cut(client)
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
