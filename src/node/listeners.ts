// The HTTP listeners of a node: opening them, moving their clients to other nodes, and closing them.
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { delay, monotonicMs, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import { MINUTE_MS } from '#core/duration.ts'
import { traceRequests } from '#core/tracing/spans.ts'
import { endIdle, stopListening } from '#http/stop-listening.ts'

/** How long requests in progress may take to end when the node stops. */
const CLOSE_MS = 5_000
/** How long clients with open connections, and proxies that poll readiness, have to switch to another node. */
const DRAIN_MS = 3_000
/** How long connections whose request is in transit are still served after the listener has stopped accepting new ones. */
const LINGER_MS = 500
/** The same if another process has taken over: it already serves new connections, so this one can take its time. */
const REPLACED_MS = MINUTE_MS
const DRAIN_POLL_MS = 50

export class Listeners {
  readonly #servers: FastifyInstance[] = []

  /** Ports on which the node listens. */
  ports(): number[] {
    return this.#servers.flatMap((server) => server.addresses() as AddressInfo[]).map(({ port }) => port)
  }

  /**
   * @param setting the setting of the port, for errors
   * @returns the address as a URL
   * @throws Error of one sentence if the port cannot be opened
   */
  async open(server: FastifyInstance, host: string, port: number, setting: string): Promise<string> {
    this.#servers.push(server)
    traceRequests(server.server)
    try {
      // For `localhost`, Fastify would open two listeners, and the second one could not be drained.
      await server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
    } catch (error) {
      const code = (error as { code?: string }).code
      if (code === 'EADDRINUSE') throw new Error(`Port ${port} is in use; stop the other program or set ${setting}`, { cause: error })
      if (code === 'EACCES') throw new Error(`This user may not open port ${port}; set ${setting}`, { cause: error })
      if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
        throw new Error(`${host} is not an address of this machine; set ${setting.replace('PORT', 'HOST')}`, { cause: error })
      }
      throw error
    }
    const address = server.addresses()[0] as AddressInfo
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
    return `http://${name === '0.0.0.0' || name === '[::]' ? '127.0.0.1' : name}:${address.port}`
  }

  /** Ends the connections of clients, so that they connect to other nodes: see `RunningNode.drain`. */
  async drain(replaced: boolean): Promise<void> {
    if (replaced) await this.#takeNoMore()
    for (const { server } of this.#servers) server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
    await this.#emptied(DRAIN_MS)
    if (!replaced) await this.#takeNoMore()
    await this.#emptied(LINGER_MS)
    const ends = monotonicMs() + (replaced ? REPLACED_MS : 0)
    do {
      for (const { server } of this.#servers) await endIdle(server)
      await this.#emptied(Math.min(LINGER_MS, ends - monotonicMs()))
    } while (monotonicMs() < ends && (await this.#connections()) > 0)
  }

  /** Lets requests in progress end, but closes stalled connections after `CLOSE_MS`. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(closeServer))
  }

  /** Closes the public listener last: closing is faster after another listener has closed. */
  async #takeNoMore(): Promise<void> {
    for (const { server } of this.#servers.toReversed()) await stopListening(server)
  }

  /** Resolves when all connections have ended, or after `withinMs`. */
  async #emptied(withinMs: number): Promise<void> {
    const ends = monotonicMs() + withinMs
    while (monotonicMs() < ends && (await this.#connections()) > 0) await delay(DRAIN_POLL_MS)
  }

  async #connections(): Promise<number> {
    const counts = await Promise.all(this.#servers.map(({ server }) => promisify(server.getConnections.bind(server))()))
    return counts.reduce((sum, count) => sum + count, 0)
  }
}

async function closeServer(server: FastifyInstance): Promise<void> {
  const cut = startTimer(() => server.server.closeAllConnections(), CLOSE_MS)
  await server.close()
  stopTimer(cut)
}
