// The program as people run it: start, stop, one-line errors, and commands beside a running service.
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { processStart } from '#db/local/data-dir.ts'
import { send, until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { endAll, ended, freshDataDir, kill, launch, printedKeys, run, serve, type Service, type Settings, stop } from './service.ts'

const SAMPLES = ['pokemon', 'onepiece'].map((name) => new URL(`../../sample/${name}.ndjson`, import.meta.url).pathname)

afterAll(endAll)

/** Process id of the embedded server of a DATA_DIR. */
function postgresPid(dataDir: string): number {
  const connection = JSON.parse(readFileSync(join(dataDir, 'postgres-connection.json'), 'utf8')) as { server: { pid: number } }
  return connection.server.pid
}

describe('the demo', () => {
  test('starts with an empty directory, stops cleanly, keeps its data and recovers after everything is killed', async () => {
    const dataDir = freshDataDir()
    const first = await serve({ DATA_DIR: dataDir }, [])
    const keys = printedKeys(first.greeting)
    expect(Object.keys(keys)).toEqual(['Starter key', 'Professional key', 'Plus key', 'Enterprise key', 'Operator token'])
    const [, key, url] = /curl -H 'Authorization: Bearer (\S+)' '(\S+)'/.exec(first.greeting)!
    const pasted = await send<{ name: string }[]>(url!, key!)
    expect([pasted.status, pasted.body.data.length > 0]).toEqual([200, true])
    for (const plan of ['Starter', 'Professional', 'Plus', 'Enterprise']) {
      expect((await send(`${first.publicUrl}/api/v1/items`, keys[`${plan} key`]!)).status).toBe(200)
    }
    expect((await send(`${first.operatorUrl}/operator/v1/accounts`, keys['Operator token']!)).status).toBe(200)
    expect((await fetch(`${first.publicUrl}/docs`)).status).toBe(200)
    const total = async (service: Service) => (await send(`${service.publicUrl}/api/v1/items`, key!)).body.pagination!.total
    const before = await total(first)
    expect(before).toBeGreaterThan(300)

    const server = postgresPid(dataDir)
    // A client that never finishes its request must not prevent the program from stopping.
    const stalled = connect(Number(new URL(first.publicUrl).port), '127.0.0.1').on('error', () => {})
    await once(stalled, 'connect')
    stalled.write('GET /api/v1/items HTTP/1.1\r\nHost: x\r\n')
    await stop(first)
    stalled.destroy()
    expect(processStart(server)).toBeNull()

    const second = await serve({ DATA_DIR: dataDir }, [])
    expect(printedKeys(second.greeting)).toEqual(keys)
    expect(await total(second)).toBe(before)
    const left = postgresPid(dataDir)
    await kill(second.child, 'SIGKILL')
    process.kill(left, 'SIGKILL')
    await until('nothing runs', () => processStart(left) === null)

    const third = await serve({ DATA_DIR: dataDir })
    expect(printedKeys(third.greeting)).toEqual(keys)
    expect(await total(third)).toBe(before)
    third.child.kill('SIGTERM')
    expect((await third.end).code).toBe(0)
  })
})

describe('with a running service', () => {
  let dataDir: string
  let service: Service

  beforeAll(async () => {
    dataDir = freshDataDir()
    service = await serve({ DATA_DIR: dataDir, MINTMARK_DEMO: '0' })
  })

  afterAll(() => stop(service))

  const command = (...args: string[]) => run(args, { DATA_DIR: dataDir })

  /** A command with `--json`: one JSON value on standard output and nothing else. */
  async function json<T>(...args: string[]): Promise<T> {
    const { code, out, said } = await command(...args, '--json')
    expect([args, code, said]).toEqual([args, 0, []])
    return JSON.parse(out) as T
  }

  test('there is no demo if it is disabled', () => {
    expect(Object.keys(printedKeys(service.greeting))).toEqual(['Operator token'])
    expect(existsSync(join(dataDir, 'demo-access.json'))).toBe(false)
  })

  test.runIf(process.platform === 'linux')('Node runs with memory options, in the process that was started', () => {
    const { pid } = service.child
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
    const options = ['--max-semi-space-size=8', '--v8-pool-size=1', '--no-memory-reducer', '--heap-growing-percent=50']
    expect(read('cmdline')).toEqual(expect.arrayContaining([...options, 'serve']))
    const added = [expect.stringMatching(/^NODE_COMPILE_CACHE=.+mintmark$/), 'MALLOC_MMAP_THRESHOLD_=131072', 'MALLOC_ARENA_MAX=1']
    expect(read('environ')).toEqual(expect.arrayContaining(added))
  })

  test.runIf(process.platform === 'linux')('variables of the environment that are set remain', async () => {
    const print = '--import=data:text/javascript,console.error(process.env.MALLOC_ARENA_MAX)'
    const child = launch(['api'], { NODE_OPTIONS: print, MALLOC_ARENA_MAX: '4' })
    const { code, said } = await ended(child)
    expect([code, said]).toEqual([1, ['4', '4', 'mintmark: mintmark api needs DATABASE_URL']])
  })

  test('changes by account, key and import commands are visible in the service at once', async () => {
    const account = await json<{ id: number; plan: string }>('account', 'create', '--name', 'Shop', '--plan', 'professional')
    expect(account.plan).toBe('professional')
    const { id: keyId, key } = await json<{ id: number; key: string }>('key', 'create', '--account', String(account.id))
    const total = async () => (await send(`${service.publicUrl}/api/v1/items`, key)).body.pagination?.total
    expect(await total()).toBe(0)

    type Report = Record<'rows_read' | 'created' | 'updated' | 'rejected', number> & { status: string; dry_run: boolean }
    const dry = await json<Report>('import', 'mintmark-ndjson', ...SAMPLES, '--dry-run')
    expect(dry).toMatchObject({ status: 'done', dry_run: true, rejected: 0 })
    expect(dry.created).toBeGreaterThan(300)
    expect(await total()).toBe(0)
    const first = await json<Report>('import', 'mintmark-ndjson', ...SAMPLES)
    expect(first).toMatchObject({ status: 'done', dry_run: false, created: dry.created, rejected: 0 })
    await until('the service follows', async () => (await total())! > 300)
    expect(await json<Report>('import', 'mintmark-ndjson', ...SAMPLES)).toMatchObject({ created: 0, updated: 0, rejected: 0 })
    const bad = join(dataDir, 'bad.csv')
    writeFileSync(
      bad,
      ['item_ref,market,label,price,updated_at', ...['a', 'b'].map((ref) => `${ref},source_b,Near Mint,1,2026-11-02T00:00:00Z`)].join('\n'),
    )
    const { out } = await command('import', 'mintmark-prices-csv', bad)
    expect(out).toContain('    2 × no item has the ref …\n      bad.csv:2: no item has the ref a\n      bad.csv:3: no item has the ref b\n')
    expect(out).toMatch(/all rejected rows: GET \/operator\/v1\/imports\/\d+\/refusals\.csv/)

    expect(await json<{ id: number }[]>('account', 'list')).toEqual([expect.objectContaining({ id: account.id, name: 'Shop' })])
    expect((await command('account', 'list')).out).toMatch(/^ID +NAME +PLAN.*\n\d+ +Shop +professional/)
    await json('key', 'revoke', String(keyId))
    await until('the key is refused', async () => (await send(`${service.publicUrl}/api/v1/items`, key)).status === 401)
  })

  test('doctor fails while exchange rates are missing, old, or later than prices, and finds no other problem', async () => {
    await json('import', 'mintmark-ndjson', ...SAMPLES)
    const problems = async () => {
      const { code, out, said } = await command('doctor', '--json')
      const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: { check: string; ok: boolean; found: string; advice?: string }[] }
      expect([ok, said]).toEqual([code === 0, []])
      return findings.filter((finding) => !finding.ok)
    }
    expect(await problems()).toMatchObject([
      { check: 'rates', found: expect.stringMatching(/^none for USD, EUR: /), advice: 'load rates: mintmark rates set USD=... EUR=...' },
    ])
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    const first = day(30)
    await json('rates', 'set', 'USD=41.87', 'EUR=48.31', '--date', first)
    expect(await problems()).toMatchObject([
      {
        check: 'rates',
        found: expect.stringMatching(/^those of USD, EUR are 3\d days old/),
        advice: 'load current rates, and then every working day: mintmark rates set USD=... EUR=...',
      },
    ])
    await json('rates', 'set', 'USD=41.87', 'EUR=48.31', '--day', day(1))
    expect(await problems()).toMatchObject([
      {
        check: 'rates',
        found: expect.stringMatching(/^known for TRY, USD, EUR; \d+ prices could not be checked: no exchange rate for their day$/),
        advice: `load rates of days before ${first}: mintmark rates import <file>; the prices are checked again within an hour`,
      },
    ])
  })

  test('doctor reports a metrics port that another program uses', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { out } = await run(['doctor', '--json'], { DATA_DIR: dataDir, METRICS_PORT: String(port) })
    const { findings } = JSON.parse(out) as { findings: { check: string; ok: boolean; advice?: string }[] }
    expect(findings.find(({ check }) => check === 'metrics')).toMatchObject({ ok: false, advice: expect.stringContaining('METRICS_PORT') as string })
    other.close()
  })

  test('migrate has nothing to do', async () => {
    expect(await json('migrate')).toEqual({ applied: [] })
  })

  test('a second service on the same DATA_DIR is rejected', async () => {
    const { code, out, said } = await command('serve')
    expect([code, out]).toEqual([1, ''])
    expect(said).toEqual([`mintmark: DATA_DIR ${dataDir} is in use by another mintmark (process ${service.child.pid})`])
  })

  test('a failing command prints one line and exits with 1', async () => {
    for (const [args, words] of [
      [['import', 'mintmark-ndjson', join(dataDir, 'nothing.ndjson')], 'cannot be read'],
      [['key', 'create', '--account', '999999'], 'Account not found: 999999'],
      [['key', 'revoke', '999999'], '999999'],
      [['restore', join(dataDir, 'nothing.backup')], 'cannot be read'],
      [['restore', dataDir], 'EISDIR'],
      [['backup', join(dataDir, 'nowhere', 'mintmark.backup')], 'cannot be written'],
    ] as const) {
      const { code, said } = await command(...args)
      expect([args, code, said.length]).toEqual([args, 1, 1])
      expect(said[0]).toContain(words)
    }
  })

  test('an invalid value is wrong usage, even if only the service can detect it', async () => {
    for (const args of [
      ['account', 'create', '--name', ' ', '--plan', 'plus'],
      ['key', 'create', '--account', '1', '--expires', 'tomorrow'],
    ]) {
      const { code, said } = await command(...args)
      expect([args, code, said.length]).toEqual([args, 2, 1])
    }
  })
})

describe('start-up errors', () => {
  test('a port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const database = await freshDatabase()
    try {
      for (const setting of ['PORT', 'OPERATOR_PORT']) {
        const { code, out, said } = await run(['serve'], { DATABASE_URL: database.url, DATA_DIR: freshDataDir(), [setting]: String(port) })
        expect([code, out, said]).toEqual([1, '', [`mintmark: Port ${port} is in use; stop the other program or set ${setting}`]])
      }
    } finally {
      taken.close()
      await database.drop()
    }
  })

  test.each([
    [{ PORT: 'abc' }, /^PORT is "abc" but must be a whole number from 0 to 65535$/],
    [{ PORT: '70000' }, /^PORT is "70000"/],
    [{ MINTMARK_FOO: '1' }, /^MINTMARK_FOO is not a mintmark setting; known settings: /],
    [{ RATE_LIMITS: 'x' }, /^RATE_LIMITS is "x" but must be off, or pairs such as /],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL is "loud" but must be one of /],
    [
      { MARKET_ORDER: 'source_a,ebay' },
      /^MARKET_ORDER is "source_a,ebay" but must be a list of service, source_a, source_b, source_c, each at most once, such as source_c,source_b,source_a,service$/,
    ],
    [{ OPERATOR_TOKEN: 'short' }, /^OPERATOR_TOKEN must be at least 24 characters$/],
    [{ TRUST_PROXY: 'everyone' }, /^TRUST_PROXY is "everyone" but must be 1, 0, or addresses of proxies such as loopback,10\.0\.0\.0\/8$/],
  ])('a wrong setting: %j', (settings, line) => {
    expect(() => readConfig(settings as Settings)).toThrow(line)
  })

  test('an invalid setting prints one line, without secrets, and leaves nothing behind', async () => {
    const dataDir = freshDataDir()
    const { code, out, said } = await run(['serve'], { DATA_DIR: dataDir, DATABASE_URL: 'mysql://secret@host/db' })
    expect([code, out, said]).toEqual([1, '', [expect.stringMatching(/^mintmark: DATABASE_URL must be a URL that begins with postgresql:/)]])
    expect(said[0]).not.toContain('secret')
    expect(existsSync(dataDir)).toBe(false)
  })

  test('an unusable DATA_DIR', async () => {
    const root = freshDataDir()
    writeFileSync(root, 'a file')
    const { code, out, said } = await run(['serve'], { DATA_DIR: join(root, 'below') })
    expect([code, out, said]).toEqual([1, '', [expect.stringMatching(/^mintmark: DATA_DIR \S+ is not writable: /)]])
  })

  test('an unreachable database', async () => {
    const { code, out, said } = await run(['serve'], { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/nothing' })
    expect([code, out, said.length]).toEqual([1, '', 1])
    expect(said[0]).toMatch(/^mintmark: .*\S/)
  })

  test('a separate role without a shared database', async () => {
    for (const role of ['api', 'operator']) {
      const { code, said } = await run([role], { DATA_DIR: freshDataDir() })
      expect([code, said]).toEqual([1, [`mintmark: mintmark ${role} needs DATABASE_URL`]])
    }
  })
})

test('with DATABASE_URL, the embedded server is not started', async () => {
  const database = await freshDatabase()
  const dataDir = freshDataDir()
  try {
    const service = await serve({ DATABASE_URL: database.url, DATA_DIR: dataDir })
    expect(service.greeting).toContain('PostgreSQL at DATABASE_URL')
    expect((await fetch(`${service.publicUrl}/health/ready`)).status).toBe(200)
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
    await stop(service)
  } finally {
    await database.drop()
  }
})

describe('usage', () => {
  test('every command has help, and the program lists all commands', async () => {
    const { code, out } = await run(['--help'], {})
    expect(code).toBe(0)
    const commands = [...out.slice(out.indexOf('Commands:')).matchAll(/^ {2}([a-z-]+)/gm)].map((match) => match[1]!)
    const named = ['serve', 'api', 'operator', 'migrate', 'import', 'export', 'account', 'key', 'operator-token', 'doctor']
    expect(commands).toEqual(expect.arrayContaining(named))
    const names = commands.filter((name) => name !== 'help')
    const helps = await ended(launch(names, {}, new URL('helps.ts', import.meta.url).pathname))
    expect([helps.code, helps.said]).toEqual([0, []])
    const ends = [...helps.out.matchAll(/^Usage: mintmark ([a-z-]+)(?:\n(?!Usage: |\{)|.)*\n(\{.*\})$/gm)]
    expect(ends.map(([, usage, end]) => [usage, end])).toEqual(names.map((name) => [name, JSON.stringify({ name, code: 0 })]))
  })

  test('a reader that stops early, such as head, causes no error', async () => {
    const command = launch(['import', '--help'], {})
    // The reader has closed the pipe before the help is written.
    command.stdout!.destroy()
    let said = ''
    command.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code] = (await once(command, 'exit')) as [number]
    expect([code, said]).toEqual([0, ''])
  })

  test.each([
    [['nonsense']],
    [['serve', '--nonsense']],
    [['account', 'create']],
    [['account', 'create', '--name', 'A', '--plan', 'gold']],
    [['key', 'create', '--account', 'x']],
    [['import', 'nonsense', 'file']],
    [['import', 'mintmark-ndjson', 'file', '--market', 'nowhere']],
  ])('%j is wrong usage: exit 2', async (args) => {
    const { code, out, said } = await run(args, { DATA_DIR: freshDataDir() })
    expect([code, out]).toEqual([2, ''])
    expect(said[0]).toMatch(/^error: /)
  })
})
