// TLS to PostgreSQL: a server with a certificate of its own authority, from the address in the settings to the error that says what to do.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { readDatabaseAddress } from '#core/network/database-address.ts'
import { startEmbedded } from '#db/local/embedded.ts'
import { chooseHome } from '#db/local/embedded-home.ts'
import { openDatabase } from '#db/open.ts'
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

describe('Without sslmode', () => {
  const read = (address: string) => {
    const { url, waived } = readDatabaseAddress(`postgresql://${address}`)
    return [/sslmode=[\w-]+/.exec(url)?.[0] ?? null, waived]
  }

  test.each([
    ['u:p@db.example/cards', 'sslmode=verify-full'],
    ['u:p@10.0.0.5:5433/cards?', 'sslmode=verify-full'],
    ['u:p@[2001:db8::1]:5433/cards?application_name=shop', 'sslmode=verify-full'],
    ['u:p@127.0.0.1,db.example/cards', 'sslmode=verify-full'],
    ['u:p@localhost/cards?host=db.example', 'sslmode=verify-full'],
    ['u:p@localhost.example/cards', 'sslmode=verify-full'],
    ['u:p@127.0.0.1:5433/cards', null],
    ['u:p@[::1]/cards', null],
    ['u:p@localhost,127.0.0.2:1/cards?target_session_attrs=any', null],
    ['u@/cards?host=/run/postgresql', null],
  ])('a connection to %s is verified if it leaves this machine: %s', (address, mode) => {
    expect(read(address)).toEqual([mode, null])
  })

  test.each([
    ['db.example/cards?sslmode=disable', 'encryption'],
    ['db.example/cards?ssl=0', 'encryption'],
    ['a,b/cards?sslmode=no-verify', 'verification'],
    ['db.example/cards?sslmode=require&uselibpqcompat=true', 'verification'],
    ['db.example/cards?sslmode=require', null],
    ['localhost/cards?sslmode=disable', null],
  ])('what %s gives up is known: %s', (address, waived) => {
    expect(read(address)[1]).toBe(waived)
  })
})

/** An address of this machine that is not loopback. */
const OUTER = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address

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
    const { certificate, key } = createCertificate(dataDir, OUTER === undefined ? 'DNS:localhost' : `DNS:localhost,IP:${OUTER}`)
    ca = certificate
    const files = { cert: join(home.data, 'server.crt'), key: join(home.data, 'server.key') }
    copyFileSync(certificate, files.cert)
    copyFileSync(key, files.key)
    if (home.user) for (const file of Object.values(files)) chownSync(file, home.user.uid, home.user.gid)
    appendFileSync(join(home.data, 'pg_hba.conf'), 'host all all samenet scram-sha-256\n')
    const port = await freePort()
    const { password } = new URL(embedded.url.replace('@/', '@host/'))
    urlOf = (query, host = 'localhost') => `postgresql://mintmark:${password}@${host}:${port}/mintmark?${query}`
    const settings = [
      `listen_addresses=127.0.0.1${OUTER === undefined ? '' : `,${OUTER}`}`,
      `port=${port}`,
      'unix_socket_directories=',
      'fsync=off',
      'shared_buffers=32MB',
    ]
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

  test.skipIf(OUTER === undefined)('is verified by default at an address that is not loopback (skipped where this machine has none)', async () => {
    await expect(encryption(urlOf('', OUTER))).rejects.toThrow('add sslrootcert=/path/to/ca.pem to DATABASE_URL')
    expect(await encryption(urlOf(`sslrootcert=${ca}&sslmode=verify-full`, OUTER))).toBe(true)
    expect(await encryption(urlOf(`sslrootcert=${ca}`, OUTER))).toBe(true)
    await expect(encryption(urlOf('', `${OUTER},${OUTER}`))).rejects.toThrow('add sslrootcert')
    expect(await encryption(urlOf('sslmode=disable', OUTER))).toBe(false)
    expect(await encryption(urlOf('sslmode=no-verify', OUTER))).toBe(true)
    const warnings: string[] = []
    const config = readConfig({ DATABASE_URL: urlOf('sslmode=disable', OUTER) })
    const opened = await openDatabase(config, { applicationName: 'mintmark test', log: { ...quiet, warn: (line) => warnings.push(line) }, own: true })
    await opened.close()
    expect(warnings).toEqual(['The connection of DATABASE_URL leaves this machine and is not encrypted, as its parameters say'])
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
