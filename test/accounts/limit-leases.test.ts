// Limits of several nodes on one database: counted together by leases, exactly and with few statements.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { RateLimits } from '#accounts/limits/rate-limits.ts'
import { type Plan, PLANS } from '#core/plans.ts'
import { call, type Viewer } from '#core/verb.ts'
import { type Database, openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { freshDatabase } from '../support/postgres.ts'
import { send, silent, startTestNode, until } from '../support/node.ts'

const LIMITS: Record<Plan, number> = { starter: 5, professional: 60, plus: 600, enterprise: 3000 }
let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database<Schema>
let accountId = 0

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 8, applicationName: 'mintmark test' })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})
beforeEach(() => void (accountId += 1))

const viewer = (plan: Plan): Viewer => ({ kind: 'account', accountId, keyId: 1, plan })
const node = () => new RateLimits(LIMITS, { db, log: silent })

/** The remaining requests after a request; null if it is rejected. */
const ask = (limits: RateLimits, plan: Plan): Promise<number | null> =>
  limits.consume(viewer(plan))!.then(
    ({ remaining }) => remaining,
    (error: { code: string }) => {
      expect(error.code).toBe('RATE_LIMITED')
      return null
    },
  )

async function passed(nodes: RateLimits[], plan: Plan, requests: number): Promise<number> {
  let count = 0
  for (let i = 0; i < requests; i += 1) if ((await ask(nodes[i % nodes.length]!, plan)) !== null) count += 1
  return count
}

async function statements(run: () => Promise<unknown>): Promise<number> {
  let count = 0
  const add = () => void (count += 1)
  db.pool.on('acquire', add)
  await run()
  db.pool.off('acquire', add)
  return count
}

/** Runs with new nodes and a new account; repeats if a lease took too long on a busy machine. */
async function undisturbed<T>(count: number, run: (nodes: RateLimits[]) => Promise<T>): Promise<T> {
  for (;;) {
    accountId += 1
    const nodes = Array.from({ length: count }, node)
    const result = await run(nodes)
    if (nodes.every(({ countedAlone }) => countedAlone === 0)) return result
  }
}

test('two nodes on one database allow the limit once, not twice', async () => {
  const one = await startTestNode({ env: { RATE_LIMITS: 'starter=5' }, listeners: 'public' })
  const other = await startTestNode({ databaseUrl: one.databaseUrl, env: { RATE_LIMITS: 'starter=5' }, listeners: 'public' })
  try {
    const countedAlone = async () => {
      const texts = await Promise.all([one.metrics(), other.metrics()])
      return texts.map((text) => /^mintmark_requests_counted_alone_total (\d+)$/m.exec(text)![1])
    }
    let replies: Awaited<ReturnType<typeof send>>[]
    let before: Awaited<ReturnType<typeof countedAlone>>
    // Repeated with another account if a lease took too long on a busy machine.
    do {
      before = await countedAlone()
      const account = await call(createAccount, one.ctx, { name: 'Limited', plan: 'starter', highlight_credits: 0 })
      const { key } = await call(createKey, one.ctx, { account_id: account.id })
      replies = []
      for (let i = 0; i < 10; i += 1) replies.push(await send(`${(i % 2 ? other : one).publicUrl}/api/v1/items`, key))
    } while (String(await countedAlone()) !== String(before))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429])
    expect(replies[9]!.headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/)
    expect(Number(replies[9]!.headers.get('retry-after'))).toBeGreaterThan(0)
  } finally {
    await other.close()
    await one.close()
  }
})

test.each(PLANS)('three nodes together never exceed %s, and use all of it', async (plan) => {
  const count = await undisturbed(6, async (nodes) => {
    // The nodes lease in turn, then the minute starts again: by then, each knows that there are several.
    await passed(nodes.slice(0, 3), plan, 3)
    await db.kysely.updateTable('rate_limit_leases').set({ leased: 0 }).where('account_id', '=', accountId).execute()
    return passed(nodes.slice(3), plan, LIMITS[plan] * 2)
  })
  expect(count).toBeLessThanOrEqual(LIMITS[plan])
  expect(count).toBeGreaterThanOrEqual(LIMITS[plan] * 0.9)
})

test('concurrent requests never exceed the limit', async () => {
  const count = await undisturbed(3, async (nodes) => {
    const results = await Promise.all(Array.from({ length: 300 }, (_, i) => ask(nodes[i % 3]!, 'professional')))
    return results.filter((left) => left !== null).length
  })
  expect(count).toBeLessThanOrEqual(60)
  expect(count).toBeGreaterThanOrEqual(30)
})

test('a single node counts exactly, with a dozen database queries for 3,000 requests', async () => {
  const { lefts, statementCount } = await undisturbed(1, async ([alone]) => {
    const lefts: (number | null)[] = []
    const statementCount = await statements(async () => {
      for (let i = 0; i < 3_010; i += 1) lefts.push(await ask(alone!, 'enterprise'))
    })
    return { lefts, statementCount }
  })
  expect(lefts.slice(0, 3_000)).toEqual(Array.from({ length: 3_000 }, (_, i) => 2_999 - i))
  expect(lefts.slice(3_000)).toEqual(Array(10).fill(null))
  expect(statementCount).toBeLessThanOrEqual(13)
})

test('a plan change applies at once, within the same minute', async () => {
  const found = await undisturbed(2, async ([one, other]) => ({
    starter: await passed([one!, other!], 'starter', 6),
    professional: await passed([one!, other!], 'professional', 200),
    again: await ask(one!, 'starter'),
    plus: await ask(other!, 'plus'),
    once: await ask(other!, 'starter'),
  }))
  expect(found).toMatchObject({ starter: 5, again: null, once: null })
  expect(found.professional).toBeLessThanOrEqual(55)
  expect(found.plus).not.toBeNull()
})

test('a new minute begins when the previous one ends by the database clock', async () => {
  const counts = await undisturbed(2, async ([one, other]) => {
    const first = await passed([one!], 'starter', 6)
    await db.kysely
      .updateTable('rate_limit_leases')
      .set({ ends_at: new Date(0) })
      .where('account_id', '=', accountId)
      .execute()
    return [first, await passed([other!], 'starter', 6)]
  })
  expect(counts).toEqual([5, 5])
})

test('without the database, a node counts alone', async () => {
  const gone = openPool<Schema>({ url: 'postgresql://nobody@127.0.0.1:1/none', max: 1, applicationName: 'test' })
  const alone = new RateLimits(LIMITS, { db: gone, log: silent })
  expect(await passed([alone], 'starter', 10)).toBe(5)
  await gone.close()
})

test('a late lease is reduced by the requests accepted in the meantime', async () => {
  const held = await Promise.all(Array.from({ length: 8 }, () => db.pool.connect()))
  const limits = node()
  const lefts = [await ask(limits, 'starter'), await ask(limits, 'starter')]
  for (const client of held) client.release()
  const leases = db.kysely.selectFrom('rate_limit_leases').select('leased').where('account_id', '=', accountId)
  await until('the lease is there', async () => (await leases.execute()).length > 0)
  for (let i = 0; i < 5; i += 1) lefts.push(await ask(limits, 'starter'))
  expect(lefts).toEqual([4, 3, 2, 1, 0, null, null])
})

test('an unresponsive database delays one request briefly, and later requests not at all', async () => {
  // All connections are in use: the statement waits for one.
  const held = await Promise.all(Array.from({ length: 8 }, () => db.pool.connect()))
  const limits = node()
  try {
    expect(await passed([limits], 'starter', 10)).toBe(5)
  } finally {
    for (const client of held) client.release()
  }
})
