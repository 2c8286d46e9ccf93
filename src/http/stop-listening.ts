// Closes a listener without losing requests: only at moments when no connection is pending that the system would reset.
import type { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A turn of the event loop in which hardly anything but the look for events happened. */
const SHORT_TURN_MS = 0.1
/** How long such a turn is waited for where there is always something to do. */
const PATIENCE_MS = 500

/**
 * Takes no new connections from now on; those that are open are served further, unlike after the `close` of http.
 * The system has shaken hands with clients before a program hears of them, and resets those who still wait at the end.
 */
export async function stopListening(server: Server): Promise<void> {
  // The first end of a process takes ten times as long as any other: its code is loaded by then.
  Server.prototype.close.call(new Server())
  await quietTurn(server)
  Server.prototype.close.call(server)
}

/** Ends kept connections on which no request has arrived; one that has, even unread, would be lost with its connection. */
export async function endIdle(server: HttpServer): Promise<void> {
  await quietTurn(server)
  server.closeIdleConnections()
}

/** Resolves at the end of a short turn in which no connection was taken: a listener takes one in each, and all is read that arrived before it. */
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
  return performance.now()
}
