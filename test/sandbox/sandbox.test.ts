// Sandboxes over HTTP: a market of one's own whose clock is moved.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
beforeAll(async () => {
  node = await startTestNode({ env: { SECRET_KEY: 'secret key of all the tests' } })
})
afterAll(() => node.close())

interface Sandbox {
  id: number
  key: string
  now: string
  status: string
  fired: { at: string; action: string; subject: string; id: string }[]
}

const api = (path: string) => `${node.publicUrl}/api/v1${path}`

test('30 days in a sandbox', async () => {
  const t0 = performance.now()
  const created = await send<Sandbox>(api('/sandbox'), node.keys.plus, { json: { at: '2027-01-01T00:00:00Z', seed: 7 } })
  console.log('create', performance.now() - t0, JSON.stringify(created.body))
  expect(created.status).toBe(201)
  const { key } = created.body.data
  let t = performance.now()
  const mine = await send<{ id: number; status: string }[]>(api('/plus/my-listings'), key)
  console.log('first', performance.now() - t, JSON.stringify(mine.body).slice(0, 600))
  t = performance.now()
  const sold = await send(api('/sandbox/sell'), key, { json: { lines: [{ listing_id: mine.body.data.at(-1)!.id, quantity: 1 }] } })
  console.log('sell', performance.now() - t, JSON.stringify(sold.body))
  t = performance.now()
  const advanced = await send<Sandbox>(api('/sandbox/advance'), key, { json: { by: 'P31D' } })
  console.log('advance', performance.now() - t, JSON.stringify(advanced.body).slice(0, 3000))
  t = performance.now()
  const reset = await send<Sandbox>(api('/sandbox/reset'), key, { json: {} })
  console.log('reset', performance.now() - t, JSON.stringify(reset.body))
  const gone = await send(api(`/sandbox/${created.body.data.id}`), node.keys.plus, { method: 'DELETE' })
  console.log(gone.status, JSON.stringify(gone.body))
  console.log(JSON.stringify((await send(api('/items'), key)).body))
}, 120_000)
