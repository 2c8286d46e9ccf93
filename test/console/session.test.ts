// Sign-in to the console, on two nodes: the cookie, what makes the operator API accept it, and what ends it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOperatorToken, revokeOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { call } from '#core/verb.ts'
import { OPERATOR_TOKEN, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
let other: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'operator' })
  other = await startTestNode({ databaseUrl: node.databaseUrl, listeners: 'operator' })
})
afterAll(async () => {
  await other.close()
  await node.close()
})

const headersOf = (on: TestNode, cookie?: string): Record<string, string> => ({
  origin: on.operatorUrl!,
  'x-console': '1',
  ...(cookie && { cookie }),
})

async function signIn(on: TestNode, token: string, headers: Record<string, string> = headersOf(on)) {
  const response = await fetch(`${on.operatorUrl}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ token }),
  })
  const setCookie = response.headers.get('set-cookie') ?? ''
  return { status: response.status, setCookie, cookie: setCookie.split(';', 1)[0]!, body: await response.json() }
}

async function accounts(on: TestNode, headers: Record<string, string>, method = 'GET'): Promise<number> {
  const response = await fetch(`${on.operatorUrl}/operator/v1/accounts`, {
    method,
    headers: { ...headers, ...(method === 'POST' && { 'content-type': 'application/json' }) },
    ...(method === 'POST' && { body: JSON.stringify({ name: 'By the console', plan: 'starter' }) }),
  })
  await response.arrayBuffer()
  return response.status
}

describe('Sign-in', () => {
  test('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const { status, setCookie, body } = await signIn(node, OPERATOR_TOKEN)
    expect(status).toBe(200)
    expect(setCookie).toMatch(/^mintmark_console=mintses_\w+; Path=\/; HttpOnly; SameSite=Strict; Expires=/)
    expect(setCookie).not.toContain('Secure')
    expect(body).toMatchObject({ success: true, data: { operator: 'bootstrap' } })
    expect(JSON.stringify(body)).not.toContain('mintses_')
  })

  test.each(['', 'wrong', 'mintop_wrong'])('rejects %j', async (token) => {
    const { status, setCookie } = await signIn(node, token)
    expect(status).toBe(token === '' ? 422 : 401)
    expect(setCookie).toBe('')
  })

  test("rejects API keys, other origins and requests without the console's header", async () => {
    expect((await signIn(node, node.keys.enterprise)).status).toBe(401)
    expect((await signIn(node, OPERATOR_TOKEN, { 'x-console': '1', origin: 'https://elsewhere.example' })).status).toBe(403)
    expect((await signIn(node, OPERATOR_TOKEN, { 'x-console': '1' })).status).toBe(403)
    expect((await signIn(node, OPERATOR_TOKEN, { origin: node.operatorUrl! })).status).toBe(401)
  })

  test('returns the signed-in person, and 401 without a session', async () => {
    const { cookie } = await signIn(node, OPERATOR_TOKEN)
    const ask = async (headers: Record<string, string>) =>
      (await (await fetch(`${node.operatorUrl}/console/session`, { headers })).json()) as { data: { operator: string | null } }
    expect((await ask({ cookie })).data.operator).toBe('bootstrap')
    expect((await ask({})).data.operator).toBeNull()
    expect((await ask({ cookie: 'mintmark_console=mintses_invented' })).data.operator).toBeNull()
  })
})

describe('A session', () => {
  test('is valid on every node, for requests of the console only', async () => {
    const { cookie } = await signIn(node, OPERATOR_TOKEN)
    for (const on of [node, other]) {
      expect(await accounts(on, headersOf(on, cookie))).toBe(200)
      expect(await accounts(on, headersOf(on, cookie), 'POST')).toBe(201)
      expect(await accounts(on, { cookie, 'x-console': '1' })).toBe(200)
      expect(await accounts(on, { cookie, 'x-console': '1' }, 'POST')).toBe(403)
      expect(await accounts(on, { cookie })).toBe(401)
      expect(await accounts(on, { cookie, 'x-console': '1', origin: 'https://elsewhere.example' })).toBe(403)
      expect(await accounts(on, { cookie, 'x-console': '1', origin: 'null' }, 'POST')).toBe(403)
    }
  })

  test('writes audit rows with the name of its token', async () => {
    const { token } = await call(createOperatorToken, node.ctx, { label: 'Ayşe' })
    const { cookie, body } = await signIn(node, token)
    const { operator } = (body as { data: { operator: string } }).data
    expect(await accounts(node, headersOf(node, cookie), 'POST')).toBe(201)
    const rows = await node.db.kysely.selectFrom('audit_log').select('action').where('actor', '=', `operator:${operator}`).execute()
    expect(rows.map((row) => row.action).sort()).toEqual(['account.create', 'console.sign-in'])
  })

  test('ends on every node at sign-out', async () => {
    const { cookie } = await signIn(node, OPERATOR_TOKEN)
    expect(await accounts(other, headersOf(other, cookie))).toBe(200)
    const out = await fetch(`${node.operatorUrl}/console/session`, { method: 'DELETE', headers: headersOf(node, cookie) })
    expect(out.headers.get('set-cookie')).toMatch(/^mintmark_console=; .*Expires=Thu, 01 Jan 1970/)
    expect(await accounts(node, headersOf(node, cookie))).toBe(401)
    await until('the other node refuses it', async () => (await accounts(other, headersOf(other, cookie))) === 401)
  })

  test('ends on every node when its token is revoked', async () => {
    const { token, id } = await call(createOperatorToken, node.ctx, { label: 'for a while' })
    const { cookie } = await signIn(node, token)
    expect(await accounts(other, headersOf(other, cookie))).toBe(200)
    await call(revokeOperatorToken, node.ctx, { id })
    expect(await accounts(node, headersOf(node, cookie))).toBe(401)
    await until('the other node refuses it', async () => (await accounts(other, headersOf(other, cookie))) === 401)
  })

  test('of a bootstrap token ends when the token changes', async () => {
    const { cookie } = await signIn(node, OPERATOR_TOKEN)
    const changed = await startTestNode({
      databaseUrl: node.databaseUrl,
      env: { OPERATOR_TOKEN: 'another bootstrap token of the tests' },
      listeners: 'operator',
    })
    try {
      expect(await accounts(changed, headersOf(changed, cookie))).toBe(401)
    } finally {
      await changed.close()
    }
  })

  test('lasts 12 hours', async () => {
    const { cookie } = await signIn(other, OPERATOR_TOKEN)
    other.clock.advance(12 * 60 * 60_000 - 10 * 60_000)
    expect(await accounts(other, headersOf(other, cookie))).toBe(200)
    other.clock.advance(10 * 60_000)
    expect(await accounts(other, headersOf(other, cookie))).toBe(401)
  })

  test('is stored only as a hash', async () => {
    const { cookie } = await signIn(node, OPERATOR_TOKEN)
    const value = cookie.split('=')[1]!
    const rows = await node.db.kysely.selectFrom('console_sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(value)
    expect(rows.some((row) => row.hash.toString('latin1').includes(value))).toBe(false)
  })
})

describe('The pages', () => {
  test('run only their own scripts and cannot be framed', async () => {
    const response = await fetch(`${node.operatorUrl}/console/accounts`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(await response.text()).not.toMatch(/<script(?![^>]* src=)/)
    // Like a browser that revalidates; fetch alone would add `Cache-Control: no-cache`, which demands a complete response.
    const headers = { 'if-none-match': response.headers.get('etag')!, 'cache-control': 'max-age=0' }
    const again = await fetch(`${node.operatorUrl}/console/accounts`, { headers })
    expect(again.status).toBe(304)
    expect(again.headers.get('content-security-policy')).toBe(policy)
    expect(response.headers.get('cache-control')).toBe('no-cache')
  })

  test.each(['/console', '/console/', '/console/index.html', '/console/listings/7?view=x'])(
    'are one page that is revalidated each time: %s',
    async (path) => {
      const response = await fetch(`${node.operatorUrl}${path}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('cache-control')).toBe('no-cache')
      expect(await response.text()).toContain('<script')
    },
  )

  test('have immutable, compressed files', async () => {
    const page = await (await fetch(`${node.operatorUrl}/console`)).text()
    const files = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path!)
    expect(files.map((path) => path.replace(/.*\./, '')).sort()).toEqual(['css', 'js'])
    for (const path of files) {
      const texts: string[] = []
      for (const encoding of ['identity', 'gzip', 'br']) {
        const response = await fetch(`${node.operatorUrl}${path}`, { headers: { 'accept-encoding': encoding } })
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        expect(response.headers.get('content-type')).toMatch(path.endsWith('css') ? 'text/css' : '/javascript')
        expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
        expect(response.headers.get('vary')).toMatch(/accept-encoding/i)
        expect(response.headers.get('x-content-type-options')).toBe('nosniff')
        texts.push(await response.text())
      }
      expect(new Set(texts).size).toBe(1)
    }
  })

  test('missing assets return 404', async () => {
    expect((await fetch(`${node.operatorUrl}/console/assets/none.js`)).status).toBe(404)
  })
})
