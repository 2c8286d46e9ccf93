// The receivers of the guides in a sandbox: notifications of 30 days arrive within seconds, and each receiver accepts them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
const processes: ChildProcess[] = []
beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
}, 120_000)
afterAll(async () => {
  for (const child of processes) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill()
    await once(child, 'exit')
  }
  await node.close()
})

const api = (path: string) => `${node.publicUrl}/api/v1${path}`
const has = (program: string) => spawnSync(program, ['--version']).status === 0
/** How the guides start each receiver; its port is the last argument. */
const RECEIVERS = [
  ['TypeScript', process.execPath, ['docs/examples/receiver.ts', '0']],
  ['Python', 'python3', ['docs/examples/receiver.py', '0']],
] as const

describe.each(RECEIVERS.filter(([, program]) => has(program)))('%s', (_language, program, args) => {
  test('accepts a sale and the expiries of a month', { timeout: 120_000 }, async () => {
    const { body } = await send<{ id: number; key: string }>(api('/sandbox'), node.keys.plus, { json: { at: '2027-01-01T00:00:00Z' } })
    const { id, key } = body.data
    const webhook = (url: string) =>
      send<{ secret: string }>(api('/plus/webhook'), key, { method: 'PUT', json: { url, on_sale: true, on_expire: true } })
    const { secret } = (await webhook('https://shop.example/hook')).body.data
    const child = spawn(program, [...args], { env: { ...process.env, WEBHOOK_SECRET: secret }, stdio: ['ignore', 'pipe', 'pipe'] })
    processes.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
    await until('it listens', () => /http:\/\/[\w.:]+[^\w.:]/.test(output) || child.exitCode !== null)
    await webhook(`${/http:\/\/[\w.:]+/.exec(output)![0].replace('0.0.0.0', '127.0.0.1')}/hook`)
    await send(api('/sandbox/sell'), key, { json: { lines: [{ listing_id: 1 }] } })
    await send(api('/sandbox/advance'), key, { json: { by: 'P31D' } })
    const state = async () => (await send<{ status: string }[]>(api('/sandbox'), key)).body.data[0]!.status
    await until('the month has passed', async () => (await state()) === 'ready')
    const logs = (await send<{ success: boolean; event: string }[]>(api('/plus/webhook/logs?per_page=100'), key)).body.data
    expect(logs.map(({ event, success }) => `${event} ${success}`).toSorted()).toEqual([
      ...Array.from({ length: 5 }, () => 'expire true'),
      'sale true',
    ])
    await send(api(`/sandbox/${id}`), node.keys.plus, { method: 'DELETE' })
  })
})
