// How a listener closes without a connection lost: in a moment in which none waits to be taken.
import { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A turn of the event loop in which hardly anything but the look for events happened. */
const SHORT_TURN_MS = 0.1
/** How long such a turn is waited for where connections never cease. */
const PATIENCE_MS = 500

/**
 * Takes no new connections from now on; those that are open are served further, unlike after the `close` of http.
 * The system has shaken hands with clients before a program hears of them, and resets those who still wait at the end:
 * a listener takes one of them in each turn, so the end comes right after a short turn without any.
 */
export async function stopListening(server: Server): Promise<void> {
  let quiet = false
  server.on('connection', () => (quiet = false))
  // The first end of a process takes ten times as long as any other: its code is loaded by then.
  Server.prototype.close.call(new Server())
  const started = await turnEnd()
  for (let turn = started; !quiet && turn - started < PATIENCE_MS; ) {
    quiet = true
    const end = await turnEnd()
    if (end - turn > SHORT_TURN_MS) quiet = false
    turn = end
  }
  Server.prototype.close.call(server)
}

async function turnEnd(): Promise<number> {
  await nextTurn()
  return performance.now()
}
