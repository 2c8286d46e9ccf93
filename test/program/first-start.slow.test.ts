// The first start on an empty database: a demo only if nobody else can reach it, otherwise the first owner's link and the first operator token.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { send } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { endAll, freshDataDir, printedKeys, run, serve, type Settings, stop } from './service.ts'

afterAll(endAll)

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
/** Requests the demo explicitly: with DATABASE_URL, there is none by default. */
const ASKED = { MINTMARK_DEMO: '1' }
const demoKeys = (greeting: string) => Object.keys(printedKeys(greeting)).filter((name) => name.endsWith('key'))

/** Runs `use` with the settings of an empty database and an empty DATA_DIR. */
async function inEmptyDatabase(use: (settings: Settings) => Promise<void>): Promise<void> {
  const database = await freshDatabase()
  try {
    await use({ DATABASE_URL: database.url, DATA_DIR: freshDataDir() })
  } finally {
    await database.drop()
  }
}

describe('the demo', () => {
  test('is not loaded if there is an account', async () => {
    const settings = { DATA_DIR: freshDataDir() }
    expect((await run(['account', 'create', '--name', 'Shop', '--plan', 'plus'], settings)).code).toBe(0)
    const service = await serve(settings, [])
    expect(demoKeys(service.greeting)).toEqual([])
    expect(await (await fetch(service.publicUrl)).text()).not.toContain('mintmark_')
    const { code, said } = await run(['demo'], settings)
    expect([code, said]).toEqual([1, [expect.stringContaining('The database is not empty')]])
    await stop(service)
  })

  test('is not loaded if others can reach the service, nor by the command', async () => {
    const settings = { DATA_DIR: freshDataDir(), NODE_ENV: 'production', HOST: '0.0.0.0' }
    const service = await serve(settings, [])
    expect(demoKeys(service.greeting)).toEqual([])
    expect(await (await fetch(service.publicUrl)).text()).not.toContain('mintmark_')
    const command = await run(['demo'], settings)
    expect([command.code, command.said]).toEqual([1, [expect.stringContaining('Demo not loaded: HOST is 0.0.0.0')]])
    await stop(service)
    expect(existsSync(join(settings.DATA_DIR, 'demo-access.json'))).toBe(false)
  })

  test.each([
    [{}, true],
    [{ HOST: '127.0.0.2' }, true],
    [{ HOST: 'localhost', PUBLIC_URL: 'http://[::1]:8080' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '::' }, false],
    [{ HOST: '10.0.0.5' }, false],
    [{ PUBLIC_URL: 'https://cards.example' }, false],
    [{ TRUST_PROXY: 'loopback' }, false],
    [{ NODE_ENV: 'production' }, false],
    [{ NODE_ENV: 'production', ...ASKED }, true],
    [{ DATABASE_URL: 'postgresql://db/mintmark' }, false],
    [{ DATABASE_URL: 'postgresql://db/mintmark', ...ASKED }, true],
    [{ MINTMARK_DEMO: '0' }, false],
  ])('%j: %s', (settings, demo) => {
    expect(readConfig(settings).demo).toBe(demo)
  })

  test('if it is requested and others can reach the service, the start is rejected', async () => {
    const dataDir = freshDataDir()
    const { code, out, said } = await run(['serve'], { DATA_DIR: dataDir, HOST: '0.0.0.0', ...ASKED })
    expect([code, out, said]).toEqual([1, '', [expect.stringMatching(/^mintmark: MINTMARK_DEMO is 1 but HOST is 0\.0\.0\.0/)]])
    expect(existsSync(dataDir)).toBe(false)
  })

  test('is created once when two nodes start on one empty database', async () => {
    await inEmptyDatabase(async (settings) => {
      const start = () => serve({ ...settings, ...ASKED, DATA_DIR: freshDataDir() })
      const nodes = await Promise.all([start(), start()])
      expect(nodes.map(({ greeting }) => demoKeys(greeting).length).sort()).toEqual([0, 4])
      const token = nodes.map(({ greeting }) => printedKeys(greeting)['Operator token']).find((each) => each)!
      const { body } = await send<{ name: string }[]>(`${nodes[0]!.operatorUrl}/operator/v1/accounts?per_page=100`, token)
      expect(body.data.filter(({ name }) => name === 'Demo Plus')).toHaveLength(1)
      for (const node of nodes) await stop(node)
    })
  })
})

describe('an empty start', () => {
  test('prints the first operator token once, and what to do next', async () => {
    await inEmptyDatabase(async (settings) => {
      const first = await serve({ ...settings, MINTMARK_DEMO: '0' })
      const token = printedKeys(first.greeting)['Operator token']!
      expect((await send(`${first.operatorUrl}/operator/v1/accounts`, token)).status).toBe(200)
      expect(first.greeting).toMatch(/Next:\n\n +npx mintmark import --help.*\n +npx mintmark account create --name Shop --plan professional\n/)
      await stop(first)
      const second = await serve({ ...settings, MINTMARK_DEMO: '0' })
      expect(printedKeys(second.greeting)).toEqual({})
      await stop(second)
    })
  })

  test('prints a link to create the first owner, a new one at each start until there is one', async () => {
    await inEmptyDatabase(async (settings) => {
      const linkOf = (greeting: string) => /^ +(http\S+\/console\/join#link=mintlink_\w+)$/m.exec(greeting)?.[1]
      const use = (operatorUrl: string, link: string) =>
        send(`${operatorUrl}/console/session`, null, {
          json: { link: link.split('=')[1], name: 'Ayşe', password: 'ladder-Marzipan-74-tugboat' },
          headers: { 'x-console': '1', origin: operatorUrl },
        })
      const first = await serve({ ...settings, MINTMARK_DEMO: '0' })
      const early = linkOf(first.greeting)!
      expect(early.startsWith(first.operatorUrl)).toBe(true)
      await stop(first)
      const second = await serve({ ...settings, MINTMARK_DEMO: '0' })
      expect((await use(second.operatorUrl, early)).status).toBe(401)
      const printed = await run(['people', 'owner-link', '--json'], settings)
      const { link_path: path } = JSON.parse(printed.out) as { link_path: string }
      expect((await use(second.operatorUrl, linkOf(second.greeting)!)).status).toBe(401)
      expect((await use(second.operatorUrl, path)).status).toBe(200)
      await stop(second)
      const again = await run(['people', 'owner-link'], settings)
      expect([again.code, again.said]).toEqual([1, [expect.stringContaining('There is an owner already')]])
      const listed = await run(['people', 'list', '--json'], settings)
      expect(JSON.parse(listed.out)).toMatchObject([{ name: 'Ayşe', roles: ['owner'], has_password: true, two_factor: false }])
      const last = await run(['people', 'set', '1', '--roles', 'market'], settings)
      expect([last.code, last.said]).toEqual([1, [expect.stringContaining('The last owner stays an owner')]])
      const third = await serve({ ...settings, MINTMARK_DEMO: '0' })
      expect(linkOf(third.greeting)).toBeUndefined()
      await stop(third)
    })
  })

  test('in production writes no token to the journal, and names the command that creates one', async () => {
    await inEmptyDatabase(async (settings) => {
      const service = await serve({ ...settings, NODE_ENV: 'production' })
      expect(service.greeting).not.toMatch(/mintop_|mintlink_/)
      expect(service.greeting).toContain('npx mintmark people owner-link')
      expect(service.greeting).toContain('npx mintmark operator-token create')
      await stop(service)
    })
  })
})

// util-linux' `script` gives a program a terminal; on other systems it has other arguments.
test.skipIf(process.platform !== 'linux')('on a terminal, the log is plain text, not JSON', async () => {
  await inEmptyDatabase(async (settings) => {
    const command = `${process.execPath} ${MAIN} serve`
    const env = { PATH: process.env.PATH, PORT: '0', OPERATOR_PORT: '0', TERM: 'xterm', ...settings }
    const child = spawn('script', ['-qefc', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    let shown = ''
    for await (const chunk of child.stdout) {
      shown += String(chunk)
      // Ctrl-C in the terminal.
      if (shown.includes('Press Ctrl-C to stop.') && child.stdin.writable) child.stdin.end('\x03')
    }
    expect(shown).toContain('Stopping')
    expect(shown).not.toMatch(/^\{/m)
  })
})
