// Runs the processes of the embedded PostgreSQL server: creation, start and stop.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { delay, monotonicMs } from '#core/process/time-and-chance.ts'
import type { TextLog } from '#core/context.ts'
import { identify, isRunning, isSystemError } from './data-dir.ts'
import { type Home, changeOwner, readText } from './embedded-home.ts'

export const USER = 'mintmark'

const STOP_MS = 10_000

export function isCreated({ data }: Home): boolean {
  return fs.existsSync(join(data, 'PG_VERSION'))
}

/** Creates the cluster in a temporary directory and moves it into place, so that an interrupted start leaves no partial one. */
export async function initialise(home: Home, password: string, durable: boolean): Promise<void> {
  if (isCreated(home)) return
  const draft = `${home.data}.new`
  const passwordFile = `${home.data}.password`
  fs.rmSync(draft, { recursive: true, force: true })
  try {
    writePrivate(passwordFile, password)
    changeOwner(home.user, passwordFile)
    fs.mkdirSync(draft, { mode: 0o700 })
    changeOwner(home.user, draft)
    const args = ['-D', draft, '--username', USER, '--pwfile', passwordFile, '--auth=scram-sha-256', '--encoding=UTF8']
    args.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--data-checksums')
    args.push('--no-instructions', ...(durable ? [] : ['--no-sync']))
    const child = spawn(join(home.native, 'bin/initdb'), args, { ...asUser(home), stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code] = (await once(child, 'close')) as [number | null]
    const words = lastWords(said) ?? `initdb exited with ${code}`
    if (code !== 0) throw new Error(`Embedded PostgreSQL cannot create its data: ${words}`)
    fs.renameSync(draft, home.data)
  } finally {
    fs.rmSync(passwordFile, { force: true })
    fs.rmSync(draft, { recursive: true, force: true })
  }
}

/** Resolves once the server accepts connections; recovery after a crash may take time. */
export async function startServer(home: Home, args: string[], logFile: string, log: TextLog): Promise<ChildProcess> {
  const deadline = monotonicMs() + STOP_MS
  if (fs.existsSync(logFile)) fs.renameSync(logFile, `${logFile}.previous`)
  for (;;) {
    const output = fs.openSync(logFile, 'w', 0o600)
    // In its own process group: Ctrl-C in the terminal reaches only this process, which stops the server when its work is done.
    const options = { ...asUser(home), detached: true, stdio: ['ignore', output, output] as ['ignore', number, number] }
    const child = spawn(join(home.native, 'bin/postgres'), args, options)
    fs.closeSync(output)
    let ended = null as Error | null
    child.once('error', (error) => (ended = error))
    child.once('exit', (code, signal) => (ended = new Error(`it exited with ${signal ?? code}`)))
    const since = monotonicMs()
    let logged = false
    while (!ended && !isReady(home, child.pid)) {
      await delay(10)
      if (!logged && monotonicMs() - since > 5_000) {
        logged = true
        log.info('Embedded PostgreSQL is recovering from a crash')
      }
    }
    if (!ended) return child
    const words = lastWords(fs.readFileSync(logFile, 'utf8'))
    // If only the postmaster was killed, its child processes take a moment to exit.
    const lingering =
      words && (words.includes('pre-existing shared memory block') || (words.includes('lock file "') && words.includes('" already exists')))
    if (!lingering || monotonicMs() > deadline) {
      throw new Error(`Embedded PostgreSQL cannot start: ${words ?? ended.message}`)
    }
    await delay(100)
  }
}

function isReady(home: Home, pid: number | undefined): boolean {
  const lines = postmasterFile(home)
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}

/** Stops fast, then immediately (recovered at the next start), then by SIGKILL. */
export async function endServer(pid: number): Promise<void> {
  const server = identify(pid)
  if (!server) return
  for (const [signal, patience] of [
    ['SIGINT', STOP_MS],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 1_000],
  ] as const) {
    if (!send(signal, pid)) return
    for (const until = monotonicMs() + patience; monotonicMs() < until; await delay(10)) {
      if (!isRunning(server)) return
    }
  }
  throw new Error(`Embedded PostgreSQL (process ${pid}) does not exit`)
}

/** @returns false if the process has just ended */
function send(signal: NodeJS.Signals, pid: number): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ESRCH') return false
    throw error
  }
}

export function postmasterFile(home: Home): string[] {
  return readText(join(home.data, 'postmaster.pid'))?.split('\n') ?? []
}

/** PostgreSQL runs as its own user, in a directory that it can enter, and without our PG* variables. */
function asUser(home: Home) {
  const env = { LC_ALL: 'C', PATH: '/usr/bin:/bin' }
  return home.user ? { cwd: '/', env, uid: home.user.uid, gid: home.user.gid } : { cwd: '/', env }
}

/** The last error among PostgreSQL's lines, without its prefix. */
function lastWords(text: string): string | null {
  return (
    text
      .match(/(?:FATAL|PANIC|error): .*/g)
      ?.at(-1)
      ?.replace(/^\w+:\s+/, '') ?? null
  )
}

export function writePrivate(file: string, text: string): void {
  fs.writeFileSync(`${file}.draft`, text, { mode: 0o600, flush: true })
  fs.renameSync(`${file}.draft`, file)
}
