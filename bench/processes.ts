// The servers being measured, each a process of its own on the first core.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const SERVER_CORE = 0
const REPOSITORY = fileURLToPath(new URL('..', import.meta.url))
const START_MS = 120_000
const ABOUT_INSPECTOR = /^(Debugger (listening|attached|ending)|For help, see: https:\/\/nodejs|Waiting for the debugger)/

/** Whether processes can be pinned to a core; without pinning, figures vary more. */
export const canPin = works('taskset', ['-V'])

keepCoresAwake()

export interface Server {
  url: string
  pid: number
  /** milliseconds from the start of the process until it printed its address */
  listeningMs: number
  stop: (signal?: NodeJS.Signals) => Promise<void>
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** A command line pinned to one core, where possible. */
export function pinned(core: number, command: string[]): string[] {
  return canPin ? ['taskset', '-c', String(core), ...command] : command
}

/** Pins a running process and its threads; processes that it starts later inherit this. */
export function pinProcess(pid: number, core: number): void {
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' })
}

/** What starts a program instead of this repository and Node's own options. */
export interface Program {
  /** folder of another checkout; default: this one */
  folder?: string
  /** options of Node itself */
  options?: readonly string[]
}

/** Starts a program of this repository on the server's core and waits until it prints its address. */
export async function startServer(script: string, args: string[], env: Record<string, string> = {}, program: Program = {}): Promise<Server> {
  const started = performance.now()
  const child = run(script, args, env, program)
  const exited = once(child, 'exit')
  const complain = (code: number | null, signal: string | null) => console.error(`${script} ended by itself: ${signal ?? code}`)
  child.on('exit', complain)
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${script} did not start within ${START_MS / 1000} s`)), START_MS)
    let output = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const address = /(http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1]
      if (!address) return
      clearTimeout(timer)
      resolve(address)
    })
    exited.then(
      ([code]) => reject(new Error(`${script} ended with code ${code}:\n${output}`)),
      (error: Error) => reject(error),
    )
  })
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.off('exit', complain)
    child.kill(signal)
    await exited
  }
  return { url, pid: child.pid!, listeningMs: performance.now() - started, stop }
}

export interface Node extends Server {
  /** port of its inspector once started */
  inspectPort: number
}

/** Starts our node as users do, without request limits, and waits until it listens. */
export async function startNode(databaseUrl: string, settings: Record<string, string> = {}, program: Program = {}): Promise<Node> {
  const inspectPort = await freePort()
  const env = {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
    START_FILE_MINUTES: '0',
    NODE_OPTIONS: `--inspect-port=${inspectPort}`,
    ...settings,
  }
  return { ...(await startServer('src/main.ts', ['api'], env, program)), inspectPort }
}

/** Runs a program of this repository on the server's core to its end. @returns its output */
export async function runToEnd(script: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = run(script, args, env)
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} ended with code ${code}:\n${output}`)
  return output
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024
}

/** Processor time of a process in microseconds; NaN if the system does not report it. */
export function cpuMicros(pid: number): number {
  try {
    // After the command name, which may contain anything: user and system time are the 12th and 13th fields, in ticks of 10 ms.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return Number.NaN
  }
}

/** Waits until processes have finished what they still do for requests that the load generator has abandoned, half a minute at most. */
export async function idle(pids: readonly number[]): Promise<void> {
  const used = () => pids.reduce((sum, pid) => sum + (cpuMicros(pid) || 0), 0)
  const until = performance.now() + 30_000
  let before: number
  do {
    before = used()
    await delay(200)
  } while (used() - before > 100_000 && performance.now() < until)
}

/** Processes and their descendants. */
export function treeOf(pids: number[]): number[] {
  const parents = new Map<number, number>()
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      parents.set(pid, Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]))
    } catch {
      // it has ended since the directory was read
    }
  }
  const isBelow = (pid: number | undefined): boolean => pid !== undefined && (pids.includes(pid) || isBelow(parents.get(pid)))
  return [...parents.keys()].filter(isBelow)
}

/** Memory of a process, with its part of what it shares with others. */
export function proportionalMb(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024
}

/** Options of Node itself with which a process of ours runs: a node adds some to those it was started with. */
export function optionsOf(pid: number): string[] {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  return words.slice(
    1,
    words.findIndex((word) => word.endsWith('.ts')),
  )
}

/** Variables of the environment that `src/main.ts` adds, as this process has them. */
export function environmentOf(pid: number): Record<string, string> {
  const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .map((pair) => pair.split(/=(.*)/s) as [string, string])
  return Object.fromEntries(pairs.filter(([name]) => /^(MALLOC_|NODE_COMPILE_CACHE$)/.test(name)))
}

function run(script: string, args: string[], env: Record<string, string>, { folder = REPOSITORY, options = [] }: Program = {}): ChildProcess {
  const [command, ...rest] = pinned(SERVER_CORE, [process.execPath, ...options, join(folder, script), ...args])
  const child = spawn(command!, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (!ABOUT_INSPECTOR.test(line)) console.error(line)
  })
  child.once('exit', () => children.delete(child))
  return child
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/**
 * Keeps idle cores from sleeping until this process ends, where the system allows it. The load generator sleeps between two responses of a server that
 * is slower than itself; on a virtual machine, waking its core takes the server 10 to 15 µs for each response, which no network would cost it.
 */
function keepCoresAwake(): void {
  try {
    writeSync(openSync('/dev/cpu_dma_latency', 'w'), Buffer.alloc(4))
  } catch {
    // Only Linux has this file, and only root may write to it.
  }
}

function works(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
