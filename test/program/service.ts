// The program in its own process, as people run it: started with settings, awaited, ended; its data is removed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../support/node.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

const roots: string[] = []
const children = new Set<ChildProcess>()

/** Removes the data that a service run by root stores outside its DATA_DIR. */
export function removeDataOf(dataDir: string): void {
  const location = join(dataDir, 'postgres-location')
  if (existsSync(location)) rmSync(readFileSync(location, 'utf8'), { recursive: true, force: true })
}

/** Ends all processes that still run, and removes every DATA_DIR. */
export async function endAll(): Promise<void> {
  // The second signal stops a service immediately, with its PostgreSQL.
  for (const child of children) {
    child.kill('SIGINT')
    await kill(child, 'SIGINT')
  }
  for (const root of roots) {
    removeDataOf(join(root, 'data'))
    rmSync(root, { recursive: true, force: true })
  }
}

/** A DATA_DIR that does not exist yet. */
export function freshDataDir(): string {
  const root = mkdtempSync(join(tmpdir(), 'mintmark-program-'))
  roots.push(root)
  return join(root, 'data')
}

export type Settings = Record<string, string>

export function launch(args: string[], settings: Settings, file = MAIN): ChildProcess {
  const env = { PATH: process.env.PATH, PORT: '0', OPERATOR_PORT: '0', ...settings }
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

export interface Ended {
  code: number | null
  out: string
  /** output for people; log lines are JSON */
  said: string[]
}

export async function ended(child: ChildProcess): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (err += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, said: err.split('\n').filter((line) => line !== '' && !line.startsWith('{')) }
}

export function run(args: string[], settings: Settings): Promise<Ended> {
  return ended(launch(args, settings))
}

export interface Service {
  child: ChildProcess
  /** output during the start */
  greeting: string
  publicUrl: string
  operatorUrl: string
  end: Promise<Ended>
}

/** Starts the service and waits for its message that it runs. */
export async function serve(settings: Settings, args: string[] = ['serve'], file = MAIN): Promise<Service> {
  const child = launch(args, settings, file)
  let greeting = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (greeting += text))
  const end = ended(child)
  await Promise.race([
    until('the service runs', () => greeting.includes('Press Ctrl-C to stop.')),
    end.then(({ code, said }) => {
      throw new Error(`ended with ${code}: ${said.join('\n')}`)
    }),
  ])
  const address = (pattern: RegExp) => pattern.exec(greeting)?.[1] ?? ''
  return {
    child,
    greeting,
    publicUrl: address(/REST +(http:\S+)\/api\/v1\/items/),
    operatorUrl: address(/Operator +(http:\S+)\/operator\/v1/),
    end,
  }
}

export async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

export async function stop(service: Service): Promise<void> {
  service.child.kill('SIGINT')
  expect((await service.end).code).toBe(0)
}

/** The keys and tokens that the demo prints, by plan or token. */
export function printedKeys(greeting: string): Record<string, string> {
  return Object.fromEntries([...greeting.matchAll(/^ +(\w+ (?:key|token)) +(\S+)$/gm)].map((match) => [match[1]!, match[2]!]))
}
