// Listening on a channel of the database; notices only shorten waits, so that nothing counts on them.
import type pg from 'pg'
import type { Db } from '#db/schema.ts'

const RETRY_MS = 250

/** Calls `onNotice` with the payload of every notice that arrives until `close`. */
export function followNotices(db: Db, channel: string, onNotice: (payload: string) => void): { close(): void } {
  let listener: pg.PoolClient | null = null
  let closed = false
  const again = () => {
    if (!closed) setTimeout(() => void listen(), RETRY_MS).unref()
  }
  const listen = async () => {
    if (closed) return
    try {
      const client = await db.pool.connect()
      if (closed) return client.release(true)
      listener = client
      client.on('notification', ({ payload = '' }) => onNotice(payload))
      client.on('error', () => {
        // Forgotten first: a connection may report several errors and is released once.
        if (listener !== client) return
        listener = null
        client.release(true)
        again()
      })
      await client.query(`listen ${channel}`)
    } catch {
      again()
    }
  }
  void listen()
  return {
    close() {
      closed = true
      listener?.release(true)
      listener = null
    },
  }
}
