// Process of `paced` and `startReaders`: sends prepared requests over raw connections, and prints or sends their latencies.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { CONNECTIONS } from './load.ts'
import type { Pace, PacedFigures } from './paced.ts'

const { url, key, file, perSecond, seconds } = JSON.parse(process.argv[2]!) as Omit<Pace, 'requests' | 'seconds'> & {
  file: string
  /** null: until stopped */
  seconds: number | null
}
const READ_BYTES = 256 * 1024
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const LENGTH = /\r\ncontent-length: (\d+)/i

interface Connection {
  send: (number: number) => void
}

const { host, hostname, port } = new URL(url)
const requests = readFileSync(file, 'utf8').trimEnd().split('\n').map(bytesOf)
/** Not counted: this process compiles its code meanwhile. */
const WARM_UP_S = 1
const warmUp = Math.round(perSecond * WARM_UP_S)
const count = seconds === null ? Infinity : warmUp + Math.round(perSecond * seconds)
const latencies: number[] = []
/** what was answered before is not asked for any more */
let from = 0
let asked = false
const free: Connection[] = []
const dueMs = (number: number) => startedMs + (number * 1_000) / perSecond
let bytes = 0
let answered = 0
/** the next request to send; those before `due` should have been sent */
let next = 0

// Each connection is used at least once a second, because servers close those that stay idle.
for (let i = 0; i < Math.min(CONNECTIONS, perSecond); i += 1) free.push(await open())
const startedMs = performance.now()
process.on('message', () => (asked = true))
process.send?.('ready')
turn()

/** Sends what is due, as far as connections are free, once per iteration of the event loop. */
function turn(): void {
  const now = performance.now()
  while (next < count && free.length > 0 && dueMs(next) <= now) free.shift()!.send(next++)
  if (asked && answered === next) {
    asked = false
    process.send!(latencies.slice(from))
    from = next
  }
  // Readers leave most of their core to the process that measures, and may send up to 1 ms late.
  if (seconds === null) setTimeout(turn, 1)
  else if (answered < count) setImmediate(turn)
  else print()
}

function print(): void {
  const counted = latencies.slice(warmUp).sort((a, b) => a - b)
  const share = (part: number) => counted[Math.min(counted.length - 1, Math.floor(counted.length * part))]!
  const figures: PacedFigures = {
    requests: counted.length,
    p50: share(0.5),
    p99: share(0.99),
    max: counted.at(-1)!,
    bytes: Math.round(bytes / count),
  }
  process.stdout.write(JSON.stringify(figures), () => process.exit(0))
}

async function open(): Promise<Connection> {
  let current = -1
  /** bytes of the response that have not arrived; null until its head is complete */
  let missing: number | null = null
  let head = Buffer.alloc(0)
  const receive = (length: number, buffer: Uint8Array) => {
    let part = Buffer.from(buffer.buffer, buffer.byteOffset, length)
    if (missing === null) {
      if (head.length > 0) part = Buffer.concat([head, part])
      const end = part.indexOf(END_OF_HEAD)
      if (end < 0) {
        head = Buffer.from(part)
        return true
      }
      missing = bodyLength(part.toString('latin1', 0, end), current) - (part.length - end - END_OF_HEAD.length)
      head = Buffer.alloc(0)
    } else missing -= length
    if (missing > 0) return true
    missing = null
    latencies[current] = performance.now() - dueMs(current)
    answered += 1
    free.push(connection)
    return true
  }
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: { buffer: Buffer.alloc(READ_BYTES), callback: receive },
  })
  const fail = () => {
    if (answered < count) throw new Error(`the server closed a connection during ${file}`)
  }
  socket.on('close', fail)
  const connection: Connection = {
    send: (number) => {
      current = number
      socket.write(requests[number % requests.length]!)
    },
  }
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return connection
}

function bodyLength(head: string, request: number): number {
  const length = LENGTH.exec(head)?.[1]
  if (!head.startsWith('HTTP/1.1 20') || length === undefined) {
    throw new Error(`request ${request}: ${requests[request % requests.length]!.toString()}\nanswered ${head}`)
  }
  bytes += Number(length)
  return Number(length)
}

function bytesOf(line: string): Buffer {
  const [method, path, body] = line.includes('\t') ? line.split('\t') : ['GET', line, undefined]
  const about = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n${about}\r\n${body ?? ''}`)
}
