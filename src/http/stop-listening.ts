// Closes a listener without losing requests: only at moments when no connection is pending that the system would reset.
import type { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { monotonicMs } from '#core/process/time-and-chance.ts'

/** Maximum duration of an event-loop turn that did little but poll for events. */
const SHORT_TURN_MS = 0.1
/** Maximum wait for such a turn on a busy loop. */
const PATIENCE_MS = 500

/**
 * Stops accepting connections; unlike with the `close` of http, open ones are still served.
 * The system completes handshakes before the program accepts connections, and resets those that are pending at the close.
 */
export async function stopListening(server: Server): Promise<void> {
  // The first close in a process takes ten times as long as later ones: their code is loaded by then.
  Server.prototype.close.call(new Server())
  await quietTurn(server)
  Server.prototype.close.call(server)
}

/** Closes idle connections. A connection with a request that has arrived, even unread, would lose it. */
export async function endIdle(server: HttpServer): Promise<void> {
  await quietTurn(server)
  server.closeIdleConnections()
}

/** Resolves at the end of a short turn in which no connection was accepted: everything that arrived earlier has been read by then. */
async function quietTurn(server: Server): Promise<void> {
  let quiet = false
  const taken = () => (quiet = false)
  server.on('connection', taken)
  const started = await turnEnd()
  for (let turn = started; !quiet && turn - started < PATIENCE_MS; ) {
    quiet = true
    const end = await turnEnd()
    if (end - turn > SHORT_TURN_MS) quiet = false
    turn = end
  }
  server.off('connection', taken)
}

async function turnEnd(): Promise<number> {
  await nextTurn()
  return monotonicMs()
}
