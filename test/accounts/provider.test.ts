// Sign-in of operators with an OpenID Connect provider, from outside: roles by claim, and the attacks on the flow.
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createPerson } from '#accounts/people/create-person.ts'
import { removePerson } from '#accounts/people/remove-person.ts'
import { readmitPerson } from '#accounts/provider/readmit-person.ts'
import { readConfig } from '#config.ts'
import { call } from '#core/verb.ts'
import { freePorts } from '../../reliability/service.ts'
import { startTwoNodes, type TestNode, until } from '../support/node.ts'
import { ask, codeOf, member, nextCode, PASSWORD, signIn } from './people-kit.ts'
import { authorize, type Claims, CLIENT, on, pairs, startProvider, step, type TestProvider } from './provider-kit.ts'

const MINUTE = 60_000
let provider: TestProvider
let here: TestNode
let there: TestNode
let close: () => Promise<void>
let addresses = 0

beforeAll(async () => {
  // The address that browsers use; the nodes have ports of their own, as behind a proxy.
  const [port] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  provider = await startProvider(url)
  const roles = 'card owners=owner,market=market,helpers=support,helpers=market,viewers=read_only'
  const oidc = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret, OIDC_ROLES: roles }
  ;({ here, there, close } = await startTwoNodes({ ...oidc, OPERATOR_URL: url, TRUST_PROXY: 'loopback' }))
})
afterAll(async () => {
  await close()
  await provider.close()
})
afterEach(() => {
  provider.tamper = null
})

const claimed = (sub: string, ...groups: string[]) => ({ sub, claims: { name: `Person ${sub}`, groups } })
/** Each sign-in comes from an address of its own, so that failures of one test don't limit the next. */
const fromFresh = () => ({ 'x-forwarded-for': `192.0.2.${(addresses += 1)}` })

const begin = (node = here) => step(`${node.operatorUrl}/console/provider`)

/** A whole sign-in, begun on one node and completed on the other. */
async function signInAs(person: TestProvider['person'], tamper: ((claims: Claims) => Claims) | null = null) {
  Object.assign(provider, { person, tamper })
  const begun = await begin()
  const callback = on(there, await authorize(provider, begun.location))
  return step(callback, pairs(begun), fromFresh())
}

const sessionIn = (answer: { cookies: string[] }) => answer.cookies.find((cookie) => /^mintmark_console=./.test(cookie))?.split(';', 1)[0]
const reads = async (node: TestNode, cookie: string) => (await ask(node, 'GET', '/operator/v1/accounts', { cookie })).status
const audit = async (action: string) =>
  (await here.db.kysely.selectFrom('audit_log').select(['actor', 'after', 'subject_id']).where('action', '=', action).orderBy('id').execute()).at(-1)

describe('Sign-in with the provider', () => {
  test('adds the person with the roles of the claim, on any node and without a second factor of our own; signing out ends it', async () => {
    const answer = await signInAs(claimed('ada', 'card owners', 'helpers', 'unknown'))
    expect([answer.status, answer.location]).toEqual([303, '/console'])
    const cookie = sessionIn(answer)!
    expect(answer.cookies[0]).toMatch(/; HttpOnly; SameSite=Strict; /)
    expect(answer.cookies[1]).toMatch(/^mintmark_provider=; .*Max-Age=0/)
    const { body } = await ask(here, 'GET', '/console/session', { cookie })
    expect(body.data.person).toMatchObject({ roles: ['owner', 'support', 'market'], unfinished: false })
    expect(await reads(here, cookie)).toBe(200)
    const people = await ask(here, 'GET', '/operator/v1/people', { cookie })
    expect(people.body.data).toContainEqual(expect.objectContaining({ name: 'Person ada', by_provider: true, has_password: false }))
    expect(await audit('console.sign-in')).toMatchObject({ actor: expect.stringMatching(/^operator:Person ada#\d+$/), after: { by_provider: true } })
    expect(await audit('person.create')).toMatchObject({ after: { provider_subject: 'ada', issuer: provider.issuer } })
    await ask(there, 'DELETE', '/console/session', { cookie })
    await until('the other node refuses the session', async () => (await reads(here, cookie)) === 401)
  })

  test('sets the roles anew each time; without one the person is refused and the sessions end', async () => {
    const first = sessionIn(await signInAs(claimed('bea', 'helpers')))!
    const second = sessionIn(await signInAs(claimed('bea', 'viewers')))!
    for (const cookie of [first, second]) {
      const { body } = await ask(there, 'GET', '/console/session', { cookie })
      expect(body.data.person?.roles).toEqual(['read_only'])
    }
    expect(await audit('person.change')).toMatchObject({ after: { roles: ['read_only'] } })
    const refused = await signInAs(claimed('bea', 'other'))
    expect([refused.location, sessionIn(refused)]).toEqual(['/console?refused=no_role', undefined])
    expect(await audit('console.sign-in-refused')).toMatchObject({ subject_id: 'bea', after: { reason: 'no_role' } })
    await until('the sessions end', async () => (await reads(here, first)) === 401 && (await reads(here, second)) === 401)
    // The claim counts wherever the provider states it: above at its userinfo endpoint, here in the id token.
    expect((await signInAs(claimed('bea'), (claims) => ({ ...claims, groups: 'viewers' }))).location).toBe('/console')
    const { claims } = claimed('nameless')
    expect((await signInAs({ sub: 'nameless', claims: { ...claims, groups: { owner: true } } })).location).toBe('/console?refused=no_role')
  })

  test('adds one person for concurrent first sign-ins, and never takes the name of another', async () => {
    await call(createPerson, here.ctx, { name: 'Person cem', roles: ['owner'] })
    provider.person = claimed('cem', 'market')
    const begun = await Promise.all([begin(here), begin(there), begin(here)])
    const callbacks = await Promise.all(begun.map(({ location }) => authorize(provider, location)))
    const answers = await Promise.all(callbacks.map((callback, i) => step(on(i % 2 ? here : there, callback), pairs(begun[i]!), fromFresh())))
    expect(answers.map(({ location }) => location)).toEqual(Array(3).fill('/console'))
    const rows = await here.db.kysely
      .selectFrom('people')
      .select(['name', 'roles', 'provider_subject'])
      .where('name', 'like', 'Person cem%')
      .execute()
    expect(rows).toHaveLength(2)
    expect(rows).toContainEqual({ name: 'Person cem (2)', roles: ['market'], provider_subject: 'cem' })
  })

  test('does not let in a removed person, until an owner does', async () => {
    const cookie = sessionIn(await signInAs(claimed('dan', 'market')))!
    const { id } = (await ask(here, 'GET', '/console/session', { cookie })).body.data.person!
    await call(removePerson, here.ctx, { id })
    expect((await signInAs(claimed('dan', 'card owners'))).location).toBe('/console?refused=removed')
    await call(readmitPerson, here.ctx, { id })
    await expect(call(readmitPerson, here.ctx, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await signInAs(claimed('dan', 'market'))).location).toBe('/console')
  })

  test('does not demote the last owner', async () => {
    await signInAs(claimed('eva', 'card owners'))
    const others = here.db.kysely
      .updateTable('people')
      .set({ roles: ['support'] })
      .where('provider_subject', 'is distinct from', 'eva')
    await others.execute()
    expect((await signInAs(claimed('eva', 'market'))).location).toBe('/console?refused=last_owner')
    expect((await signInAs(claimed('eva', 'card owners'))).location).toBe('/console')
  })
})

describe('An attack', () => {
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const seconds = () => Math.floor(Date.now() / 1_000)
  test.each<[string, (claims: Claims) => Claims]>([
    ['an id token of another client', (claims) => ({ ...claims, aud: 'another-client' })],
    ['an id token of several clients for another one', (claims) => ({ ...claims, aud: [CLIENT.id, 'another'], azp: 'another' })],
    ['an id token of another issuer', (claims) => ({ ...claims, iss: 'https://login.example' })],
    ['an id token of another sign-in', (claims) => ({ ...claims, nonce: 'of another sign-in' })],
    ['an id token without a nonce', ({ nonce: _nonce, ...claims }) => claims],
    ['an id token that expired two minutes ago', (claims) => ({ ...claims, exp: seconds() - 120 })],
    ['an id token that is valid in two minutes', (claims) => ({ ...claims, nbf: seconds() + 120 })],
  ])('with %s is refused', async (_name, tamper) => {
    const answer = await signInAs(claimed('eva', 'card owners'), tamper)
    expect([answer.location, sessionIn(answer)]).toEqual(['/console?refused=invalid', undefined])
  })

  test('with a signature of another key is refused, and with a clock that is off by half a minute nobody is', async () => {
    const { key } = provider
    provider.key = other
    expect((await signInAs(claimed('eva', 'card owners'), (claims) => claims)).location).toBe('/console?refused=invalid')
    provider.key = key
    const early = (claims: Claims) => ({ ...claims, iat: seconds() + 30, nbf: seconds() + 30 })
    expect((await signInAs(claimed('eva', 'card owners'), early)).location).toBe('/console')
    const late = (claims: Claims) => ({ ...claims, exp: seconds() - 30 })
    expect((await signInAs(claimed('eva', 'card owners'), late)).location).toBe('/console')
  })

  test('with a callback of another browser, a changed state, a used callback, a forged cookie or an old sign-in is refused', async () => {
    provider.person = claimed('eva', 'card owners')
    const [mine, theirs] = [await begin(), await begin()]
    const callback = on(here, await authorize(provider, mine.location))
    const attempt = async (url: string, cookies: string[]) => (await step(url, cookies, fromFresh())).location
    const expired = '/console?refused=expired'
    expect(await attempt(callback, [])).toBe(expired)
    expect(await attempt(callback, pairs(theirs))).toBe(expired)
    expect(await attempt(callback, ['mintmark_provider=e30'])).toBe(expired)
    expect(await attempt(callback.replace(/state=[^&]+/, 'state=guessed'), pairs(mine))).toBe(expired)
    expect(await attempt(callback, pairs(mine))).toBe('/console')
    // The same callback again, on another node.
    expect(await attempt(on(there, callback), pairs(mine))).toBe(expired)
    // The used code in a sign-in of its own: the provider refuses it.
    const fresh = await begin()
    const state = new URL(fresh.location).searchParams.get('state')!
    expect(await attempt(callback.replace(/state=[^&]+/, `state=${state}`), pairs(fresh))).toBe('/console?refused=invalid')
    const slow = await begin()
    const late = on(here, await authorize(provider, slow.location))
    for (const { clock } of [here, there]) clock.advance(10 * MINUTE + 1_000)
    expect(await attempt(late, pairs(slow))).toBe(expired)
    for (const { clock } of [here, there]) clock.advance(-10 * MINUTE - 1_000)
  })

  test('cannot choose where a sign-in goes, or keep a session that it planted', async () => {
    const planted = ['mintmark_console=planted']
    const aimed = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    provider.person = claimed('eva', 'card owners')
    const query = '?redirect_uri=https://evil.example&next=//evil.example&return_to=https://evil.example'
    const begun = await step(`${here.operatorUrl}/console/provider${query}`, planted, aimed)
    const { searchParams } = new URL(begun.location)
    expect(searchParams.get('redirect_uri')).toBe(`${here.config.operatorUrl}/console/provider/callback`)
    expect(searchParams.get('code_challenge_method')).toBe('S256')
    expect(begun.cookies[0]).toMatch(/^mintmark_provider=[\w-]+; Path=\/console\/provider; HttpOnly; SameSite=Lax; Max-Age=600/)
    const callback = `${on(here, await authorize(provider, begun.location))}&next=https://evil.example`
    const answer = await step(callback, [...planted, ...pairs(begun)], { ...aimed, ...fromFresh() })
    expect([answer.location, sessionIn(answer) === planted[0]]).toEqual(['/console', false])
    // The new session counts only with the header of our pages and their origin.
    const cookie = sessionIn(answer)!
    const forged = await fetch(`${here.operatorUrl}/console/session`, {
      method: 'DELETE',
      headers: { cookie, 'x-console': '1', origin: 'https://evil.example' },
    })
    expect(forged.status).toBe(403)
    expect(await reads(here, cookie)).toBe(200)
  })

  test('of many guesses is limited by address, like wrong passwords', async () => {
    const from = { 'x-forwarded-for': '203.0.113.9' }
    const guess = () => step(`${here.operatorUrl}/console/provider/callback?code=guess&state=guess`, [], from)
    const answers = []
    for (let i = 0; i < 11; i++) answers.push((await guess()).location)
    expect([...new Set(answers)]).toEqual(['/console?refused=expired', '/console?refused=too_many'])
    expect(answers.at(-1)).toBe('/console?refused=too_many')
  })
})

describe('The provider', () => {
  test('that signs nobody in leads back to the console', async () => {
    expect((await signInAs({ sub: 'nobody', claims: {} })).location).toBe('/console?refused=cancelled')
  })

  test('that is down leaves the sign-in with password and code', async () => {
    const { name, secret } = await member(here, 'Emergency', ['support'])
    provider.person = claimed('eva', 'card owners')
    const begun = await begin()
    const callback = on(here, await authorize(provider, begun.location))
    await provider.close()
    expect((await step(callback, pairs(begun), fromFresh())).location).toBe('/console?refused=unavailable')
    nextCode(here, there)
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(200)
  })
})

describe('Settings of the provider', () => {
  const all = {
    OIDC_ISSUER: 'https://login.example/shop',
    OIDC_CLIENT_ID: 'mintmark',
    OIDC_ROLES: 'a=owner',
    OPERATOR_URL: 'https://console.example',
  }
  test.each<[object, string]>([
    [{ OIDC_ISSUER: 'http://login.example' }, 'OIDC_ISSUER is "http://login.example" but must be an https URL without a query'],
    [{ OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID must be set: sign-in with OIDC_ISSUER needs it'],
    [{ OIDC_ROLES: '', OPERATOR_URL: '' }, 'OIDC_ROLES and OPERATOR_URL must be set'],
    [{ OIDC_ISSUER: '' }, 'OIDC_ISSUER must be set'],
    [{ OIDC_ROLES: 'a=admin' }, 'OIDC_ROLES is "a=admin" but must be pairs of a value of the claim and one of owner, catalogue'],
    [{ OIDC_SCOPES: 'profile' }, 'with openid'],
    [{ OPERATOR_URL: 'https://console.example/console' }, 'must be an origin such as https://console.example'],
  ])('%j: %s', (changed, message) => {
    expect(() => readConfig({ ...all, ...changed })).toThrow(message)
  })

  test('are read', () => {
    const { identityProvider } = readConfig({ ...all, OIDC_ROLES: '/x=y/admins=owner,b=market,b=support' })
    expect(Object.fromEntries(identityProvider!.roles)).toEqual({ '/x=y/admins': ['owner'], b: ['market', 'support'] })
  })
})
