// The commands in the docs that are marked as runnable (`sh run`), run as pasted: those of a page one after another in one shell, in a
// checkout after `npm ci`, with the system's Node.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freePorts } from '../../reliability/service.ts'
import { until } from '../support/node.ts'
import { printedKeys, removeDataOf } from './service.ts'

/** Every page with such commands; the first two start their own service, the others use that of the second. */
const FIRST_HOUR = 'docs/first-hour.md'
const START = 'docs/start.md'
const OTHERS = ['README.md', 'docs/api-guide.md', 'docs/prices.md', 'docs/operating.md']

const checkouts: string[] = []
const shells: ChildProcess[] = []

afterAll(async () => {
  // Ends what an aborted page left running; a shell has its own process group. The second signal stops a service immediately, with
  // its PostgreSQL.
  for (const shell of shells) {
    if (signalled(shell, 'SIGTERM') && signalled(shell, 'SIGTERM')) await until('nothing runs', () => !signalled(shell, 0))
  }
  for (const checkout of checkouts) {
    for (const data of ['data', 'my-data']) removeDataOf(join(checkout, data))
    rmSync(checkout, { recursive: true, force: true })
  }
})

function signalled(shell: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-shell.pid!, signal)
  } catch {
    return false
  }
}

/** A checkout as it is after `npm ci`, without data. */
function checkOut(): string {
  const root = mkdtempSync(join(tmpdir(), 'mintmark-docs-'))
  for (const name of readdirSync('.').filter((each) => !['data', '.git'].includes(each) && !each.endsWith('.log')))
    symlinkSync(resolve(name), join(root, name))
  checkouts.push(root)
  return root
}

const blocksOf = (page: string) => [...readFileSync(page, 'utf8').matchAll(/^```sh run\n(.*?)^```$/gms)].map((match) => match[1]!)

interface Terminal {
  shell: ChildProcess
  shown: () => string
  closed: Promise<number | null>
}

/** The environment of a page: a checkout, and free ports instead of those that the page names. */
async function surroundings() {
  const cwd = checkOut()
  const [publicPort, operatorPort, receiverPort] = (await freePorts(3)).map(String) as [string, string, string]
  const ports: Record<string, string> = { 8080: publicPort, 8081: operatorPort, 9000: receiverPort }
  const path = process.env
    .PATH!.split(delimiter)
    .filter((each) => !each.startsWith(resolve('.')))
    .join(delimiter)
  const env = { PATH: path, HOME: process.env.HOME, PORT: ports[8080], OPERATOR_PORT: ports[8081] }
  const open = (commands: string, variables: Record<string, string> = {}): Terminal => {
    const script = commands.replace(/8080|8081|9000/g, (port) => ports[port]!)
    const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', script], {
      cwd,
      env: { ...env, ...variables },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    shells.push(shell)
    let shown = ''
    for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (shown += text))
    return { shell, shown: () => shown, closed: once(shell, 'close').then(([code]) => code as number | null) }
  }
  const paste = async (commands: string, variables?: Record<string, string>): Promise<string> => {
    const { shown, closed } = open(commands, variables)
    const code = await closed
    expect([code, shown()]).toEqual([0, expect.not.stringMatching(/"success":false|"errors":/)])
    return shown()
  }
  /** Starts the service in the foreground, as a page says; Ctrl-C ends it. */
  const start = async (commands: string) => {
    const { shell, shown, closed } = open(commands)
    await Promise.race([
      until('the service runs', () => shown().includes('Press Ctrl-C to stop.')),
      closed.then(() => {
        throw new Error(shown())
      }),
    ])
    const stop = async () => {
      signalled(shell, 'SIGINT')
      await closed
    }
    return { shown: shown(), stop }
  }
  return { cwd, paste, start, operator: `http://127.0.0.1:${ports[8081]}/operator/v1` }
}

test('every page with runnable commands is tested', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'client/README.md',
    ...readdirSync('docs', { recursive: true }).map((name) => `docs/${String(name)}`),
    // Translations have the same commands (test/spec/turkish-guides.test.ts).
  ].filter((page) => !page.startsWith('docs/tr/'))
  expect(pages.filter((page) => page.endsWith('.md') && blocksOf(page).length > 0).sort()).toEqual([FIRST_HOUR, START, ...OTHERS].sort())
})

test('the first hour', async () => {
  const { cwd, paste } = await surroundings()
  const [install, ...blocks] = blocksOf(FIRST_HOUR)
  expect(install).toBe('npm ci\n')
  const shown = await paste(blocks.join('\n'))
  expect(shown).toMatch(/Listing \d+ waits for approval/)
  expect(shown).toContain('"title":"My first listing"')
  expect(shown).toMatch(/✓ verified {2}evt_\d+ {2}→ 200/)
  expect(shown).not.toMatch(/✗/)
  // The page waits for the service to end, which also releases the lock on the data.
  expect(existsSync(join(cwd, 'data', 'demo-access.json'))).toBe(true)
  expect(existsSync(join(cwd, 'data', 'mintmark.pid'))).toBe(false)
})

test('the start guide, and with its demo the other pages', async () => {
  const { cwd, paste, start, operator } = await surroundings()
  const [install, ask, own, formats, account] = blocksOf(START)
  expect(install).toBe('npm ci\nnpm start\n')
  const demo = await start('npm start\n')
  const keys = printedKeys(demo.shown)
  const [key, token] = [keys['Plus key']!, keys['Operator token']!]
  const filledIn = (commands: string) => commands.replaceAll(/mintmark_\.\.\.|<API_KEY>/g, key)
  expect(await paste(filledIn(ask!))).toContain('Charizard')

  writeFileSync(join(cwd, 'rates.csv'), 'currency,day,rate\nUSD,2026-11-21,41.8\n')
  for (const page of OTHERS) {
    const blocks = blocksOf(page)
    expect([page, blocks.length]).toEqual([page, expect.toSatisfy((n: number) => n > 0)])
    await paste(filledIn(blocks.join('\n')), { KEY: key, TOKEN: token, OPERATOR_TOKEN: token, OPERATOR: operator })
  }
  await demo.stop()

  const service = await start(own!)
  expect(service.shown).toMatch(/\/console\/join#link=mintlink_/)
  expect(await paste(formats!)).toContain('tcgdex')
  expect(await paste(account!)).toMatch(/mintmark_\w{20,}/)
  await service.stop()
  expect(existsSync(join(cwd, 'my-data', 'mintmark.pid'))).toBe(false)
})
