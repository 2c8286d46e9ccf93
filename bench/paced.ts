// Load at a fixed rate from the second core: latency is measured from each request's due time, however late it is sent.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
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

/** Latencies in milliseconds, and the mean size of a response. */
export interface PacedFigures {
  requests: number
  p50: number
  p99: number
  max: number
  bytes: number
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
