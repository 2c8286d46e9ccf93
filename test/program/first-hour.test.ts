// The page of the first hour, pasted block after block into one shell, with the Node of the system.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { until } from '../support/node.ts'
import { removeDataOf } from './service.ts'

const root = mkdtempSync(join(tmpdir(), 'mintmark-first-hour-'))
let shell: ChildProcess | null = null

afterAll(async () => {
  // What the shell left running when the page broke off; it has a process group of its own. The second signal ends a service
  // at once, and its PostgreSQL with it.
  const signalled = (signal: NodeJS.Signals | 0) => {
    try {
      return process.kill(-shell!.pid!, signal)
    } catch {
      return false
    }
  }
  if (signalled('SIGTERM') && signalled('SIGTERM')) await until('nothing runs', () => !signalled(0))
  removeDataOf(join(root, 'data'))
  rmSync(root, { recursive: true, force: true })
})

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}

test('every block works as pasted, in order', async () => {
  // A checkout as it is after `npm ci`, with no data.
  for (const name of readdirSync('.').filter((each) => !['data', '.git'].includes(each) && !each.endsWith('.log')))
    symlinkSync(resolve(name), join(root, name))
  const blocks = [...readFileSync('docs/first-hour.md', 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1]!)
  expect(blocks[0]).toBe('npm ci\n')
  const ports: Record<string, string> = { 8080: await freePort(), 8081: await freePort(), 9000: await freePort() }
  const script = blocks
    .slice(1)
    .join('\n')
    .replace(/8080|8081|9000/g, (port) => ports[port]!)
  const path = process.env
    .PATH!.split(delimiter)
    .filter((each) => !each.includes('node_modules'))
    .join(delimiter)
  const env = { PATH: path, HOME: process.env.HOME, PORT: ports[8080], OPERATOR_PORT: ports[8081] }
  shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let shown = ''
  for (const stream of [shell.stdout!, shell.stderr!]) stream.setEncoding('utf8').on('data', (text: string) => (shown += text))
  const [code] = (await once(shell, 'close')) as [number | null]
  expect([code, shown]).toEqual([0, expect.stringMatching(/Listing \d+ waits for approval/)])
  expect(shown).toContain('"title":"My first listing"')
  expect(shown).toMatch(/✓ verified {2}evt_\d+ {2}→ 200/)
  expect(shown).not.toMatch(/✗|"success":false/)
  // Its end is waited for: the claim on the data goes with it.
  expect(existsSync(join(root, 'data', 'demo-access.json'))).toBe(true)
  expect(existsSync(join(root, 'data', 'mintmark.pid'))).toBe(false)
})
