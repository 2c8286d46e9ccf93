// Generates load with wrk on the second core, faster than one core of any server can respond.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cpuMicros, pinned } from './processes.ts'

const SCRIPT = fileURLToPath(new URL('rotate.lua', import.meta.url))
export const CONNECTIONS = 50
export const LOAD_CORE = 1
/** The baseline server needs a long time for a page when all connections are busy. */
const TIMEOUT = '60s'

export interface Load {
  /** base URL of the server under load, without a trailing slash */
  url: string
  /** process id of the server, if its processor time is measured */
  pid?: number
  /** bearer token; none is sent if it is empty */
  key: string
  headers?: Readonly<Record<string, string>>
  /** file with one request per line, sent in rotation from the first on */
  requestsFile: string
}

/** Latencies in milliseconds. */
export interface LoadFigures {
  /** requests with a response */
  requests: number
  /** sent requests; the last one of each connection may have no response */
  sent: number
  requestsPerSecond: number
  /** processor time of the server's process per request, valid even if other work shares the core; NaN if not known */
  cpuMicros: number
  p50: number
  p99: number
  max: number
}

/** A line of a requests file with a body; for a plain GET, the line is just the path. */
export function sending(method: 'POST' | 'PATCH', path: string, body: object): string {
  return `${method}\t${path}\t${JSON.stringify(body)}`
}

/** Writes requests to a file for the load generator. */
export function writeRequests(dir: string, name: string, requests: readonly string[]): string {
  const file = join(dir, `${name}.requests`)
  writeFileSync(file, `${requests.join('\n')}\n`)
  return file
}

/**
 * Sends requests for a number of seconds.
 * @throws Error if any response was not a success
 */
export async function measure(load: Load, seconds: number): Promise<LoadFigures> {
  return begin(load, seconds).figures
}

/** Sends requests until stopped. */
export function measureUntil(load: Load): { stop: () => Promise<LoadFigures> } {
  const running = begin(load, 3_600)
  return {
    stop: () => {
      running.interrupt()
      return running.figures
    },
  }
}

function begin({ url, pid = 0, key, headers = {}, requestsFile }: Load, seconds: number): { figures: Promise<LoadFigures>; interrupt: () => void } {
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', TIMEOUT, '-s', SCRIPT, url, '--', requestsFile, key, ...more]
  const [command, ...rest] = pinned(LOAD_CORE, ['wrk', ...args])
  const child = spawn(command!, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  return { figures: figuresOf(child, url, pid), interrupt: () => void child.kill('SIGINT') }
}

async function figuresOf(child: ReturnType<typeof spawn>, url: string, pid: number): Promise<LoadFigures> {
  const cpuBefore = cpuMicros(pid)
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(child, 'close').catch((error: Error) => {
    throw new Error(`wrk cannot be run (Debian: apt install wrk): ${error.message}`, { cause: error })
  })
  const line = /^RESULT (.+)$/m.exec(output)?.[1]
  if (!line) throw new Error(`wrk gave no figures for ${url}:\n${output}`)
  const { requests = 0, sent = 0, micros = 0, p50 = 0, p99 = 0, max = 0, refused = 0, broken = 0 } = JSON.parse(line) as Record<string, number>
  if (refused + broken > 0) throw new Error(`${url}: of ${requests} requests ${refused} were refused and ${broken} broke`)
  return {
    requests,
    sent,
    requestsPerSecond: (requests * 1e6) / micros,
    cpuMicros: (cpuMicros(pid) - cpuBefore) / requests,
    p50: p50 / 1e3,
    p99: p99 / 1e3,
    max: max / 1e3,
  }
}
