// TLS to PostgreSQL: a server with a certificate of its own authority, from the address in the settings to the error that says what to do.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { startEmbedded } from '#db/local/embedded.ts'
import { chooseHome } from '#db/local/embedded-home.ts'
import { openPool } from '#db/connection/pool.ts'
import { installed } from '../../reliability/proxy-and-clients.ts'
import { createCertificate } from '../support/certificate.ts'
import { until } from '../support/node.ts'

const quiet = { info: () => {}, warn: () => {} }

describe('The parameters of DATABASE_URL', () => {
  const read = (query: string) => readConfig({ DATABASE_URL: `postgresql://u:p@db.example/cards?${query}` })

  test.each([
    ['sslmod=require', 'DATABASE_URL must be a URL without the parameter sslmod; allowed: application_name, host, options, '],
    ['sslmode=require&connect_timeout=5', 'DATABASE_URL must be a URL without the parameter connect_timeout; allowed: '],
    ['sslmode=on', 'DATABASE_URL must be a URL whose sslmode is one of disable, prefer, require, verify-ca, verify-full, no-verify, not on'],
    ['sslrootcert=/nowhere/ca.pem', 'DATABASE_URL must be a URL whose sslrootcert is a readable file, not /nowhere/ca.pem'],
    ['sslkey=/', 'DATABASE_URL must be a URL whose sslkey is a readable file, not /'],
  ])('%s is refused', (query, message) => {
    expect(() => read(query)).toThrow(message)
  })

  test.each(['sslmode=verify-full', 'sslmode=disable&application_name=shop', 'host=%2Frun%2Fpostgresql&port=5433', ''])('%s is accepted', (query) => {
    expect(read(query).databaseUrl).toContain(query)
  })
})

describe.skipIf(!installed('openssl', 'version'))('PostgreSQL with TLS (skipped where openssl is not installed)', { tags: 'slow' }, () => {
  let dataDir: string
  let server: ChildProcess
  let ca: string
  let urlOf: (query: string, host?: string) => string

  beforeAll(async () => {
    dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'mintmark-tls-')))
    const embedded = await startEmbedded({ dataDir, log: quiet, durable: false })
    await embedded.stop()
    const home = chooseHome(dataDir, quiet)
    const { certificate, key } = createCertificate(dataDir, 'DNS:localhost')
    ca = certificate
    const files = { cert: join(home.data, 'server.crt'), key: join(home.data, 'server.key') }
    copyFileSync(certificate, files.cert)
    copyFileSync(key, files.key)
    if (home.user) for (const file of Object.values(files)) chownSync(file, home.user.uid, home.user.gid)
    const port = await freePort()
    const { password } = new URL(embedded.url.replace('@/', '@host/'))
    urlOf = (query, host = 'localhost') => `postgresql://mintmark:${password}@${host}:${port}/mintmark?${query}`
    const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off', 'shared_buffers=32MB']
    settings.push('ssl=on', `ssl_cert_file=${files.cert}`, `ssl_key_file=${files.key}`)
    const user = home.user ? { uid: home.user.uid, gid: home.user.gid } : {}
    const args = ['-D', home.data, ...settings.flatMap((setting) => ['-c', setting])]
    server = spawn(join(home.native, 'bin/postgres'), args, { cwd: '/', env: { LC_ALL: 'C' }, ...user, stdio: 'ignore' })
    process.once('exit', () => server.kill('SIGQUIT'))
    await until('the server takes connections', () =>
      encryption(urlOf('sslmode=disable')).then(
        () => true,
        () => false,
      ),
    )
  })

  afterAll(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGINT')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** Whether the connection to a URL is encrypted. */
  async function encryption(url: string): Promise<boolean> {
    const db = openPool({ url, max: 1, applicationName: 'mintmark test', connectTimeoutMs: 60_000 })
    try {
      const { rows } = await db.pool.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
      return rows[0]!.ssl
    } finally {
      await db.close()
    }
  }

  test('is encrypted and verified with sslrootcert, and not encrypted without sslmode', async () => {
    expect(await encryption(urlOf(`sslmode=verify-full&sslrootcert=${ca}`))).toBe(true)
    expect(await encryption(urlOf('sslmode=no-verify'))).toBe(true)
    expect(await encryption(urlOf(''))).toBe(false)
    expect(await encryption(urlOf(`target_session_attrs=read-write&sslmode=verify-full&sslrootcert=${ca}`))).toBe(true)
  })

  test('a private authority is refused with the settings that trust it, with one server and with several', async () => {
    const advice = 'add sslrootcert=/path/to/ca.pem to DATABASE_URL, or set NODE_EXTRA_CA_CERTS to that file'
    for (const mode of ['verify-full', 'require']) await expect(encryption(urlOf(`sslmode=${mode}`))).rejects.toThrow(advice)
    await expect(encryption(urlOf('target_session_attrs=read-write&sslmode=verify-full'))).rejects.toThrow(advice)
  })

  test('the program says so at its start, and trusts the authority by NODE_EXTRA_CA_CERTS', () => {
    const migrate = (env: object) =>
      spawnSync(process.execPath, ['src/main.ts', 'migrate'], {
        env: { PATH: process.env.PATH, DATABASE_URL: urlOf('sslmode=verify-full'), ...env },
        encoding: 'utf8',
      })
    const refused = migrate({})
    expect(refused.status).toBe(1)
    expect(refused.stderr).toMatch(/^mintmark: .*set NODE_EXTRA_CA_CERTS to that file\n$/)
    const trusted = migrate({ NODE_EXTRA_CA_CERTS: ca })
    expect([trusted.status, trusted.stderr]).toEqual([0, ''])
  })

  test('a certificate for another name is refused', async () => {
    await expect(encryption(urlOf(`sslmode=verify-full&sslrootcert=${ca}`, '127.0.0.1'))).rejects.toThrow(
      'use the name in the certificate as the host of DATABASE_URL',
    )
  })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}
