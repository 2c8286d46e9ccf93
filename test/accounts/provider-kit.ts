// A real OpenID Connect provider for tests (the package oidc-provider), and sign-ins through it with the cookies of a browser.
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import type { TestNode } from '../support/node.ts'

export const CLIENT = { id: 'mintmark-console', secret: 'secret of the console in these tests' }
const KEY_ID = 'test'

export type Claims = Record<string, unknown>

export interface TestProvider {
  issuer: string
  /** who signs in next, with these claims */
  person: { sub: string; claims: Claims }
  /** changes the claims of the next id token, which is then signed with `key` */
  tamper: ((claims: Claims) => Claims) | null
  key: KeyObject
  close: () => Promise<void>
}

/** @param consoleUrl where the client may be called back */
export async function startProvider(consoleUrl: string): Promise<TestProvider> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const test: TestProvider = { issuer, person: { sub: 'nobody', claims: {} }, tamper: null, key: privateKey, close: async () => {} }
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [`${consoleUrl}/console/provider/callback`] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' } as never] },
    cookies: { keys: ['cookie key of these tests'] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    scopes: ['openid', 'profile', 'email'],
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...test.person.claims }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: () => '/interaction' },
    // Everybody consents.
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({ accountId: ctx.oidc.session!.accountId!, clientId: ctx.oidc.client!.clientId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  provider.use(async (ctx, next) => {
    if (ctx.path === '/interaction') {
      const { sub } = test.person
      const result = sub === 'nobody' ? { error: 'access_denied' } : { login: { accountId: sub } }
      ctx.respond = false
      await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false })
      return
    }
    await next()
    const body = ctx.body as { id_token?: string } | undefined
    if (ctx.path === '/token' && test.tamper && body?.id_token) body.id_token = signed(test.tamper(claimsIn(body.id_token)), test.key)
  })
  handle = provider.callback()
  test.close = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  return test
}

function claimsIn(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims
}

function signed(claims: Claims, key: KeyObject): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${encode({ alg: 'RS256', kid: KEY_ID, typ: 'JWT' })}.${encode(claims)}`
  return `${content}.${createSign('RSA-SHA256').update(content).sign(key, 'base64url')}`
}

export interface Step {
  status: number
  location: string
  cookies: string[]
}

/** One request of a browser that shows where it is sent. */
export async function step(url: string, cookies: string[] = [], headers: Record<string, string> = {}): Promise<Step> {
  const response = await fetch(url, { redirect: 'manual', headers: { cookie: cookies.join('; '), ...headers } })
  await response.arrayBuffer()
  return { status: response.status, location: response.headers.get('location') ?? '', cookies: response.headers.getSetCookie() }
}

export const pairs = ({ cookies }: Step) => cookies.map((cookie) => cookie.split(';', 1)[0]!)

/** Signs the person in at the provider's page. @returns the address of the callback */
export async function authorize(test: TestProvider, url: string): Promise<string> {
  let cookies: string[] = []
  let at = url
  for (let hops = 0; hops < 10 && at.startsWith(test.issuer); hops++) {
    const next = await step(at, cookies)
    const set = pairs(next)
    cookies = [...cookies.filter((old) => !set.some((each) => each.split('=', 1)[0] === old.split('=', 1)[0])), ...set]
    if (!next.location) throw new Error(`${at} answered ${next.status}`)
    at = new URL(next.location, at).href
  }
  return at
}

/** The path and query of a callback on a node, wherever the provider sends the browser. */
export function on(node: TestNode, callback: string): string {
  const { pathname, search } = new URL(callback)
  return `${node.operatorUrl}${pathname}${search}`
}
