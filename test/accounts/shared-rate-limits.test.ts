// Rate limits with Redis: nodes share leases from it, and count alone while it is unavailable. Needs Debian's redis-server.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { RateLimits } from '#accounts/rate-limits.ts'
import type { Log } from '#core/context.ts'
import { type Plan, PLANS } from '#core/plans.ts'
import { freePorts } from '../../reliability/service.ts'
import { silent, until } from '../support/node.ts'

const installed = spawnSync('redis-server', ['--version']).status === 0
const LIMITS: Record<Plan, number> = { starter: 5, professional: 60, plus: 600, enterprise: 3000 }
let accounts = 0
const newAccount = (): number => (accounts += 1)
const row = (id: number) => `mintmark:lease:${id}`

/** The remaining requests after a request; null if it is rejected. */
const ask = (limits: RateLimits, id: number, plan: Plan): Promise<number | null> =>
  limits.consume({ kind: 'account', accountId: id, keyId: 1, plan })!.then(
    ({ remaining }) => remaining,
    (error: { code: string }) => {
      expect(error.code).toBe('RATE_LIMITED')
      return null
    },
  )

async function passed(nodes: RateLimits[], id: number, plan: Plan, requests: number): Promise<number> {
  let count = 0
  for (let i = 0; i < requests; i += 1) if ((await ask(nodes[i % nodes.length]!, id, plan)) !== null) count += 1
  return count
}

function open(url: string, log: Log = silent): RateLimits {
  const limits = new RateLimits(LIMITS, { redisUrl: url, log })
  onTestFinished(() => limits.close())
  return limits
}

describe.skipIf(!installed)('limits shared over Redis (skipped where redis-server is not installed)', () => {
  let server: ChildProcess
  let directory: string
  let url: string
  let redis: Redis

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'mintmark-redis-'))
    const [port] = (await freePorts(1)) as [number]
    url = `redis://127.0.0.1:${port}`
    server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory], { stdio: 'ignore' })
    redis = new Redis(url)
    redis.on('error', () => {})
    await until('Redis answers', async () => (await redis.ping()) === 'PONG')
  })

  afterAll(() => {
    redis.disconnect()
    server.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })

  /** Nodes that are connected to Redis. */
  async function connected(count: number): Promise<RateLimits[]> {
    const nodes = Array.from({ length: count }, () => open(url))
    for (const node of nodes) await until('the node leases', () => leases(node))
    return nodes
  }

  /** Whether a new account's request is counted in Redis. */
  async function leases(node: RateLimits): Promise<boolean> {
    const id = newAccount()
    await ask(node, id, 'enterprise')
    return (await redis.exists(row(id))) === 1
  }

  /** Runs with connected nodes and a new account; repeats if a lease took too long on a busy machine. */
  async function undisturbed<T>(count: number, run: (nodes: RateLimits[], id: number) => Promise<T>): Promise<T> {
    for (;;) {
      const nodes = await connected(count)
      const before = nodes.map(({ countedAlone }) => countedAlone)
      const result = await run(nodes, newAccount())
      if (nodes.every(({ countedAlone }, i) => countedAlone === before[i])) return result
    }
  }

  test.each(PLANS)('three nodes together never exceed %s, and use all of it', async (plan) => {
    const count = await undisturbed(6, async (nodes, id) => {
      // The nodes lease in turn, then the minute starts again: by then, each knows that there are several.
      await passed(nodes.slice(0, 3), id, plan, 3)
      await redis.hset(row(id), 'leased', 0)
      return passed(nodes.slice(3), id, plan, LIMITS[plan] * 2)
    })
    expect(count).toBeLessThanOrEqual(LIMITS[plan])
    expect(count).toBeGreaterThanOrEqual(LIMITS[plan] * 0.9)
  })

  test('concurrent requests never exceed the limit', async () => {
    const count = await undisturbed(3, async (nodes, id) => {
      const results = await Promise.all(Array.from({ length: 300 }, (_, i) => ask(nodes[i % 3]!, id, 'professional')))
      return results.filter((left) => left !== null).length
    })
    expect(count).toBeLessThanOrEqual(60)
    expect(count).toBeGreaterThanOrEqual(30)
  })

  test('a single node counts exactly, with a dozen Redis calls for 3,000 requests', async () => {
    const scripts = async () => Number(/cmdstat_eval:calls=(\d+)/.exec(await redis.info('commandstats'))![1])
    const { lefts, asked } = await undisturbed(1, async ([node], id) => {
      const before = await scripts()
      const lefts: (number | null)[] = []
      for (let i = 0; i < 3_010; i += 1) lefts.push(await ask(node!, id, 'enterprise'))
      return { lefts, asked: (await scripts()) - before }
    })
    expect(lefts).toEqual([...Array.from({ length: 3_000 }, (_, i) => 2_999 - i), ...Array(10).fill(null)])
    expect(asked).toBeLessThanOrEqual(13)
  })

  test('a plan change applies at once, within the same minute', async () => {
    const found = await undisturbed(2, async ([one, other], id) => {
      const starter = await passed([one!, other!], id, 'starter', 6)
      const professional = await passed([one!, other!], id, 'professional', 200)
      return { starter, professional, again: await ask(one!, id, 'starter'), plus: await ask(other!, id, 'plus') }
    })
    expect(found).toMatchObject({ starter: 5, again: null })
    expect(found.professional).toBeLessThanOrEqual(55)
    expect(found.plus).not.toBeNull()
  })

  test.each([
    ['ended', () => 1],
    ['ends later than a minute from now, by another clock', () => Date.now() + 3_600_000],
  ])('a new minute begins when the last %s', async (_, ends) => {
    const counts = await undisturbed(2, async ([one, other], id) => {
      const first = await passed([one!], id, 'starter', 6)
      await redis.hset(row(id), 'ends', ends())
      return [first, await passed([other!], id, 'starter', 6), await redis.hget(row(id), 'ends')]
    })
    expect(counts.slice(0, 2)).toEqual([5, 5])
    expect(Math.abs(Number(counts[2]) - Date.now())).toBeLessThan(3_600_000 / 2)
  })

  test('a count in Redis expires after two minutes without requests', async () => {
    const ttl = await undisturbed(1, async ([node], id) => {
      await ask(node!, id, 'starter')
      return redis.pttl(row(id))
    })
    expect(ttl).toBeGreaterThan(0)
    expect(ttl).toBeLessThanOrEqual(120_000)
  })

  test('a wrong password is logged as the reason, without the password', async () => {
    let logged = ''
    const log: Log = { ...silent, warn: (details) => void (logged += inspect(details, { depth: 9, showHidden: true })) }
    await until('the reason is logged', async () => {
      await ask(open(url.replace('//', '//somebody:secret-word@'), log), newAccount(), 'starter')
      return logged.includes('WRONGPASS')
    })
    expect(logged).not.toContain('secret-word')
  })

  test('while Redis is unresponsive, each node counts alone; when it responds, they count together again', async () => {
    const [one, other] = (await connected(2)) as [RateLimits, RateLimits]
    server.kill('SIGSTOP')
    const id = newAccount()
    try {
      for (const node of [one, other]) {
        const before = node.countedAlone
        await passed([node], id, 'starter', 10)
        expect(node.countedAlone).toBeGreaterThan(before)
        expect(await ask(node, id, 'starter')).toBeNull()
      }
    } finally {
      server.kill('SIGCONT')
    }
    for (const node of [one, other]) await until('the node leases again', () => leases(node))
  })
})

test.each([
  ['redis://127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
  ['redis+sentinel://127.0.0.1:1,127.0.0.1:2/mintmark', 'failed to connect to sentinel 127.0.0.1:'],
])('without Redis at %s, a node counts alone and logs why', async (url, why) => {
  const warnings: string[] = []
  const log: Log = { ...silent, warn: (details, message) => void warnings.push(`${message}: ${(details as { err: Error }).err.message}`) }
  // On a busy machine, the failure may come later than the maximum wait of a request.
  await until('the reason is known in time', async () => {
    const limits = open(url, log)
    expect(await passed([limits], newAccount(), 'starter', 10)).toBe(5)
    expect(limits.countedAlone).toBe(10)
    return warnings.at(-1)!.includes(`Rate limits are not shared; counting on this node alone: ${why}`)
  })
})
