// Connections of misbehaving clients: raw bytes, byte by byte, or without ever reading.
import { connect, type Socket } from 'node:net'

export interface MisbehavingClient {
  socket: Socket
  /** received so far */
  received: () => string
  /** milliseconds until the server closed it; null if the client gave up first */
  ended: Promise<number | null>
  /** starts reading if it was paused */
  read: () => void
  end: () => void
}

/** Opens a connection and sends these bytes; closes it after `giveUpMs` if the server has not closed it by then. */
export function open(url: string, bytes: string | Buffer, { giveUpMs = 120_000, reads = true } = {}): MisbehavingClient {
  const { hostname, port } = new URL(url)
  const started = performance.now()
  let text = ''
  const socket = connect(Number(port), hostname, () => socket.write(bytes))
  const read = () => void socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume()
  if (reads) read()
  else socket.pause()
  socket.on('error', () => {})
  const ended = new Promise<number | null>((resolve) => {
    const timer = setTimeout(() => {
      resolve(null)
      socket.destroy()
    }, giveUpMs)
    const closed = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(performance.now() - started)
    }
    socket.once('end', closed)
    socket.once('close', closed)
  })
  return { socket, received: () => text, ended, read, end: () => socket.destroy() }
}

/** Sends bytes and reads until the server closes the connection. */
export async function exchange(url: string, bytes: string | Buffer, giveUpMs?: number): Promise<{ text: string; endedMs: number | null }> {
  const client = open(url, bytes, { giveUpMs })
  const endedMs = await client.ended
  return { text: client.received(), endedMs }
}

/** Sends one more byte at intervals until the connection is closed. */
export function drip(client: MisbehavingClient, byte: string, everyMs: number): void {
  const timer = setInterval(() => client.socket.writable && client.socket.write(byte), everyMs)
  void client.ended.then(() => clearInterval(timer))
}

export function statusOf(text: string): number {
  return Number(/^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1] ?? 0)
}

/** Statuses of all responses on a connection, in order. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/(?:^|[}\]\n])HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
}
