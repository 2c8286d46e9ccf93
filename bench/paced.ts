// Load at a fixed rate from the second core: latency is measured from each request's due time, however late it is sent.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { LOAD_CORE, writeRequests } from './load.ts'
import { pinned } from './processes.ts'

const CLIENT = fileURLToPath(new URL('paced-client.ts', import.meta.url))

export interface Pace {
  /** base URL of the server, without a trailing slash */
  url: string
  key: string
  /** lines of a requests file, sent in rotation */
  requests: readonly string[]
  perSecond: number
  seconds: number
}

/** A process that reads beside something else. */
export interface Readers {
  /** latencies in milliseconds, ascending, of the requests that were due since the last call, once all of them have been answered */
  latencies: () => Promise<number[]>
  stop: () => Promise<void>
}

/** Latencies in milliseconds, and the mean size of a response. */
export interface PacedFigures {
  requests: number
  p50: number
  p99: number
  max: number
  bytes: number
}

/** Above the priority of the process that starts readers: what it does meanwhile must not delay them. */
const PRIORITY = -10

/** Starts a process that sends requests at the rate until stopped. Only as root, it runs before all other work on its core. */
export async function startReaders({ requests, ...pace }: Omit<Pace, 'seconds'>): Promise<Readers> {
  const dir = mkdtempSync(join(tmpdir(), 'mintmark-readers-'))
  const file = writeRequests(dir, 'readers', requests)
  const [command, ...args] = pinned(LOAD_CORE, [process.execPath, CLIENT, JSON.stringify({ ...pace, seconds: null, file })])
  const child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const latencies = async () => {
    child.send('latencies')
    const [message] = (await once(child, 'message')) as [number[]]
    return message.sort((a, b) => a - b)
  }
  await once(child, 'message')
  try {
    setPriority(child.pid!, PRIORITY)
  } catch {
    // Readers then wait for other work on their core, too.
  }
  const stop = async () => {
    child.kill()
    await once(child, 'exit')
    rmSync(dir, { recursive: true })
  }
  return { latencies, stop }
}

/**
 * Sends requests at the rate for a number of seconds, after a second that is not counted, over keep-alive connections. If all connections are busy, a due request waits for the first
 * free one, and its latency includes this wait.
 * @throws Error if any response was not a success
 */
export async function paced({ requests, ...pace }: Pace): Promise<PacedFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'mintmark-paced-'))
  try {
    const file = writeRequests(dir, 'paced', requests)
    const [command, ...args] = pinned(LOAD_CORE, [process.execPath, '--max-semi-space-size=64', CLIENT, JSON.stringify({ ...pace, file })])
    const { stdout } = await promisify(execFile)(command!, args)
    return JSON.parse(stdout) as PacedFigures
  } finally {
    rmSync(dir, { recursive: true })
  }
}
