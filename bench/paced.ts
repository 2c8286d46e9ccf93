// Load at a fixed rate: latency is measured from each request's due time, however late it is sent.
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { CONNECTIONS } from './load.ts'

export interface Pace {
  /** base URL of the server, without a trailing slash */
  url: string
  key: string
  /** lines of a requests file, sent in rotation */
  requests: readonly string[]
  perSecond: number
  seconds: number
}

/** Latencies in milliseconds, and the mean size of a response. */
export interface PacedFigures {
  requests: number
  p50: number
  p99: number
  max: number
  bytes: number
}

/**
 * Sends requests at the rate for a number of seconds, over keep-alive connections.
 * @throws Error if any response was not a success
 */
export async function paced({ url, key, requests, perSecond, seconds }: Pace): Promise<PacedFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const count = Math.round(perSecond * seconds)
  const latencies = new Float64Array(count)
  let bytes = 0
  const started = performance.now()
  const answers: Promise<void>[] = []
  for (let n = 0; n < count; ) {
    const due = Math.min(count, Math.floor(((performance.now() - started) * perSecond) / 1000) + 1)
    for (; n < due; n += 1) {
      const [at, dueMs] = [n, started + (n * 1000) / perSecond]
      answers.push(
        ask(agent, url, key, requests[n % requests.length]!).then((length) => {
          latencies[at] = performance.now() - dueMs
          bytes += length
        }),
      )
    }
    await delay(1)
  }
  await Promise.all(answers)
  agent.destroy()
  latencies.sort()
  const share = (part: number) => latencies[Math.min(count - 1, Math.floor(count * part))]!
  return { requests: count, p50: share(0.5), p99: share(0.99), max: latencies[count - 1]!, bytes: Math.round(bytes / count) }
}

function ask(agent: Agent, url: string, key: string, line: string): Promise<number> {
  const [method, path, body] = line.includes('\t') ? line.split('\t') : ['GET', line, undefined]
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { agent, method, headers }, (response) => {
      let length = 0
      response.on('data', (chunk: Buffer) => (length += chunk.length))
      response.on('error', reject)
      response.on('end', () => (response.statusCode === 200 ? resolve(length) : reject(new Error(`${line} answered ${response.statusCode}`))))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
