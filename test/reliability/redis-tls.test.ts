// Redis with TLS, alone and behind Sentinels: nodes lease from it if they trust its certificate. Needs openssl and Debian's redis-server.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { RateLimits } from '#accounts/rate-limits.ts'
import { installed } from '../../reliability/front.ts'
import { type RedisCluster, startSentinels } from '../../reliability/sentinels.ts'
import { workDir } from '../../reliability/service.ts'
import { createCertificate } from '../support/certificate.ts'
import { silent, until } from '../support/node.ts'

const LIMITS = { starter: 5, professional: 60, plus: 600, enterprise: 3_000 }
const LONG_MS = 1_800_000

/** Without a port, redis-server prints an error and ends; if it was built without TLS, it rejects the option. */
const hasTls = () => spawnSync('redis-server', ['--port', '0', '--tls-port', '0', '--save', '']).stdout?.includes('not listen anywhere')
const isPossible = installed('openssl', 'version') && installed('redis-server', '--version') && hasTls()

describe.skipIf(!isPossible)('Redis with TLS (skipped where openssl or a redis-server with TLS is not installed)', () => {
  let dir: ReturnType<typeof workDir>
  let files: ReturnType<typeof createCertificate>
  let cluster: RedisCluster
  let accounts = 0

  beforeAll(async () => {
    dir = workDir()
    files = createCertificate(dir.path, 'IP:127.0.0.1')
    cluster = await startSentinels(dir.path, files)
  }, LONG_MS)

  afterAll(async () => {
    await cluster.close()
    dir.remove()
  })

  const single = async (host: string) => `rediss://:change-me-redis@${host}:${(await cluster.complete()).port}`

  /** Whether the master has granted a lease to a new account. */
  async function leases(limits: RateLimits): Promise<boolean> {
    const accountId = (accounts += 1)
    await limits.consume({ kind: 'account', accountId, keyId: 1, plan: 'plus' })
    const master = await cluster.master()
    return master !== null && (await cluster.ask(master, 'exists', `mintmark:lease:${accountId}`)) === 1
  }

  /** Why a node counts alone. On a busy machine, the reason may come later than the maximum wait of a request. */
  async function expectReason(url: string, reason: string): Promise<void> {
    await until(reason, async () => {
      let said = ''
      const log = { ...silent, warn: (details: object) => void (said += (details as { err: Error }).err.message) }
      const limits = new RateLimits(LIMITS, { redisUrl: url, log })
      await limits.consume({ kind: 'account', accountId: (accounts += 1), keyId: 1, plan: 'plus' })
      limits.close()
      return said.includes(reason)
    })
  }

  function open(redisUrl: string): RateLimits {
    const limits = new RateLimits(LIMITS, { redisUrl, log: silent })
    onTestFinished(() => limits.close())
    return limits
  }

  test('a node that does not trust the certificate counts alone', async () => {
    await expectReason(await single('127.0.0.1'), 'self-signed certificate')
    await expectReason(cluster.url, 'failed to connect to sentinel')
  })

  test('a node sends the host name of a single Redis', async () => {
    const { promise: sent, resolve } = Promise.withResolvers<string>()
    const credentials = { cert: readFileSync(files.certificate), key: readFileSync(files.key) }
    const note = (name: string, answer: (error: null) => void) => {
      resolve(name)
      answer(null)
    }
    const server = createServer({ ...credentials, SNICallback: note })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    onTestFinished(() => void server.close())
    open(`rediss://localhost:${(server.address() as AddressInfo).port}`)
    expect(await sent).toBe('localhost')
  })

  describe('with a trusted certificate', () => {
    const before = getCACertificates('default')
    beforeAll(() => setDefaultCACertificates([...before, readFileSync(files.certificate, 'utf8')]))
    afterAll(() => setDefaultCACertificates(before))

    test('a node leases from a single Redis whose host the certificate contains', async () => {
      const limits = open(await single('127.0.0.1'))
      await until('it leases', () => leases(limits))
      await expectReason(await single('localhost'), "does not match certificate's altnames")
    })

    test(
      'a node leases from the master behind Sentinels, and from the next one after a failover',
      async () => {
        const limits = open(cluster.url)
        await until('it leases', () => leases(limits))
        const old = await cluster.complete()
        old.signal('SIGKILL')
        const isReplaced = async () => ![null, old].includes(await cluster.master())
        await until('the Sentinels name another master', isReplaced, LONG_MS)
        await until('it leases from the other master', () => leases(limits))
      },
      LONG_MS,
    )
  })
})
