// The production setup of the operator's guide, with its settings and services: sales send webhooks, and
// publication periods end.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { send, until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { ok, openReceiver } from '../webhooks/receiver.ts'
import { endAll, freshDataDir, kill, run, serve, type Settings } from './service.ts'

afterAll(endAll)

const guide = readFileSync('docs/operating.md', 'utf8')
const production = guide.slice(guide.indexOf('## Production'), guide.indexOf('## Settings'))
/** The roles that the guide starts as services. */
const roles = [...new Set([...production.matchAll(/mintmark@(\w+)/g)].map((match) => match[1]!))]

/** The settings that the guide puts into /etc/mintmark.env, for this database. */
function guideSettings(databaseUrl: string): Settings {
  const block = /\/etc\/mintmark\.env <<EOF\n(.*?)\nEOF/s.exec(production)![1]!
  const settings = Object.fromEntries(block.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))
  const { DATABASE_URL, SECRET_KEY, DATA_DIR, ...others } = settings
  expect([DATABASE_URL, SECRET_KEY, DATA_DIR]).toEqual(['$DATABASE_URL', '$(openssl rand -hex 32)', '/var/lib/mintmark'])
  return { ...others, DATABASE_URL: databaseUrl, SECRET_KEY: '0123456789abcdef'.repeat(4), DATA_DIR: freshDataDir() }
}

test('sends a webhook for a sale and expires a listing', async () => {
  const database = await freshDatabase()
  const receiver = await openReceiver(ok)
  // The receiver is on this machine, to which production sends no webhooks.
  const settings = { ...guideSettings(database.url), WEBHOOK_ALLOW_HTTP: '1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }
  const json = async <T>(...args: string[]): Promise<T> => JSON.parse((await run([...args, '--json'], settings)).out) as T
  await json('migrate')
  const { token } = await json<{ token: string }>('operator-token', 'create', '--label', 'console')

  const workers = roles.filter((role) => role === 'work')
  const others = await Promise.all(roles.filter((role) => role !== 'work').map((role) => serve(settings, [role])))
  const [publicUrl, operatorUrl] = [others.find((each) => each.publicUrl)!.publicUrl, others.find((each) => each.operatorUrl)!.operatorUrl]
  type Doctor = { findings: { check: string; ok: boolean; advice?: string }[] }
  // The PostgreSQL of the tests is not durable.
  const wrong = async () => (await json<Doctor>('doctor')).findings.filter(({ check, ok: fine }) => !fine && check !== 'database')
  expect(await wrong()).toEqual([expect.objectContaining({ check: 'worker', advice: expect.stringContaining('mintmark work') as string })])
  const services = [...others, ...(await Promise.all(workers.map((role) => serve(settings, [role]))))]
  await until('doctor finds the worker', async () => (await wrong()).length === 0)

  const asOperator = <T>(path: string, body?: object) => send<T>(`${operatorUrl}/operator/v1${path}`, token, body && { json: body })
  const { id: sellerId } = (await asOperator<{ id: number }>('/accounts', { name: 'Seller', plan: 'plus' })).body.data
  const { key } = (await asOperator<{ key: string }>(`/accounts/${sellerId}/keys`, { label: 'seller' })).body.data
  const webhook = { url: receiver.url, on_sale: true, on_expire: true }
  expect((await send(`${publicUrl}/api/v1/plus/webhook`, key, { method: 'PUT', json: webhook })).status).toBe(200)
  const category = (await asOperator<{ id: number }>('/categories', { ref: 'set', name: 'Set', game: 'pokemon', market: 'source_a' })).body.data
  const item = (await asOperator<{ id: number }>('/items', { ref: 'card', name: 'Card', market: 'source_a', category_id: category.id })).body.data
  const list = async () => {
    const listed = { seller_id: sellerId, item_id: item.id, title: 'A card', price: 100, quantity: 2 }
    return (await asOperator<{ id: number }>('/listings', listed)).body.data.id
  }
  const [sold, ending] = [await list(), await list()]
  await asOperator(`/listings/${sold}/approve`, {})
  await asOperator(`/listings/${ending}/approve`, { expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('update listings set expires_at = now() where id = $1', [ending])
  await client.end()
  expect((await asOperator('/orders', { order_id: 1, lines: [{ listing_id: sold, quantity: 1 }] })).status).toBe(201)
  await until('both are notified', () => receiver.received.length === 2)
  expect((await asOperator<{ status: string }>(`/listings/${ending}`)).body.data.status).toBe('expired')

  for (const service of services) await kill(service.child, 'SIGINT')
  await receiver.close()
  await database.drop()
})
