// A whole node for tests, composed like the program: both listeners, a key for every plan, and a clock that tests advance.
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Log } from '#core/context.ts'
import { MARKETS } from '#core/markets.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { type Config, readConfig } from '#config.ts'
import { importFiles as importFilesVerb } from '#imports/import-files.ts'
import type { ImportReport } from '#imports/run.ts'
import { changeSource } from '#prices/reviews/change-source.ts'
import { type RunningNode, startNode } from '#node/start.ts'
import { createPlanAccounts } from './accounts.ts'
import { nodeDatabase, type TestDatabase } from './postgres.ts'

/** Lets dumps, changes, exports and language models have the prices of all sources. */
export async function passOnAllPrices({ ctx }: Pick<TestNode, 'ctx'>): Promise<void> {
  for (const market of MARKETS) if (market !== 'service') await call(changeSource, ctx, { market, use: 'redistribute' })
}

export const OPERATOR_TOKEN = 'operator token of the tests'
export const silent: Log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

export class Clock {
  #offsetMs = 0
  #stoppedMs: number | null = null
  readonly now = (): Date => new Date((this.#stoppedMs ?? Date.now()) + this.#offsetMs)

  advance(ms: number): void {
    this.#offsetMs += ms
  }

  /** From now on, only `advance` moves the clock, until `go`: for assertions to the second. Clocks stopped at the same time stay equal. */
  stop(atMs = Date.now()): void {
    this.#stoppedMs ??= atMs
  }

  /** Lets the clock run again, from its current time. */
  go(): void {
    if (this.#stoppedMs !== null) this.#offsetMs -= Date.now() - this.#stoppedMs
    this.#stoppedMs = null
  }
}

/** Tests send many requests at once to a node with a small pool, on busy machines: none of them may time out. */
export const PATIENT = { connectTimeoutMs: 120_000, patienceMs: 60_000 } as const

/**
 * Waits for the first run of each periodic task: a late one would write in the middle of a test. Deliveries and dumps
 * are excluded, because other tests can delay them.
 */
export async function settle({ tasks }: Pick<RunningNode, 'tasks'>): Promise<void> {
  const waiting = () => tasks().filter(({ name, lastRunMs }) => lastRunMs === null && !/^(webhook|dumps)/.test(name))
  await until('the first run of each task', () => waiting().length === 0)
}

const QUARTER_MS = 15 * 60_000
/** Midnights of Istanbul and UTC, in UTC. */
const MIDNIGHTS_MS = [21, 24].map((hour) => hour * 3_600_000)

/** How far a clock must advance so that the next quarter of an hour is within one day, and therefore one month, in UTC and in Istanbul. */
export function msPastMidnight(now: Date): number {
  const ofDayMs = now.getTime() % 86_400_000
  const midnightMs = MIDNIGHTS_MS.find((at) => at > ofDayMs && at - ofDayMs < QUARTER_MS)
  return midnightMs === undefined ? 0 : midnightMs - ofDayMs
}

export type TestNode = Awaited<ReturnType<typeof startTestNode>>

export interface TestNodeOptions {
  /** the database of another node, to run several on one */
  databaseUrl?: string
  /** creates its database; default: without a catalogue */
  database?: () => Promise<TestDatabase>
  /** additional settings, as environment variables */
  env?: Record<string, string>
  log?: Log
  /** the listeners that the test calls; default: both */
  listeners?: 'public' | 'operator' | 'none'
  /** whether it runs the worker's tasks, such as deliveries and dumps; default: only those that the test calls */
  worker?: boolean
}

/** Starts a node on its own database (or the given one) with its own ports, and an account with a key for every plan. */
export async function startTestNode(options: TestNodeOptions = {}) {
  const { databaseUrl, database = nodeDatabase, env = {}, log = silent, listeners, worker = false } = options
  const own = databaseUrl === undefined ? await database() : null
  const url = databaseUrl ?? own!.url
  // Only nodes on the same database share files.
  const dataDir = join(tmpdir(), `mintmark-node-${createHash('sha256').update(url).digest('hex').slice(0, 16)}`)
  mkdirSync(dataDir, { recursive: true })
  const clock = new Clock()
  const config = readConfig({
    PORT: '0',
    OPERATOR_PORT: '0',
    RATE_LIMITS: 'off',
    DUMP_HOUR: 'off',
    START_FILE_MINUTES: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    OPERATOR_TOKEN,
    SECRET_KEY: 'secret key of all the tests',
    ...env,
  })
  const opened = { public: (listeners ?? 'public') === 'public', operator: (listeners ?? 'operator') === 'operator' }
  const db = openPool<Schema>({ url, max: 12, applicationName: 'mintmark test', ...PATIENT })
  const node = await startNode({ config, db, log, now: clock.now, listeners: opened, worker })
  await settle(node)
  const ctx = node.ctx({ kind: 'operator', name: 'test' })
  const { keys, accounts } = own ? inject('planAccounts') : await createPlanAccounts(ctx)
  const close = async () => {
    await node.close()
    await db.close()
    if (!own) return
    await own.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { ...node, ctx, db, clock, config, databaseUrl: url, keys, accounts, close }
}

/** Two nodes on one database. */
export async function startTwoNodes(env: Record<string, string> = {}): Promise<{ here: TestNode; there: TestNode; close: () => Promise<void> }> {
  const here = await startTestNode({ env })
  const there = await startTestNode({ databaseUrl: here.databaseUrl, env })
  const close = async () => {
    await there.close()
    await here.close()
  }
  return { here, there, close }
}

export interface Reply<T = unknown> {
  status: number
  headers: Headers
  body: {
    success: boolean
    data: T
    message?: string
    pagination?: { current_page: number; per_page: number; total: number; last_page: number; has_more: boolean }
    error?: {
      code: string
      message: string
      rule?: string
      params?: object
      details?: { field: string; message: string; rule: string; params: object }[]
    }
  }
}

export interface Sending {
  /** the body as JSON */
  json?: unknown
  /** a raw body */
  body?: string | Uint8Array
  headers?: Record<string, string>
  method?: string
}

/** Sends a request with a bearer credential; null sends none. */
export async function send<T = unknown>(url: string, credential: string | null, sending: Sending = {}): Promise<Reply<T>> {
  const body = sending.json === undefined ? sending.body : JSON.stringify(sending.json)
  const response = await fetch(url, {
    method: sending.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...sending.headers,
    },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : null) as Reply<T>['body'] }
}

interface Importing {
  ctx: WriteCtx
  config: Pick<Config, 'priceRules'>
}

/** Imports text under a format's name and waits for its report. */
export function importText(node: Importing, format: string, text: string | Uint8Array, options: ImportOptions = {}): Promise<ImportReport> {
  return importFiles(node, format, [{ name: 'test', text }], options)
}

interface ImportOptions {
  dryRun?: boolean
  /** additional input of the verb, such as `map` */
  input?: object
}

export async function importFiles(
  node: Importing,
  format: string,
  files: { name: string; text: string | Uint8Array }[],
  { dryRun = false, input = {} }: ImportOptions = {},
): Promise<ImportReport> {
  const opened = files.map(({ name, text }) => ({
    name,
    size: text.length,
    open: async function* () {
      yield typeof text === 'string' ? new TextEncoder().encode(text) : text
    },
  }))
  return call(importFilesVerb, { ...node.ctx, rules: node.config.priceRules }, { ...input, format, files: opened, dry_run: dryRun })
}

/** Repeats the check until it succeeds. The deadline only ends a check that never succeeds; reliability/ measures durations. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, deadlineMs = 120_000): Promise<void> {
  const ends = Date.now() + deadlineMs
  // Short waits end at once; long ones leave the processor to what they wait for.
  for (let pauseMs = 4; !(await condition()); pauseMs = Math.min(pauseMs * 1.25, 50)) {
    if (Date.now() > ends) throw new Error(`${what}: not within ${deadlineMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
