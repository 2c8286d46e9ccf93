// Load on a server: wrk on the second core, which asks faster than one core of any server answers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cpuMicros, pinned } from './processes.ts'

const SCRIPT = fileURLToPath(new URL('rotate.lua', import.meta.url))
export const CONNECTIONS = 50
const LOAD_CORE = 1
/** The baseline server needs long for a page when all connections ask at once. */
const TIMEOUT = '60s'

export interface Load {
  /** of the server under load, without a slash at the end */
  url: string
  /** process of the server, where its processor time is wanted */
  pid?: number
  key: string
  /** file with a request per line, sent in rotation from the first on */
  requestsFile: string
}

/** Latencies in milliseconds. */
export interface LoadFigures {
  /** answered */
  requests: number
  /** the last of them, at most one a connection, may not have been answered */
  sent: number
  requestsPerSecond: number
  /** processor time of the server's process per request: also right while other work shares the core; NaN if not known */
  cpuMicros: number
  p50: number
  p99: number
  max: number
}

/** A line of a requests file that sends a body; one that only asks is just a path. */
export function sending(method: 'POST' | 'PATCH', path: string, body: object): string {
  return `${method}\t${path}\t${JSON.stringify(body)}`
}

/** Writes requests where the load generator finds them. */
export function writeRequests(dir: string, name: string, requests: readonly string[]): string {
  const file = join(dir, `${name}.requests`)
  writeFileSync(file, `${requests.join('\n')}\n`)
  return file
}

/**
 * Asks for so many seconds.
 * @throws Error when any answer was not a success
 */
export async function measure(load: Load, seconds: number): Promise<LoadFigures> {
  return begin(load, seconds).figures
}

/** Asks until it is told to stop. */
export function measureUntil(load: Load): { stop: () => Promise<LoadFigures> } {
  const running = begin(load, 3_600)
  return {
    stop: () => {
      running.interrupt()
      return running.figures
    },
  }
}

function begin({ url, pid = 0, key, requestsFile }: Load, seconds: number): { figures: Promise<LoadFigures>; interrupt: () => void } {
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', TIMEOUT, '-s', SCRIPT, url, '--', requestsFile, key]
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
