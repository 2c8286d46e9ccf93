// `doctor` on the Redis of REDIS_URL, alone and behind a Sentinel: its address, or what is wrong with it. Needs Debian's redis-server.
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { machineFindings } from '#health/checks.ts'
import type { Finding } from '#health/findings.ts'
import { readConfig } from '#config.ts'
import { installed, spawnProgram } from '../../reliability/front.ts'
import { freePorts, runCommand, workDir } from '../../reliability/service.ts'
import { until } from '../support/node.ts'

/** The findings of `doctor` about Redis. */
async function findingOf(redisUrl: string): Promise<Finding | undefined> {
  const findings = await machineFindings(readConfig({ REDIS_URL: redisUrl }))
  return findings.find(({ check }) => check === 'redis')
}

describe.skipIf(!installed('redis-server', '--version'))('doctor on Redis (skipped where redis-server is not installed)', () => {
  let dir: ReturnType<typeof workDir>
  let ports: number[]
  let url: string
  let sentinels: string
  let redis: Redis
  const servers: ChildProcess[] = []

  beforeAll(async () => {
    dir = workDir()
    ports = await freePorts(2)
    const [port, sentinelPort] = ports
    url = `redis://:secret-word@127.0.0.1:${port}`
    sentinels = `127.0.0.1:1,127.0.0.1:${sentinelPort}`
    const files = {
      'redis.conf': ['bind 127.0.0.1', `port ${port}`, `dir ${dir.path}`, 'save ""', 'requirepass secret-word'],
      'sentinel.conf': [
        'bind 127.0.0.1',
        `port ${sentinelPort}`,
        `dir ${dir.path}`,
        'requirepass other-word',
        `sentinel monitor mintmark 127.0.0.1 ${port} 1`,
        'sentinel auth-pass mintmark secret-word',
      ],
    }
    for (const [name, lines] of Object.entries(files)) {
      writeFileSync(join(dir.path, name), `${lines.join('\n')}\n`)
      servers.push(spawnProgram('redis-server', [join(dir.path, name), ...(name === 'sentinel.conf' ? ['--sentinel'] : [])]))
    }
    redis = new Redis(url)
    redis.on('error', () => {})
    await until('Redis responds', async () => (await redis.ping()) === 'PONG')
    await until('the Sentinel responds', async () => (await findingOf(behind('mintmark')))?.ok === true)
  })

  afterAll(() => {
    redis.disconnect()
    for (const server of servers) server.kill('SIGKILL')
    dir.remove()
  })

  const behind = (name: string, { word = 'secret-word', sentinelWord = 'other-word' } = {}) =>
    `redis+sentinel://:${word}@${sentinels}/${name}?sentinel_password=${sentinelWord}`

  test('names the address of the current master', async () => {
    const address = `127.0.0.1:${ports[0]}`
    expect(await findingOf(url)).toMatchObject({ ok: true, rule: 'redis_good', params: { address, milliseconds: expect.any(Number) as number } })
    const found = await findingOf(behind('mintmark'))
    expect(found).toMatchObject({ ok: true, rule: 'redis_good', params: { address, name: 'mintmark' } })
    expect(found!.found).toContain(`master of mintmark: ${address} responded in`)
    // The lease belongs to no account, and expires.
    expect(await redis.keys('*')).toEqual(['mintmark:lease:0'])
    expect(await redis.pttl('mintmark:lease:0')).toBeGreaterThan(0)
  })

  test.each([
    ['no server listens', () => 'redis://127.0.0.1:1', 'redis_unreachable', '127.0.0.1:1 cannot be used: connect ECONNREFUSED'],
    [
      'no Sentinel listens',
      () => 'redis+sentinel://127.0.0.1:1/mintmark',
      'redis_unreachable',
      'Sentinel 127.0.0.1:1 cannot be used: connect ECONNREFUSED',
    ],
    ['the password is wrong', () => url.replace('secret', 'wrong'), 'redis_refused', 'denies access: WRONGPASS'],
    ['the password is missing', () => url.replace(':secret-word@', ''), 'redis_refused', 'denies access: NOAUTH'],
    ["the Sentinels' password is wrong", () => behind('mintmark', { sentinelWord: 'wrong-word' }), 'redis_refused', 'Sentinel 127.0.0.1:'],
    ["the master's password is wrong", () => behind('mintmark', { word: 'wrong-word' }), 'redis_refused', 'denies access: WRONGPASS'],
    ['the Sentinels have no such master', () => behind('other'), 'redis_no_master', 'the Sentinels know no master named other'],
  ])('fails where %s', async (_why, urlOf, rule, found) => {
    const finding = await findingOf(urlOf())
    expect(finding).toMatchObject({ ok: false, rule, found: expect.stringContaining(found) as string, advice: expect.any(String) as string })
    expect(JSON.stringify(finding)).not.toMatch(/-word/)
  })

  test('fails where Redis accepts no writes', async () => {
    await redis.config('SET', 'min-replicas-to-write', 1)
    try {
      const finding = await findingOf(url)
      expect(finding).toMatchObject({
        ok: false,
        rule: 'redis_no_leases',
        found: expect.stringMatching(/grants no leases: NOREPLICAS .*write\.$/) as string,
      })
    } finally {
      await redis.config('SET', 'min-replicas-to-write', 0)
    }
  })

  test('fails where Redis does not respond', async () => {
    servers[0]!.kill('SIGSTOP')
    try {
      expect(await findingOf(url)).toMatchObject({ ok: false, rule: 'redis_unreachable' })
    } finally {
      servers[0]!.kill('SIGCONT')
    }
  })

  test('says nothing about Redis without REDIS_URL', async () => {
    expect(await findingOf('')).toBeUndefined()
  })

  test('ends with 1 and says what to do', async () => {
    // A DATABASE_URL, although unused here, prevents the start of the embedded database.
    const { code, output } = await runCommand({ DATABASE_URL: 'postgresql://127.0.0.1:1/none', REDIS_URL: behind('other') }, 'doctor')
    expect(code).toBe(1)
    expect(output).toContain('✗ redis       the Sentinels know no master named other\n              → set the name in REDIS_URL')
  })
})
