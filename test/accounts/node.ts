// A node for tests: a pool, a change feed, both keyrings and the operator's listener, on a clock that tests move.
import { apiKeyring, consoleSessions, operatorTokens } from '#accounts/keyring.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Log } from '#core/context.ts'
import { ChangeFeed } from '#db/change-feed.ts'
import { readConfig } from '#config.ts'
import type { WriteCtx } from '#db/change.ts'
import { openPool } from '#db/pool.ts'
import type { Schema } from '#db/schema.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { operatorServer } from '#operator/server.ts'
import { webhookRules } from '#webhooks/rules.ts'

export const BOOTSTRAP_TOKEN = 'bootstrap token of the tests'
export const silent: Log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

export class Clock {
  #offsetMs = 0
  readonly now = (): Date => new Date(Date.now() + this.#offsetMs)

  advance(ms: number): void {
    this.#offsetMs += ms
  }
}

export type TestNode = Awaited<ReturnType<typeof openNode>>

/** A node on the database; several on one database follow each other's changes. */
export async function openNode(databaseUrl: string, clock = new Clock()) {
  const db = openPool<Schema>({ url: databaseUrl, max: 12, applicationName: 'mintmark-test' })
  const feed = new ChangeFeed(db, { warn: () => {}, info: () => {} })
  await feed.open()
  const { now } = clock
  const keys = apiKeyring({ db, log: silent, now })
  const operators = operatorTokens({ db, log: silent, now }, BOOTSTRAP_TOKEN)
  const sessions = consoleSessions({ db, log: silent, now }, BOOTSTRAP_TOKEN)
  for (const follower of [keys, operators, sessions]) feed.add(follower)
  feed.start()
  const config = readConfig({ DATABASE_URL: databaseUrl })
  const webhooks = webhookRules(config, db, silent, () => [])
  const app = await operatorServer({ config, db, log: silent, feed, operators, sessions, now, webhooks, market: config, catalogue: new Catalogue(db, 1), requests: new RequestCounts() })
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  const ctx: WriteCtx = {
    db,
    viewer: { kind: 'operator', name: 'test' },
    now,
    requestId: null,
    idempotency: null,
    caughtUp: () => feed.pull(),
  }
  const close = async () => {
    await app.close()
    await feed.close()
    await keys.close()
    await operators.close()
    await sessions.close()
    await db.close()
  }
  return { db, feed, keys, operators, ctx, clock, baseUrl, close }
}

export interface Reply {
  status: number
  headers: Headers
  body: {
    success: boolean
    data: never
    message?: string
    pagination?: object
    error?: { code: string; message: string; details?: { field: string; message: string }[] }
  }
}

/** Sends a request with the bootstrap token; `json` is the body, `text` one that may be no JSON. */
export async function send(
  node: TestNode,
  method: string,
  path: string,
  {
    json,
    text,
    headers,
    token = BOOTSTRAP_TOKEN,
  }: { json?: unknown; text?: string; headers?: Record<string, string>; token?: string } = {},
): Promise<Reply> {
  const body = json === undefined ? text : JSON.stringify(json)
  const response = await fetch(node.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Reply['body'] }
}

/** Asks until the answer is yes. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 5000,
): Promise<void> {
  const ends = Date.now() + deadlineMs
  while (!(await condition())) {
    if (Date.now() > ends) throw new Error(`${what}: not within ${deadlineMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
