// Runs the program as its own process, as in production: starts, kills and stops it, and sends it HTTP requests.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const OPERATOR_TOKEN = 'operator token of the reliability runs'
const SECRET_KEY = 'secret key of the reliability runs'
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** Guards against a start that hangs; a busy machine may need more than a minute. */
const START_MS = 240_000

export type Settings = Record<string, string>

export interface Service {
  child: ChildProcess
  publicUrl: string
  operatorUrl: string
  /** milliseconds from the start of the process until it printed that it is running */
  startMs: number
  /** latest lines of its log */
  log: () => string[]
  /** its exit code or signal; null while it is running */
  ended: () => string | null
  kill: (signal: NodeJS.Signals) => Promise<void>
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts a role of the program and waits until it prints that it is running. */
export async function startService(settings: Settings, { role = 'serve', command = [process.execPath], main = MAIN } = {}): Promise<Service> {
  const started = performance.now()
  // Without its own data directory, it would load the start file of another service.
  const noFile = settings.DATA_DIR === undefined && { START_FILE_MINUTES: '0' }
  const env = {
    PATH: process.env.PATH,
    RATE_LIMITS: 'off',
    MINTMARK_DEMO: '0',
    LOG_LEVEL: 'warn',
    OPERATOR_TOKEN,
    SECRET_KEY,
    ...noFile,
    ...settings,
  }
  const [program, ...before] = command
  const child = spawn(program!, [...before, main, role], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let greeting = ''
  let log: string[] = []
  let end: string | null = null
  const exited = once(child, 'exit').then(([code, signal]) => {
    children.delete(child)
    end = String(signal ?? code)
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log = [...log, ...text.trimEnd().split('\n')].slice(-200)))
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`mintmark ${role} ${why}:\n${log.slice(-5).join('\n')}`))
    const timer = setTimeout(() => fail(`did not start within ${START_MS / 1000} s`), START_MS)
    void exited.then(() => fail(`exited with ${end} at its start`))
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      greeting += text
      // The end of the banner, including earlier releases.
      if (!/Ctrl-C (stops it|to stop)\./.test(greeting)) return
      clearTimeout(timer)
      resolve()
    })
  })
  const address = (pattern: RegExp) => pattern.exec(greeting)?.[1] ?? ''
  return {
    child,
    publicUrl: address(/REST +(http:\S+)\/api\/v1\/items/),
    operatorUrl: address(/Operator +(http:\S+)\/operator\/v1/),
    startMs: performance.now() - started,
    log: () => log,
    ended: () => end,
    kill: async (signal) => {
      child.kill(signal)
      await exited
    },
  }
}

/** Runs a command of the program to its end. */
export async function runCommand(settings: Settings, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = { PATH: process.env.PATH, SECRET_KEY, ...settings }
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output: output.trim() }
}

/** A directory for this run; `remove` also removes database files that the program stored outside of it. */
export function workDir(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'mintmark-reliability-'))
  // The embedded database's own user must be able to enter, otherwise its data is stored elsewhere.
  chmodSync(path, 0o711)
  const remove = () => {
    const location = join(path, 'data', 'postgres-location')
    if (existsSync(location)) rmSync(readFileSync(location, 'utf8'), { recursive: true, force: true })
    rmSync(path, { recursive: true, force: true })
  }
  exitOnSignals()
  process.once('exit', remove)
  return { path, remove }
}

let exitsOnSignals = false

/** On signals, exits normally, so that exit handlers clean up. */
function exitOnSignals(): void {
  if (exitsOnSignals) return
  exitsOnSignals = true
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
}

/** Below the ports that Linux and macOS assign to listeners on port 0 and to outgoing connections. */
const PORTS = { from: 20_000, to: 32_000 } as const

/**
 * Free ports for programs that need a fixed port across restarts. They stay reserved while this process runs: the system does not
 * assign ports of this range, and every call first binds the UDP port of the same number.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const port = randomInt(PORTS.from, PORTS.to)
    if ((await reserved(port)) && (await isFree(port))) ports.push(port)
  }
  return ports
}

async function reserved(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind({ port, address: '127.0.0.1', exclusive: true })
  return once(socket, 'listening').then(
    () => {
      socket.unref()
      return true
    },
    () => false,
  )
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen({ port, host: '0.0.0.0', exclusive: true })
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}

export interface Reply<T = unknown> {
  /** 0 if there was no response */
  status: number
  headers: Headers
  body: { success?: boolean; data: T; error?: { code: string; message: string }; pagination?: { total: number } }
  ms: number
}

/** Sends a request; a missing response is also a result. */
export async function ask<T = unknown>(
  url: string,
  credential: string | null,
  { method, json, headers = {}, timeoutMs = 30_000 }: { method?: string; json?: unknown; headers?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Reply<T>> {
  const started = performance.now()
  try {
    const response = await fetch(url, {
      method: method ?? (json === undefined ? 'GET' : 'POST'),
      headers: {
        ...(credential !== null && { authorization: `Bearer ${credential}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const body = (await response.json()) as Reply<T>['body']
    return { status: response.status, headers: response.headers, body, ms: performance.now() - started }
  } catch {
    return { status: 0, headers: new Headers(), body: { data: undefined as T }, ms: performance.now() - started }
  }
}

/** Requests that nodes have counted without the shared store since their start, because it did not respond in time. */
export async function countedAlone(services: readonly Service[]): Promise<number> {
  const counts = services.map(async ({ operatorUrl }) => {
    const response = await fetch(`${operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })
    return Number(/^mintmark_requests_counted_alone_total (\d+)$/m.exec(await response.text())?.[1] ?? Number.NaN)
  })
  return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0)
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * Polls until a condition is true.
 * @param deadlineMs ends a run that would never finish; it is not a promise about time
 * @returns the milliseconds that passed
 */
export async function until(what: string, condition: () => boolean | Promise<boolean>, deadlineMs = 120_000): Promise<number> {
  const started = performance.now()
  while (!(await condition())) {
    if (performance.now() - started > deadlineMs) throw new Error(`${what}: not within ${deadlineMs} ms`)
    await pause(10)
  }
  return performance.now() - started
}
