// One LISTEN connection per node. Notices only shorten waits: nothing relies on their delivery.
import type pg from 'pg'
import { startTimer } from '#core/process/time-and-chance.ts'
import type { Database } from '#db/connection/pool.ts'

const RETRY_MS = 250

type Connects = Pick<Database<unknown>, 'connect'>

type OnNotice = (payload: string) => void

/** Connects at the first `follow`, and again 250 ms after a lost connection; notices sent meanwhile are missed. */
export class Notices {
  readonly #db: Connects
  readonly #channels = new Map<string, OnNotice>()
  #connecting = false
  #client: pg.PoolClient | null = null
  #closed = false

  constructor(db: Connects) {
    this.#db = db
  }

  /** Calls `onNotice` with the payload of every notice of a channel, until `close`. */
  follow(channel: string, onNotice: OnNotice): void {
    this.#channels.set(channel, onNotice)
    if (this.#client) void this.#listen(this.#client, [channel])
    else void this.#connect()
  }

  close(): void {
    this.#closed = true
    if (this.#client) this.#lose(this.#client)
  }

  async #connect(): Promise<void> {
    if (this.#closed || this.#connecting) return
    this.#connecting = true
    const client = await this.#db.connect().catch(() => null)
    this.#connecting = false
    if (!client) return this.#connectLater()
    if (this.#closed) return client.release(true)
    this.#client = client
    client.on('notification', ({ channel, payload = '' }) => this.#channels.get(channel)?.(payload))
    client.on('error', () => this.#lose(client))
    await this.#listen(client, [...this.#channels.keys()])
  }

  async #listen(client: pg.PoolClient, channels: string[]): Promise<void> {
    await client.query(channels.map((channel) => `listen ${channel}`).join('; ')).catch(() => this.#lose(client))
  }

  /** A connection may report several errors and is released once. */
  #lose(client: pg.PoolClient): void {
    if (this.#client !== client) return
    this.#client = null
    client.release(true)
    this.#connectLater()
  }

  #connectLater(): void {
    if (!this.#closed) startTimer(() => void this.#connect(), RETRY_MS).unref()
  }
}
