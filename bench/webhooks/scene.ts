// Shared by the webhook benchmarks: a database, sellers with webhooks, a receiver, and workers as processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createAccount } from '#accounts/create-account.ts'
import { readConfig } from '#config.ts'
import { call } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { emitSales } from '#webhooks/emit.ts'
import { webhookRules } from '#webhooks/rules.ts'
import { type BenchDatabase, type BenchServer, startDatabaseServer } from '../database.ts'

export const SECRET_KEY = 'secret key of the webhook bench'
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const log = { error: console.error, warn: () => {}, info: () => {}, debug: () => {} }

export interface Scene {
  server: BenchServer
  database: BenchDatabase
  close: () => Promise<void>
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** @param settings additional PostgreSQL settings */
export async function openScene(settings: Readonly<Record<string, string>> = {}): Promise<Scene> {
  const server = await startDatabaseServer(settings)
  const database = await server.create('webhooks')
  const close = async () => {
    await database.close()
    await server.close()
  }
  return { server, database, close }
}

/** An account with a webhook to a URL. */
export async function openSeller(database: BenchDatabase, url: string): Promise<number> {
  return (await openSignedSeller(database, url)).accountId
}

/** The same, with the secret that signs its webhooks. */
export async function openSignedSeller({ ctx, url: databaseUrl }: BenchDatabase, url: string): Promise<{ accountId: number; secret: string }> {
  const { id: accountId } = await call(createAccount, ctx, { name: 'Seller', plan: 'plus' })
  const webhooks = webhookRules(readConfig({ DATABASE_URL: databaseUrl, SECRET_KEY }), ctx.db, log, () => [])
  const viewer = { kind: 'account' as const, accountId, keyId: 0, plan: 'plus' as const }
  const { secret } = await call(configureWebhook, { ...ctx, viewer, webhooks }, { url, on_sale: true })
  return { accountId, secret: secret! }
}

/** Commits order lines of an account, each in an order of its own. */
export async function sell(db: Db, accountId: number, orderIds: number[]): Promise<void> {
  const now = new Date()
  const line = {
    accountId,
    listingId: 1,
    itemName: 'Charizard',
    quantity: 1,
    unitPriceKurus: 10_000,
    payoutKurus: 9_000,
    soldAt: now,
  }
  const sales = orderIds.map((orderId) => ({ ...line, orderId }))
  await inTransaction(db, (tx) => emitSales(tx, { now, zone: 'Europe/Istanbul' }, sales))
}

export interface Post {
  orderId: number
  webhookId: string
  headers: IncomingHttpHeaders
  body: string
  /** performance.now() */
  atMs: number
}

/** A receiver in this process that responds with 200 after a delay, or never if it hangs. */
export async function openReceiver(onPost: (post: Post) => void, { delayMs = 0, hangs = false, port = 0 } = {}) {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const atMs = performance.now()
      const body = Buffer.concat(chunks).toString()
      const { data } = JSON.parse(body) as { data: { order_id: number } }
      const { headers } = request
      onPost({ orderId: data.order_id, webhookId: String(headers['webhook-id']), headers, body, atMs })
      if (!hangs) setTimeout(() => response.end('ok'), delayMs)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${address.port}/`, port: address.port, close }
}

export interface Child {
  process: ChildProcess
  /** resolves when it prints that it runs */
  ready: Promise<void>
  kill: (signal: NodeJS.Signals) => Promise<void>
}

export function startProcess(args: string[], env: Record<string, string>): Child {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, LOG_LEVEL: 'fatal', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const ready = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with code ${code} before it ran`)))
    child.stdout!.on('data', (chunk: Buffer) => {
      if (chunk.includes('running')) resolve()
    })
  })
  ready.catch(() => {})
  const kill = async (signal: NodeJS.Signals) => {
    children.delete(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return { process: child, ready, kill }
}

/** The program's own worker. */
export function startWorker(databaseUrl: string, env: Record<string, string> = {}): Child {
  return startProcess([MAIN, 'work'], { DATABASE_URL: databaseUrl, SECRET_KEY, ...env })
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Waits until no event is queued. */
export async function drained(db: Db, deadlineMs = 600_000): Promise<void> {
  const ends = Date.now() + deadlineMs
  const queued = db.kysely.selectFrom('webhook_events').select('id').where('state', '=', 'queued').limit(1)
  while (await queued.executeTakeFirst().catch(() => true)) {
    if (Date.now() > ends) throw new Error('the queue is not empty yet')
    await pause(20)
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
