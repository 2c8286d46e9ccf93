// Rate limits over Redis: several nodes count together, and go on alone while it is away. Needs Debian's redis-server.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RateLimits } from '#accounts/rate-limits.ts'
import type { Plan } from '#core/plans.ts'
import type { Viewer } from '#core/verb.ts'
import { until } from '../support/node.ts'

const installed = spawnSync('redis-server', ['--version']).status === 0
const LIMITS: Record<Plan, number> = { starter: 3, professional: 5, plus: 10, enterprise: 20 }
const starter: Viewer = { kind: 'account', accountId: 7, keyId: 1, plan: 'starter' }

describe.skipIf(!installed)('limits shared over Redis (skipped where redis-server is not installed)', () => {
  let server: ChildProcess
  let directory: string
  let url: string
  const open: RateLimits[] = []

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'mintmark-redis-'))
    const port = await freePort()
    url = `redis://127.0.0.1:${port}`
    server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory], { stdio: 'ignore' })
  })

  afterAll(() => {
    for (const limits of open) limits.close()
    server.kill()
    rmSync(directory, { recursive: true, force: true })
  })

  const node = (): RateLimits => {
    const limits = new RateLimits(LIMITS, { redisUrl: url })
    open.push(limits)
    return limits
  }

  test('two nodes count one account together, and each alone when Redis has gone', async () => {
    const [one, other] = [node(), node()]
    let accountId = 99
    await until('both are connected', async () => {
      accountId += 1
      const probe: Viewer = { ...starter, accountId, plan: 'enterprise' }
      const first = await one.consume(probe)
      const second = await other.consume(probe)
      return second!.remaining === first!.remaining - 1
    })
    expect((await one.consume(starter))!.remaining).toBe(2)
    expect((await other.consume(starter))!.remaining).toBe(1)
    expect((await one.consume(starter))!.remaining).toBe(0)
    await expect(other.consume(starter)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    server.kill('SIGKILL')
    await until('each counts alone', async () => {
      accountId += 1
      const limits = other.consume({ ...starter, accountId, plan: 'enterprise' })
      return (await limits?.catch(() => null)) != null
    })
    expect((await one.consume(starter))!.remaining).toBe(2)
  })
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
