// Sign-in to the seller's desk, on two nodes: the cookie, what makes the public API accept it, which limits apply, and what ends it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { newKey } from '#accounts/credentials/key-format.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { rotateKey } from '#accounts/keys/rotate-key.ts'
import { call } from '#core/verb.ts'
import { msPastMidnight, OPERATOR_TOKEN, startTestNode, type TestNode, until } from '../support/node.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
let node: TestNode
let other: TestNode

beforeAll(async () => {
  node = await startTestNode({ env: { TRUST_PROXY: 'loopback' } })
  other = await startTestNode({ databaseUrl: node.databaseUrl })
})
afterAll(async () => {
  await other.close()
  await node.close()
})

const headersOf = (on: TestNode, cookie?: string): Record<string, string> => ({ origin: on.publicUrl!, 'x-desk': '1', ...(cookie && { cookie }) })

interface Answer {
  status: number
  headers: Headers
  body: { data: Record<string, unknown>; error?: { code: string; message: string; rule: string } }
}

async function ask(on: TestNode, path: string, headers: Record<string, string>, method = 'GET', json?: object): Promise<Answer> {
  const response = await fetch(`${on.publicUrl}${path}`, {
    method,
    headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
    ...(json && { body: JSON.stringify(json) }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] }
}

async function signIn(on: TestNode, key: unknown, headers = headersOf(on)) {
  const answer = await ask(on, '/desk/session', headers, 'POST', { key })
  const setCookie = answer.headers.get('set-cookie') ?? ''
  return { ...answer, setCookie, cookie: setCookie.split(';', 1)[0]! }
}

const listings = async (on: TestNode, cookie: string) => (await ask(on, '/api/v1/plus/my-listings', headersOf(on, cookie))).status

/** A Plus account with a key. */
async function seller(input: object = {}) {
  const account = await call(createAccount, node.ctx, { name: 'Kart Evi', plan: 'plus' })
  const key = await call(createKey, node.ctx, { account_id: account.id, ...input })
  return { account, key }
}

describe('Sign-in', () => {
  test('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const { status, setCookie, body, headers } = await signIn(node, node.keys.plus)
    expect(status).toBe(200)
    expect(setCookie).toMatch(/^mintmark_desk=mintses_\w+; Path=\/; HttpOnly; SameSite=Strict; Expires=/)
    expect(setCookie).not.toContain('Secure')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body.data).toMatchObject({ account: { name: 'Test plus', plan: 'plus' }, key: { last4: node.keys.plus.slice(-4), read_only: false } })
    expect(JSON.stringify(body)).not.toMatch(/mintses_|mintmark_/)
  })

  test('marks the cookie as secure over https', async () => {
    const { setCookie } = await signIn(node, node.keys.plus, {
      ...headersOf(node),
      origin: 'https://cards.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'cards.example',
    })
    expect(setCookie).toMatch(/; Secure$/)
  })

  test.each(['', 'wrong', newKey('api'), newKey('session'), OPERATOR_TOKEN, null, 7, {}])('rejects %j', async (key) => {
    const { status, setCookie } = await signIn(node, key)
    expect(status).toBe(typeof key === 'string' && key !== '' ? 401 : 422)
    expect(setCookie).toBe('')
  })

  test.each(['starter', 'professional'] as const)('tells the holder of a key of %s that the desk requires Plus', async (plan) => {
    const { status, body, setCookie } = await signIn(node, node.keys[plan])
    expect([status, body.error!.code, setCookie]).toEqual([403, 'PLAN_UPGRADE_REQUIRED', ''])
    expect(body.error!.message).toContain('Plus')
  })

  test('is rejected for other origins and without the header of the desk', async () => {
    expect((await signIn(node, node.keys.plus, { 'x-desk': '1', origin: 'https://elsewhere.example' })).status).toBe(403)
    expect((await signIn(node, node.keys.plus, { 'x-desk': '1', origin: 'null' })).status).toBe(403)
    expect((await signIn(node, node.keys.plus, { 'x-desk': '1' })).status).toBe(403)
    expect((await signIn(node, node.keys.plus, { origin: node.publicUrl! })).status).toBe(401)
    expect((await signIn(node, node.keys.plus, { origin: node.publicUrl!, 'x-console': '1' })).status).toBe(401)
  })

  test('is limited by address after wrong keys, and counts as a request of the account', async () => {
    const from = (address: string) => ({ ...headersOf(node), 'x-forwarded-for': address })
    for (let i = 0; i < 30; i += 1) expect((await signIn(node, newKey('api'), from('203.0.113.9'))).status).toBe(401)
    const limited = await signIn(node, newKey('api'), from('203.0.113.9'))
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await signIn(node, newKey('api'), from('203.0.113.10'))).status).toBe(401)
    const counting = await startTestNode({ databaseUrl: node.databaseUrl, env: { RATE_LIMITS: 'starter=1,professional=1,plus=3,enterprise=3' } })
    try {
      const { key } = await seller()
      const statuses = []
      for (let i = 0; i < 4; i += 1) statuses.push((await signIn(counting, key.key)).status)
      expect(statuses).toEqual([200, 200, 200, 429])
    } finally {
      await counting.close()
    }
  })

  test('returns the signed-in account, and 401 without a session', async () => {
    const { cookie } = await signIn(node, node.keys.enterprise)
    const account = async (headers: Record<string, string>) => (await ask(node, '/desk/session', headers)).body.data.account
    expect(await account({ cookie })).toMatchObject({ name: 'Test enterprise' })
    expect(await account({})).toBeNull()
    expect(await account({ cookie: 'mintmark_desk=mintses_invented' })).toBeNull()
  })
})

describe('A session', () => {
  test('calls the public API on every node, for requests of the desk only', async () => {
    const { cookie } = await signIn(node, node.keys.plus)
    for (const on of [node, other]) {
      const read = async (headers: Record<string, string>) => (await ask(on, '/api/v1/plus/my-listings', headers)).status
      const write = async (headers: Record<string, string>) =>
        (await ask(on, '/api/v1/plus/webhook', headers, 'PUT', { url: 'https://shop.example/hook' })).status
      expect(await read(headersOf(on, cookie))).toBe(200)
      expect(await read({ cookie, 'x-desk': '1' })).toBe(200)
      expect(await read({ cookie })).toBe(401)
      expect(await read({ cookie, 'x-desk': '1', origin: 'https://elsewhere.example' })).toBe(403)
      expect(await write(headersOf(on, cookie))).toBe(200)
      expect(await write({ cookie, origin: on.publicUrl! })).toBe(401)
      expect(await write({ cookie, 'x-desk': '1' })).toBe(403)
      expect(await write({ cookie, 'x-desk': '1', origin: 'https://elsewhere.example' })).toBe(403)
      expect(await write({ cookie, 'x-desk': '1', origin: 'null' })).toBe(403)
    }
  })

  test("is not valid in the console, and the console's session is not valid here", async () => {
    const { cookie } = await signIn(node, node.keys.plus)
    const secret = cookie.split('=')[1]!
    const headers = { origin: node.operatorUrl!, 'x-console': '1', cookie: `mintmark_console=${secret}` }
    expect((await fetch(`${node.operatorUrl}/operator/v1/accounts`, { headers })).status).toBe(401)
    const opened = await fetch(`${node.operatorUrl}/console/session`, {
      method: 'POST',
      headers: { origin: node.operatorUrl!, 'x-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ token: OPERATOR_TOKEN }),
    })
    const console = /=([^;]+)/.exec(opened.headers.get('set-cookie')!)![1]!
    expect(await listings(node, `mintmark_desk=${console}`)).toBe(401)
  })

  test('has the limits and counts of its key', async () => {
    // Both nodes stay at the same time: a key that has expired for one of them would be valid for the other.
    const ms = msPastMidnight(node.clock.now())
    for (const { clock } of [node, other]) clock.advance(ms)
    const limits = { read_only: true, allowed_origins: [node.publicUrl!], allowed_addresses: ['127.0.0.0/8'] }
    const { key } = await seller(limits)
    const { cookie, body } = await signIn(node, key.key)
    expect(body.data.key).toMatchObject({ read_only: true })
    expect(await listings(node, cookie)).toBe(200)
    // Browsers send no origin with same-origin reads.
    expect((await ask(node, '/api/v1/plus/my-listings', { cookie, 'x-desk': '1' })).status).toBe(200)
    const written = await ask(node, '/api/v1/plus/webhook', headersOf(node, cookie), 'PUT', { url: 'https://shop.example/hook' })
    expect([written.status, written.body.error!.code]).toEqual([403, 'READ_ONLY_KEY'])
    const elsewhere = await ask(node, '/api/v1/plus/my-listings', { ...headersOf(node, cookie), 'x-forwarded-for': '203.0.113.20' })
    expect([elsewhere.status, elsewhere.body.error!.code]).toEqual([403, 'ADDRESS_NOT_ALLOWED'])
    const me = await ask(node, '/api/v1/me', headersOf(node, cookie))
    expect(me.body.data.usage).toContainEqual(expect.objectContaining({ operation: 'listMyListings', requests: 2 }))
    expect((await ask(node, '/desk/session', headersOf(node, cookie), 'DELETE')).status).toBe(200)
    expect(await listings(node, cookie)).toBe(401)
    const { key: shop } = await seller({ allowed_origins: ['https://shop.example'] })
    expect((await signIn(node, shop.key)).body.error!.code).toBe('ORIGIN_NOT_ALLOWED')
  })

  test('ends on every node at sign-out', async () => {
    const { cookie } = await signIn(node, node.keys.plus)
    expect(await listings(other, cookie)).toBe(200)
    const out = await ask(node, '/desk/session', headersOf(node, cookie), 'DELETE')
    expect(out.headers.get('set-cookie')).toMatch(/^mintmark_desk=; .*Expires=Thu, 01 Jan 1970/)
    expect(await listings(node, cookie)).toBe(401)
    await until('the other node refuses it', async () => (await listings(other, cookie)) === 401)
  })

  test('cannot be signed out by another site', async () => {
    const { cookie } = await signIn(node, node.keys.plus)
    expect((await ask(node, '/desk/session', { cookie, origin: 'https://elsewhere.example' }, 'DELETE')).status).toBe(401)
    expect((await ask(node, '/desk/session', { cookie, 'x-desk': '1', origin: 'https://elsewhere.example' }, 'DELETE')).status).toBe(403)
    expect(await listings(node, cookie)).toBe(200)
  })

  const ENDS = {
    'its key is revoked': async ({ key }: Awaited<ReturnType<typeof seller>>) => void (await call(revokeKey, node.ctx, { id: key.id })),
    'its key is rotated': async ({ key }: Awaited<ReturnType<typeof seller>>) =>
      void (await call(rotateKey, node.ctx, { id: key.id, overlap_hours: 0 })),
    'its account loses Plus': async ({ account }: Awaited<ReturnType<typeof seller>>) =>
      void (await call(changeAccount, node.ctx, { id: account.id, plan: 'professional' })),
    'its account is suspended': async ({ account }: Awaited<ReturnType<typeof seller>>) =>
      void (await call(changeAccount, node.ctx, { id: account.id, suspended: true })),
  }

  test.each(Object.keys(ENDS) as (keyof typeof ENDS)[])('ends on every node when %s', async (what) => {
    const account = await seller()
    const { cookie } = await signIn(node, account.key.key)
    expect(await listings(other, cookie)).toBe(200)
    await ENDS[what](account)
    expect(await listings(node, cookie)).toBe(401)
    await until('the other node refuses it', async () => (await listings(other, cookie)) === 401)
    expect((await ask(node, '/desk/session', { cookie })).body.data).toEqual({ account: null })
  })

  test('ends when its key expires', async () => {
    const expires = new Date(other.clock.now().getTime() + HOUR_MS).toISOString()
    const { key } = await seller({ expires_at: expires })
    const { cookie } = await signIn(other, key.key)
    expect(await listings(other, cookie)).toBe(200)
    other.clock.advance(HOUR_MS + MINUTE_MS)
    expect(await listings(other, cookie)).toBe(401)
  })

  test('lasts 12 hours in use and 2 hours without use, on any node', async () => {
    const third = await startTestNode({ databaseUrl: node.databaseUrl })
    const fourth = await startTestNode({ databaseUrl: node.databaseUrl })
    const advance = (ms: number) => [third, fourth].forEach(({ clock }) => clock.advance(ms))
    try {
      const { cookie: used } = await signIn(third, node.keys.plus)
      const { cookie: forgotten } = await signIn(third, node.keys.plus)
      expect(await listings(fourth, used)).toBe(200)
      for (let hour = 1; hour <= 10; hour += 1) {
        advance(HOUR_MS)
        expect(await listings(third, used)).toBe(200)
      }
      expect(await listings(third, forgotten)).toBe(401)
      // A node that stops stores the latest uses that it has seen.
      await third.close()
      advance(HOUR_MS)
      expect(await listings(fourth, used)).toBe(200)
      advance(HOUR_MS + MINUTE_MS)
      expect(await listings(fourth, used)).toBe(401)
    } finally {
      await fourth.close()
    }
  })

  test('is stored as a hash, without the key', async () => {
    const { cookie } = await signIn(node, node.keys.plus)
    const value = cookie.split('=')[1]!
    const rows = await node.db.kysely.selectFrom('seller_sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(value)
    expect(rows.some((row) => row.hash.toString('latin1').includes(value))).toBe(false)
    expect(JSON.stringify(await node.db.kysely.selectFrom('audit_log').selectAll().where('action', 'like', 'desk.%').execute())).not.toMatch(
      /mintses_|mintmark_/,
    )
  })
})

describe('The pages', () => {
  test('run only their own scripts and cannot be framed', async () => {
    const response = await fetch(`${node.publicUrl}/desk/webhook`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
  })

  test("have immutable, small files, separate from the console's", async () => {
    const page = await (await fetch(`${node.publicUrl}/desk`)).text()
    const files = [...page.matchAll(/(?:src|href)="(\/desk\/assets\/[^"]+)"/g)].map(([, path]) => path!)
    expect([...new Set(files.map((path) => path.replace(/.*\./, '')))].sort()).toEqual(['css', 'js'])
    for (const path of files) {
      const response = await fetch(`${node.publicUrl}${path}`, { headers: { 'accept-encoding': 'br' } })
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(response.headers.get('content-encoding')).toBe('br')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(await response.text()).not.toContain('/operator/v1')
    }
    expect((await fetch(`${node.publicUrl}/desk/assets/none.js`)).status).toBe(404)
    expect((await fetch(`${node.publicUrl}/console`)).status).toBe(404)
    expect((await fetch(`${node.operatorUrl}/desk`)).status).toBe(404)
  })
})
