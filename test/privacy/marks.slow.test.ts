// After the erasure of a person who used the whole service, nothing in the data directory, the database or a new backup has a mark of theirs.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { embeddedConnection } from '#db/local/embedded.ts'
import { endAll, freshDataDir, run, serve, type Service, stop } from '../program/service.ts'
import { until } from '../support/node.ts'

const TOKEN = 'operator token of the erasure'
/** In names, texts and references; capitals, so that search indexes would have them in another form. */
const MARK = 'zqxmark'
/** A picture of one pixel. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

const dataDir = freshDataDir()
const backups = freshDataDir().replace(/data$/, '')
const settings = {
  DATA_DIR: dataDir,
  MINTMARK_DEMO: '0',
  OPERATOR_TOKEN: TOKEN,
  START_FILE_MINUTES: '1',
  RATE_LIMITS: 'off',
  WEBHOOK_RETRY_DELAYS: '1s,1s',
}

afterAll(endAll)

let service: Service

async function request<T>(method: string, url: string, credential: string, json?: unknown): Promise<T> {
  const body = Buffer.isBuffer(json) ? json : json === undefined ? undefined : JSON.stringify(json)
  const type = Buffer.isBuffer(json) ? 'image/png' : 'application/json'
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${credential}`, ...(body !== undefined && { 'content-type': type }), 'user-agent': `Browser ${MARK}` },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${text}`)
  return (JSON.parse(text) as { data: T }).data
}
const operator = <T = { id: number }>(method: string, path: string, json?: unknown) =>
  request<T>(method, `${service.operatorUrl}/operator/v1${path}`, TOKEN, json)

/** A person who sells, collects, and buys from somebody else. @returns their account and key */
async function usesEverything(): Promise<{ accountId: number; key: string; otherId: number }> {
  const category = await operator('POST', '/categories', { ref: 'set', name: 'Base Set', slug: 'base-set', game: 'pokemon', market: 'service' })
  const item = await operator('POST', '/items', {
    ref: 'mew',
    name: 'Mew',
    slug: 'mew',
    genre: 'single',
    game: 'pokemon',
    market: 'service',
    category_id: category.id,
  })
  const account = await operator('POST', '/accounts', { name: `Ada ${MARK}`, plan: 'plus', highlight_credits: 5 })
  const other = await operator('POST', '/accounts', { name: 'Another seller', plan: 'plus' })
  const { key } = await operator<{ key: string }>('POST', `/accounts/${account.id}/keys`, { label: `Laptop of ada@${MARK}.example` })
  const plus = <T = { id: number }>(method: string, path: string, json?: unknown) =>
    request<T>(method, `${service.publicUrl}/api/v1/plus${path}`, key, json)
  await operator('POST', `/accounts/${account.id}/credits`, { amount: 3, reason: `Apology to ${MARK}` })
  await operator('PATCH', `/accounts/${account.id}`, { listing_intake: { quota: 100 } })
  await plus('PUT', '/webhook', { url: `http://127.0.0.1:9/${MARK}`, on_sale: true, on_expire: true, is_active: true })
  await plus('POST', '/images', PIXEL)
  const ids: number[] = []
  for (const seller of [account.id, account.id, other.id]) {
    const theirs = seller === account.id ? ` ${MARK}` : ''
    const { id } = await operator('POST', '/listings', {
      seller_id: seller,
      item_id: item.id,
      title: `Mew${theirs}`,
      description: `Bought by${theirs} in a shop`,
      price: 100,
      quantity: 5,
      offers_enabled: true,
    })
    await operator('POST', `/listings/${id}/approve`, {})
    ids.push(id)
  }
  await plus('PATCH', `/listings/${ids[0]}`, { sku: `SKU-${MARK}`, description: `Changed by ${MARK}` })
  await operator('POST', `/listings/${ids[0]}/reject`, { reason: `Picture shows ${MARK}` })
  await operator('POST', '/orders', { order_id: 1, lines: [{ listing_id: ids[1], quantity: 1 }], buyer_reference: 'somebody else' })
  await operator('POST', '/orders', {
    order_id: 2,
    lines: [{ listing_id: ids[2], quantity: 1 }],
    buyer_reference: `buyer-${MARK}`,
    buyer_account_id: account.id,
  })
  await operator('POST', '/orders/2/cancel', { reason: `Asked for by ${MARK}` })
  const offer = await operator('POST', '/offers', { listing_id: ids[2], unit_price: 80, order_id: 3, buyer_reference: `buyer-${MARK}` })
  await operator('POST', `/offers/${offer.id}/withdraw`, {})
  const collection = await operator('POST', '/collections', { account_id: account.id, name: `Cards of ${MARK}`, description: `For ${MARK}` })
  await plus('POST', `/collections/${collection.id}/items`, { item_id: item.id, note: `Gift for ${MARK}`, card_uniq_id: MARK })
  await plus('POST', `/collections/${collection.id}/import`, { file: `Name,Quantity,Notes\nUnknown ${MARK},1,from ${MARK}\n` })
  await plus('POST', '/listings/import', { file: `title,price\nUnknown ${MARK},12\n` }).catch(() => {})
  await until('the sale was delivered', async () => {
    const events = await operator<{ state: string }[]>('GET', `/webhook-events?account_id=${account.id}`)
    return events.length > 0 && events.every(({ state }) => state === 'failed' || state === 'cancelled')
  })
  return { accountId: account.id, key, otherId: other.id }
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => existsSync(path) && statSync(path).isFile())
}

function filesWithMark(...directories: string[]): string[] {
  return directories.flatMap(filesBelow).filter((path) => {
    const bytes = readFileSync(path)
    const content = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
    return content.toString('latin1').toLowerCase().includes(MARK)
  })
}

/** Tables with a row whose text has the mark. */
async function tablesWithMark(): Promise<string[]> {
  const client = new pg.Client({ connectionString: embeddedConnection(dataDir)! })
  await client.connect()
  // Writes the pages of tables to their files.
  await client.query('checkpoint')
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`,
  )
  const found: string[] = []
  for (const { name } of rows) {
    const { rowCount } = await client.query(
      `select from ${name} t where t::text ilike '%${MARK}%' or t::text like '%${Buffer.from(MARK).toString('hex')}%' limit 1`,
    )
    if (rowCount) found.push(name)
  }
  await client.end()
  return found
}

test('an erased person has left no mark, and everybody else has kept theirs', async () => {
  service = await serve(settings)
  const { accountId, key, otherId } = await usesEverything()
  const location = join(dataDir, 'postgres-location')
  const directories = [dataDir, ...(existsSync(location) ? [readFileSync(location, 'utf8')] : [])]
  expect((await tablesWithMark()).length).toBeGreaterThan(10)
  expect(filesWithMark(...directories).length).toBeGreaterThan(5)
  const exported = await request<{ tables: Record<string, unknown[]>; audit: unknown[] }>(
    'GET',
    `${service.operatorUrl}/operator/v1/accounts/${accountId}/personal-data`,
    TOKEN,
  )
  expect(JSON.stringify(exported)).toContain(`Gift for ${MARK}`)
  expect(exported.tables.listings).toHaveLength(2)
  expect(JSON.stringify(exported)).not.toContain(key.slice(-20))

  const { id } = await operator<{ id: number }>('POST', '/erasures', { account_id: accountId, reason: 'request 17' })
  await until('the erasures are done', async () => {
    const all = await operator<{ state: string; storage_at: string | null }[]>('GET', '/erasures')
    return all.every(({ state, storage_at: at }) => state === 'done' && at !== null)
  })
  const done = await operator<{ what: Record<string, number> }>('GET', `/erasures/${id}`)
  expect(done.what).toMatchObject({ listings: 2, accounts: 1, api_keys: 1 })
  expect(await tablesWithMark()).toEqual([])
  await until('the files have no mark', () => filesWithMark(...directories).length === 0).catch(() => {})
  expect(filesWithMark(...directories)).toEqual([])
  const { code } = await run(['backup', join(backups, 'after.gz')], settings)
  expect(code).toBe(0)
  expect(filesWithMark(backups)).toEqual([])

  expect((await fetch(`${service.publicUrl}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(401)
  expect(await operator<{ name: string }>('GET', `/accounts/${accountId}`)).toMatchObject({ name: `Erased account ${accountId}`, suspended: true })
  expect(await operator<{ title: string }[]>('GET', `/listings?seller_id=${otherId}`)).toMatchObject([{ title: 'Mew' }])
  expect(await operator('GET', '/orders/1')).toMatchObject({ order_id: 1 })
  await expect(operator('POST', `/accounts/${accountId}/keys`, {})).rejects.toThrow('account_erased')
  await stop(service)
  expect(filesWithMark(...directories)).toEqual([])
})
