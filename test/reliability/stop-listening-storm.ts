// Clients in their own thread that open one connection after another and count the results until they are stopped.
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

export interface Storm {
  answered: number
  /** also counted while running, in `refusals` */
  refused: number
  /** connections that were opened and then closed without a response */
  lost: number
}

const CLIENTS = 8
const REFUSED_PAUSE_MS = 2
const { port, refusals } = workerData as { port: number; refusals: Int32Array }
const counts: Storm = { answered: 0, refused: 0, lost: 0 }
let blowing = true

function askOnce(): Promise<keyof Storm> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'lost'))
    socket.on('end', () => resolve(text.startsWith('HTTP/1.1 200') ? 'answered' : 'lost'))
  })
}

async function client(): Promise<void> {
  while (blowing) {
    const outcome = await askOnce()
    counts[outcome] += 1
    if (outcome !== 'refused') continue
    Atomics.add(refusals, 0, 1)
    await new Promise((resolve) => setTimeout(resolve, REFUSED_PAUSE_MS))
  }
}

parentPort!.once('message', () => (blowing = false))
await Promise.all(Array.from({ length: CLIENTS }, client))
parentPort!.postMessage(counts)
