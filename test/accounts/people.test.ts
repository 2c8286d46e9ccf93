// How people sign in, tested from outside and on two nodes: one first owner, passwords, codes, lock-out, roles, sessions and tokens.
import { sql } from 'kysely'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { changePerson } from '#accounts/people/change-person.ts'
import { createPersonToken, revokePersonToken } from '#accounts/people/person-tokens.ts'
import { createPerson } from '#accounts/people/create-person.ts'
import { invitePerson } from '#accounts/people/invite-person.ts'
import { makeOwnerLink } from '#accounts/people/make-owner-link.ts'
import { hashPassword, isPassword } from '#accounts/people/password.ts'
import { removePerson } from '#accounts/people/remove-person.ts'
import { newKey } from '#accounts/credentials/key-format.ts'
import type { Role } from '#core/roles.ts'
import { call } from '#core/verb.ts'
import { send, startTestNode, startTwoNodes, type TestNode, until } from '../support/node.ts'
import { ask, codeOf, linkIn, member, nextCode, PASSWORD, setTwoFactor, signIn, startOfCode } from './people-kit.ts'

const MINUTE = 60_000
let here: TestNode
let there: TestNode
let close: () => Promise<void>

beforeAll(async () => {
  ;({ here, there, close } = await startTwoNodes({ TRUST_PROXY: 'loopback' }))
})
afterAll(() => close())

const reads = async (on: TestNode, cookie: string) => (await ask(on, 'GET', '/operator/v1/accounts', { cookie })).status
let addresses = 0
/** Headers of an address without earlier failures. */
const fromFresh = () => {
  addresses += 1
  return { 'x-forwarded-for': `192.0.${addresses >> 8}.${addresses & 255}` }
}
const statusOf = async (on: TestNode, token: string) => (await send(`${on.operatorUrl}/operator/v1/accounts`, token, { headers: fromFresh() })).status
const detailsOf = ({ body }: { body: { error?: { details?: { field: string; rule: string }[] } } }) =>
  body.error?.details?.map(({ field, rule }) => `${field} ${rule}`)

describe('The first owner', () => {
  test('is created with a link that works once, even for concurrent requests; no second link can be created', async () => {
    const node = await startTestNode({ listeners: 'operator' })
    try {
      const { link_path: replaced } = await call(makeOwnerLink, node.ctx, {})
      const { link_path: path } = await call(makeOwnerLink, node.ctx, {})
      const use = (of: string, name: string) => signIn(node, { link: linkIn(of), name, password: PASSWORD })
      expect((await use(replaced, 'Early')).status).toBe(401)
      const answers = await Promise.all(['Ayşe', 'Barış', 'Ceren', 'Deniz'].map((name) => use(path, name)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
      expect((await use(path, 'Late')).status).toBe(401)
      const owners = await node.db.kysely.selectFrom('people').select(['name', 'roles']).execute()
      expect(owners).toEqual([{ name: expect.any(String), roles: ['owner'] }])
      await expect(call(makeOwnerLink, node.ctx, {})).rejects.toMatchObject({ code: 'CONFLICT' })
    } finally {
      await node.close()
    }
  })

  test('is not created by a link older than 24 hours, or without a name', { tags: 'slow' }, async () => {
    const node = await startTestNode({ listeners: 'operator' })
    try {
      const { link_path: path } = await call(makeOwnerLink, node.ctx, {})
      expect((await signIn(node, { link: linkIn(path), password: PASSWORD })).status).toBe(401)
      node.clock.advance(24 * 60 * MINUTE + 1_000)
      expect((await signIn(node, { link: linkIn(path), name: 'Ayşe', password: PASSWORD })).status).toBe(401)
      expect(await node.db.kysely.selectFrom('people').select('id').execute()).toEqual([])
    } finally {
      await node.close()
    }
  })

  test('when two owners demote or remove each other concurrently, one stays', { tags: 'slow' }, async () => {
    const node = await startTestNode({ listeners: 'operator' })
    try {
      for (let round = 0; round < 10; round++) {
        const pair = await Promise.all(['a', 'b'].map((name) => call(createPerson, node.ctx, { name: `${name}${round}`, roles: ['owner'] })))
        const outcomes = await Promise.allSettled(
          pair.map(({ id }, i) =>
            (round + i) % 3 === 0 ? call(removePerson, node.ctx, { id }) : call(changePerson, node.ctx, { id, roles: ['support'] }),
          ),
        )
        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
        const owners = await node.db.kysely
          .selectFrom('people')
          .select('id')
          .where('removed_at', 'is', null)
          .where(sql<boolean>`'owner' = any(roles)`)
          .execute()
        expect(owners).toHaveLength(1)
        const last = owners[0]!.id
        await expect(call(removePerson, node.ctx, { id: last })).rejects.toMatchObject({ code: 'CONFLICT', why: { rule: 'last_owner' } })
        await expect(call(changePerson, node.ctx, { id: last, roles: ['market'] })).rejects.toMatchObject({ code: 'CONFLICT' })
        // Removes everyone, so that the next round has only its own two people.
        await sql`update people set removed_at = now() where removed_at is null`.execute(node.db.kysely)
      }
    } finally {
      await node.close()
    }
  })
})

describe('A password', () => {
  test.each([
    ['short', 'text'],
    ['passwordpassword', 'password_common'],
    ['123456789012', 'password_common'],
    ['qwertyuiop123', 'password_common'],
    ['Zerrin Zerrin', 'password_common'],
    ['x'.repeat(300), 'text'],
  ])('%s is rejected by field: %s', async (password, rule) => {
    const { id, link_path: path } = await call(createPerson, here.ctx, { name: `Zerrin ${password.slice(0, 8)}`, roles: ['read_only'] })
    const refused = await signIn(here, { link: linkIn(path), password })
    expect([refused.status, detailsOf(refused)]).toEqual([422, [`password ${rule}`]])
    // The failed attempt did not use up the link.
    expect((await signIn(here, { link: linkIn(path), password: PASSWORD })).body.data.person).toMatchObject({ id, unfinished: true })
  })

  test('waits for a limited number of others; further ones are rejected at once', { tags: 'slow' }, async () => {
    // Stored with a hundredth of the usual work: what counts is how many wait.
    const cheap = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
    const results = await Promise.allSettled(Array.from({ length: 110 }, () => isPassword('guess', cheap)))
    const rejected = results.flatMap((result) => (result.status === 'rejected' ? [(result.reason as { code: string }).code] : []))
    expect(rejected).toEqual(Array(10).fill('RATE_LIMITED'))
    expect(await isPassword(PASSWORD, await hashPassword(PASSWORD))).toBe(true)
  })

  test('is stored as argon2id, the app secret is encrypted, and sessions and tokens are hashed', async () => {
    const { id, secret, cookie } = await member(here, 'Stored', ['support'])
    const { token } = await call(createPersonToken, here.ctx, { id, label: 'feed' })
    const rows = await here.db.kysely.selectFrom('people').selectAll().where('id', '=', id).execute()
    expect(rows[0]!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const stored = JSON.stringify([
      rows,
      await here.db.kysely.selectFrom('person_sessions').selectAll().execute(),
      await here.db.kysely.selectFrom('person_tokens').selectAll().execute(),
      await here.db.kysely.selectFrom('audit_log').selectAll().execute(),
    ])
    for (const value of [PASSWORD, secret, token, cookie.split('=')[1]!]) expect(stored).not.toContain(value)
    expect(rows[0]!.totp_secret!.toString('latin1')).not.toContain(secret)
  })

  test('is changed with the current password, which ends the other sessions', async () => {
    const { name, secret, cookie } = await member(here, 'Changes', ['market'])
    nextCode(here, there)
    const other = await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })
    const change = (current: string, password: string) =>
      ask(here, 'POST', '/console/password', { cookie, body: { current_password: current, password } })
    expect(detailsOf(await change('wrong', 'Umbrella-orbit-19-velvet'))).toEqual(['current_password wrong_password'])
    expect(detailsOf(await change(PASSWORD, 'short'))).toEqual(['password text'])
    expect((await change(PASSWORD, 'Umbrella-orbit-19-velvet')).status).toBe(200)
    expect([await reads(here, cookie), await reads(here, other.cookie)]).toEqual([200, 401])
    nextCode(here, there)
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(401)
    expect((await signIn(here, { name, password: 'Umbrella-orbit-19-velvet', code: codeOf(here, secret) })).status).toBe(200)
  })
})

describe('Two-factor sign-in', () => {
  test('is required before anything else', async () => {
    const { link_path: path } = await call(createPerson, here.ctx, { name: 'Begins', roles: ['owner'] })
    const { cookie, body } = await signIn(here, { link: linkIn(path), password: PASSWORD })
    expect(body.data.person).toMatchObject({ unfinished: true })
    const refused = await ask(here, 'GET', '/operator/v1/people', { cookie })
    expect([refused.status, refused.body.error!.message]).toEqual([403, 'Set up two-factor sign-in first: nothing else is allowed before'])
    const tokens = await ask(here, 'POST', `/operator/v1/people/${body.data.person!.id}/tokens`, { cookie, body: { label: 'early' } })
    expect(tokens.status).toBe(403)
    const begin = (current: string) => ask(here, 'POST', '/console/two-factor', { cookie, body: { current_password: current } })
    expect(detailsOf(await begin('wrong'))).toEqual(['current_password wrong_password'])
    const begun = await begin(PASSWORD)
    expect(begun.body.data.uri).toMatch(/^otpauth:\/\/totp\/Mintmark:Begins\?issuer=Mintmark&secret=/)
    const wrong = await ask(here, 'POST', '/console/two-factor/confirm', { cookie, body: { code: '000000' } })
    expect(detailsOf(wrong)).toEqual(['code two_factor_code'])
    const code = codeOf(here, begun.body.data.secret)
    expect((await ask(here, 'POST', '/console/two-factor/confirm', { cookie, body: { code } })).status).toBe(200)
    expect(await reads(here, cookie)).toBe(200)
    await until('the other node lets them in', async () => (await reads(there, cookie)) === 200)
  })

  test('accepts each code once, even under concurrent use', { tags: 'slow' }, async () => {
    startOfCode(here, there)
    const { name, secret } = await member(here, 'Once', ['support'])
    // The code that confirmed the app counts as used.
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(401)
    nextCode(here, there)
    const code = codeOf(here, secret)
    const answers = await Promise.all(Array.from({ length: 4 }, () => signIn(here, { name, password: PASSWORD, code })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
    expect((await signIn(here, { name, password: PASSWORD, code })).status).toBe(401)
    nextCode(here, there)
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(200)
  })

  test('rejects a code from ten minutes ago', { tags: 'slow' }, async () => {
    const { name, secret } = await member(here, 'Late', ['support'])
    nextCode(here, there)
    const code = codeOf(here, secret)
    for (const { clock } of [here, there]) clock.advance(10 * MINUTE)
    expect((await signIn(here, { name, password: PASSWORD, code })).status).toBe(401)
  })
})

describe('A sign-in that fails', () => {
  test('does not say what was wrong', async () => {
    const { name, secret } = await member(here, 'Known', ['market'])
    nextCode(here, there)
    const bodies = [
      { name: 'Nobody', password: PASSWORD, code: codeOf(here, secret) },
      { name, password: 'wrong', code: codeOf(here, secret) },
      { name, password: PASSWORD, code: '000000' },
      { name, password: PASSWORD },
    ]
    const answers = await Promise.all(bodies.map((body) => signIn(here, body)))
    for (const answer of answers) expect([answer.status, answer.body, answer.cookie]).toEqual([401, answers[0]!.body, ''])
  })

  /** A sign-in from a certain address. */
  const signInFrom = async (on: TestNode, address: string, json: object) => {
    const headers = { 'x-console': '1', origin: on.operatorUrl!, 'x-forwarded-for': address }
    const { status, headers: answered, body } = await send(`${on.operatorUrl}/console/session`, null, { json, headers })
    return { status, retryAfter: Number(answered.get('retry-after')), message: body.error?.message }
  }

  test('locks the name for its address on all nodes after five failures, existing or not, until 15 minutes after the first', async () => {
    const { name, secret } = await member(here, 'Locked', ['market'])
    nextCode(here, there)
    const refusals: string[] = []
    for (const each of [name, 'Nobody at all']) {
      const statuses: number[] = []
      // Two at a time: more would wait too long for database connections on a busy machine.
      for (let i = 0; i < 6; i++) {
        const guesses = [here, there].map((on) => signInFrom(on, '203.0.113.50', { name: each, password: `guess ${i}` }))
        statuses.push(...(await Promise.all(guesses)).map(({ status }) => status))
      }
      expect(statuses.sort()).toEqual([...Array<number>(5).fill(401), ...Array<number>(7).fill(429)])
      // The address itself is limited for a minute, too.
      for (const { clock } of [here, there]) clock.advance(MINUTE + 1_000)
      const locked = await signInFrom(here, '203.0.113.50', { name: each.toUpperCase(), password: PASSWORD, code: codeOf(here, secret) })
      expect(locked.retryAfter).toBeGreaterThan(60)
      refusals.push(`${locked.status} ${locked.message!.replace(/\d+/, 'n')}`)
    }
    expect(refusals).toEqual(Array(2).fill('429 Too many failed sign-ins with this name; try again in n s'))
    for (const { clock } of [here, there]) clock.advance(15 * MINUTE + 1_000)
    expect((await signInFrom(here, '203.0.113.50', { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(200)
  })

  test('from other addresses does not lock the person out: not at a new address, and never at one where they signed in', {
    tags: 'slow',
  }, async () => {
    const { name, secret, id } = await member(here, 'Attacked', ['market'])
    nextCode(here, there)
    const right = () => ({ name, password: PASSWORD, code: codeOf(here, secret) })
    expect((await signInFrom(here, '203.0.113.60', right())).status).toBe(200)
    nextCode(here, there)
    for (let i = 0; i < 20; i++) expect((await signIn(here, { name, password: `guess ${i}` })).status).toBe(401)
    expect((await signInFrom(here, '203.0.113.61', right())).status).toBe(200)
    nextCode(here, there)
    // As if a hundred guesses had come from a hundred addresses.
    await here.db.kysely.updateTable('sign_in_attempts').set({ attempts: 100 }).where('attempts', '>=', 20).execute()
    expect((await signIn(here, right())).status).toBe(429)
    for (const [on, address] of [
      [here, '203.0.113.60'],
      [there, '203.0.113.61'],
    ] as const) {
      expect((await signInFrom(on, address, right())).status).toBe(200)
      nextCode(here, there)
    }
    // A reset of the credentials makes every address unknown again.
    await call(invitePerson, here.ctx, { id })
    expect((await signInFrom(here, '203.0.113.60', right())).status).toBe(429)
  })

  test('with the right password does not let codes be guessed from many addresses', { tags: 'slow' }, async () => {
    const { name, secret } = await member(here, 'Stolen', ['market'])
    nextCode(here, there)
    for (let i = 0; i < 5; i++) expect((await signIn(here, { name, password: PASSWORD, code: '000000' })).status).toBe(401)
    // The response does not reveal that the password was right.
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(401)
    for (const { clock } of [here, there]) clock.advance(15 * MINUTE + 1_000)
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(200)
  })

  test('with a made-up link costs no password check and counts against the address, as does a weak password', { tags: 'slow' }, async () => {
    const join = (address: string, link: string, password: string) => signInFrom(here, address, { link, password })
    const estimated = vi.spyOn(ZxcvbnFactory.prototype, 'check')
    for (let i = 0; i < 10; i++) expect((await join('203.0.113.70', newKey('link'), 'password')).status).toBe(401)
    expect(estimated).not.toHaveBeenCalled()
    expect((await join('203.0.113.70', newKey('link'), PASSWORD)).status).toBe(429)
    const { link_path: path } = await call(createPerson, here.ctx, { name: 'Weak', roles: ['support'] })
    for (let i = 0; i < 10; i++) expect((await join('203.0.113.71', linkIn(path), 'password password')).status).toBe(422)
    expect((await join('203.0.113.71', linkIn(path), 'password password')).status).toBe(429)
    expect(estimated).toHaveBeenCalledTimes(10)
    expect((await join('203.0.113.72', linkIn(path), 'x'.repeat(1_000))).status).toBe(422)
    expect(estimated).toHaveBeenCalledTimes(10)
    estimated.mockRestore()
    for (const { clock } of [here, there]) clock.advance(MINUTE + 1_000)
    expect((await join('203.0.113.71', linkIn(path), PASSWORD)).status).toBe(200)
  })

  test('locks the address after ten failures, for any names', { tags: 'slow' }, async () => {
    const node = await startTestNode({ listeners: 'operator' })
    try {
      const guess = (i: number) =>
        send(`${node.operatorUrl}/console/session`, null, {
          json: { name: `guess ${i}`, password: 'guess' },
          headers: { 'x-console': '1', origin: node.operatorUrl! },
        })
      const statuses: number[] = []
      for (let i = 0; i < 11; i++) statuses.push((await guess(i)).status)
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429])
      node.clock.advance(MINUTE + 1_000)
      expect((await guess(0)).status).toBe(401)
    } finally {
      await node.close()
    }
  })

  test.each([
    [{ name: 1, password: 'x' }, ['name text']],
    [{ name: 'x' }, ['password text']],
    [{ name: '', password: '', code: [] }, ['name text', 'password text', 'code text']],
    [{ link: 'x' }, ['password required']],
    [{ link: 'x', password: PASSWORD, name: 'a#b' }, ['name person_name']],
    [{ link: 'x', password: PASSWORD, roles: ['owner'] }, ['roles unknown_field']],
  ])('reports invalid fields: %j', async (body, details) => {
    const refused = await signIn(here, body)
    expect([refused.status, detailsOf(refused)]).toEqual([422, details])
  })
})

describe('A person', () => {
  test('is named in the audit log, by session and by token', async () => {
    const { id, cookie } = await member(here, 'Ayşe', ['support'])
    const { token } = await call(createPersonToken, here.ctx, { id, label: 'feed' })
    const account = { name: 'Kart Evi', plan: 'starter' }
    expect((await ask(here, 'POST', '/operator/v1/accounts', { cookie, body: account })).status).toBe(201)
    expect((await send(`${here.operatorUrl}/operator/v1/accounts`, token, { json: account })).status).toBe(201)
    const rows = await here.db.kysely.selectFrom('audit_log').select('action').where('actor', '=', `operator:Ayşe#${id}`).orderBy('id').execute()
    expect(rows.map(({ action }) => action)).toEqual([
      'person.join',
      'console.sign-in',
      'person.begin-two-factor',
      'person.set-two-factor',
      'account.create',
      'account.create',
    ])
  })

  test('has a unique name, ignoring case', async () => {
    await call(createPerson, here.ctx, { name: 'Gül Ay', roles: ['market'] })
    const create = async (name: string, roles: Role[] = ['market']) => call(createPerson, here.ctx, { name, roles })
    await expect(create('GÜL AY')).rejects.toMatchObject({ code: 'CONFLICT' })
    for (const name of ['', ' Gül', 'Gül#1', 'a\nb', 'x'.repeat(61)])
      await expect(create(name)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', why: [{ field: 'name' }] })
    await expect(create('Roles', [])).rejects.toMatchObject({ why: [{ field: 'roles' }] })
    await expect(create('Roles', ['king' as Role])).rejects.toMatchObject({ why: [{ field: 'roles.0' }] })
  })

  test('reads and changes only their own account, owners all accounts', async () => {
    const one = await member(here, 'One', ['catalogue', 'market', 'support', 'read_only'])
    const two = await member(here, 'Two', ['owner'])
    const see = async (cookie: string, path: string, method = 'GET') => (await ask(here, method, `/operator/v1/people${path}`, { cookie })).status
    expect(await see(one.cookie, `/${one.id}`)).toBe(200)
    expect(await see(one.cookie, `/${one.id}/sessions`)).toBe(200)
    expect(await see(one.cookie, `/${one.id}/tokens`)).toBe(200)
    for (const path of [`/${two.id}`, `/${two.id}/sessions`, `/${two.id}/tokens`, '/999999'])
      expect([path, await see(one.cookie, path)]).toEqual([path, 403])
    expect(await see(one.cookie, `/${two.id}/sessions`, 'DELETE')).toBe(403)
    expect(await see(one.cookie, '')).toBe(403)
    for (const path of ['', `/${one.id}`, `/${one.id}/sessions`, `/${one.id}/tokens`])
      expect([path, await see(two.cookie, path)]).toEqual([path, 200])
    expect(await see(two.cookie, '/999999')).toBe(404)
  })

  test('gets the permissions of a new role on every node within a second', async () => {
    const { id, cookie } = await member(here, 'Moves', ['read_only'])
    const open = (on: TestNode) => ask(on, 'POST', '/operator/v1/accounts', { cookie, body: { name: 'Moved', plan: 'starter' } })
    const refused = await open(there)
    expect([refused.status, refused.body.error!.message]).toEqual([403, 'This needs one of the roles owner, support; you have read_only'])
    await call(changePerson, here.ctx, { id, roles: ['support'] })
    expect((await open(here)).status).toBe(201)
    await until('the other node knows the role', async () => (await open(there)).status === 201)
  })

  test('ends one session or all sessions', async () => {
    const { id, name, secret, cookie } = await member(here, 'Sessions', ['market'])
    nextCode(here, there)
    const second = await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })
    const list = await send<{ id: number; current: boolean; by_token: boolean; address: string }[]>(
      `${here.operatorUrl}/operator/v1/people/${id}/sessions`,
      null,
      {
        headers: { cookie, 'x-console': '1' },
      },
    )
    expect(list.body.data).toMatchObject([
      { current: false, by_token: false, address: expect.stringMatching(/^198\./) },
      { current: true, by_token: false },
    ])
    const end = (which: string) => ask(here, 'DELETE', `/operator/v1/people/${id}/sessions${which}`, { cookie })
    expect(await reads(there, second.cookie)).toBe(200)
    expect((await end(`/${list.body.data[0]!.id}`)).body.data).toEqual({ ended: 1 })
    expect([await reads(here, second.cookie), await reads(here, cookie)]).toEqual([401, 200])
    await until('the other node refuses it', async () => (await reads(there, second.cookie)) === 401)
    expect((await end(`/${list.body.data[0]!.id}`)).status).toBe(404)
    expect((await end('')).body.data).toEqual({ ended: 1 })
    expect(await reads(here, cookie)).toBe(401)
  })

  test('signs in to the console with their own token, until it is revoked', async () => {
    const { id } = await member(here, 'Tokens', ['market'])
    const { token, id: tokenId } = await call(createPersonToken, here.ctx, { id, label: 'laptop' })
    const { cookie, body } = await signIn(here, { token })
    expect(body.data.person).toMatchObject({ id, roles: ['market'], unfinished: false })
    expect(await reads(here, cookie)).toBe(200)
    expect((await ask(here, 'DELETE', `/operator/v1/people/${id}/tokens/${tokenId}`, { cookie })).status).toBe(200)
    expect(await reads(here, cookie)).toBe(401)
    expect((await send(`${here.operatorUrl}/operator/v1/accounts`, token)).status).toBe(401)
  })

  test('loses sessions and tokens on every node when removed or invited again', async () => {
    for (const end of [removePerson, invitePerson]) {
      const { id, name, secret, cookie } = await member(here, `Ends by ${end.name}`, ['market'])
      const { token } = await call(createPersonToken, here.ctx, { id, label: 'feed' })
      const byToken = async (on: TestNode) => (await send(`${on.operatorUrl}/operator/v1/accounts`, token)).status
      expect([await reads(there, cookie), await byToken(there)]).toEqual([200, 200])
      await call(end, here.ctx, { id })
      expect([await reads(here, cookie), await byToken(here)]).toEqual([401, 401])
      await until('the other node refuses them', async () => (await reads(there, cookie)) === 401 && (await byToken(there)) === 401)
      nextCode(here, there)
      expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(401)
    }
  })

  test('has no token that survives the token with which it was created, on any node', { tags: 'slow' }, async () => {
    const { id: owner, cookie } = await member(here, 'Creator', ['owner'])
    const { id: other } = await member(here, 'Receiver', ['support'])
    const create = async (personId: number, by: string | null) => {
      const path = `/operator/v1/people/${personId}/tokens`
      const created = by
        ? await send<{ id: number; token: string }>(here.operatorUrl + path, by, { json: { label: 'child' } })
        : await ask(here, 'POST', path, { cookie, body: { label: 'root' } })
      expect(created.status).toBe(201)
      return created.body.data as unknown as { id: number; token: string }
    }
    const statuses = (tokens: { token: string }[], on = here) => Promise.all(tokens.map(({ token }) => statusOf(on, token)))
    const root = await create(owner, null)
    const child = await create(owner, root.token)
    const foreign = await create(other, child.token)
    const grandchild = await create(other, foreign.token)
    const session = await signIn(here, { token: child.token })
    const bySession = await ask(here, 'POST', `/operator/v1/people/${owner}/tokens`, { cookie: session.cookie, body: { label: 'by session' } })
    const unrelated = await create(owner, null)
    const family = [child, foreign, grandchild, bySession.body.data as unknown as { token: string }]
    expect(await statuses([root, unrelated, ...family])).toEqual(Array(6).fill(200))
    expect(await statuses([root, unrelated, ...family], there)).toEqual(Array(6).fill(200))
    await call(revokePersonToken, here.ctx, { id: owner, token_id: root.id })
    expect(await statuses([unrelated, root, ...family])).toEqual([200, ...Array<number>(5).fill(401)])
    await until('the other node rejects them', async () => (await statuses(family, there)).every((status) => status === 401))
    const { rows } = await sql<{ created_with: number }>`
      select (after->>'created_with')::int as created_with from audit_log
      where action = 'person-token.revoke' and subject_id = ${String(grandchild.id)}`.execute(here.db.kysely)
    expect(rows).toEqual([{ created_with: foreign.id }])

    // When the person loses the role that allowed it, what others got from their tokens ends; when they are removed, everything does.
    const theirs = await create(other, unrelated.token)
    const own = await create(owner, unrelated.token)
    await call(changePerson, here.ctx, { id: owner, roles: ['support'] })
    expect(await statuses([theirs, unrelated, own])).toEqual([401, 200, 200])
    await call(changePerson, here.ctx, { id: owner, roles: ['owner'] })
    const again = await create(other, own.token)
    await call(removePerson, here.ctx, { id: owner })
    expect(await statuses([again, unrelated, own])).toEqual([401, 401, 401])
  })

  test('cannot create a token with one that is revoked at the same time', { tags: 'slow' }, async () => {
    const { id, cookie } = await member(here, 'Racer', ['support'])
    for (let i = 0; i < 5; i++) {
      const root = (await ask(here, 'POST', `/operator/v1/people/${id}/tokens`, { cookie, body: { label: 'root' } })).body.data as unknown as {
        id: number
        token: string
      }
      const url = (on: TestNode) => `${on.operatorUrl}/operator/v1/people/${id}/tokens`
      const creations = Array.from({ length: 4 }, (_, n) =>
        send<{ token: string }>(url(n % 2 ? there : here), root.token, { json: { label: 'child' }, headers: fromFresh() }),
      )
      const revoked = ask(here, 'DELETE', `/operator/v1/people/${id}/tokens/${root.id}`, { cookie })
      const created = await Promise.all(creations)
      expect((await revoked).status).toBe(200)
      for (const { status, body } of created) {
        expect([201, 401]).toContain(status)
        if (status === 201) expect(await statusOf(here, body.data.token)).toBe(401)
      }
    }
  })

  test('sets up a new app after a reset; the link works once', async () => {
    const { id, name, secret } = await member(here, 'Anew', ['market'])
    const { link_path: path } = await call(invitePerson, here.ctx, { id })
    const { cookie } = await signIn(here, { link: linkIn(path), password: PASSWORD })
    nextCode(here, there)
    const other = await setTwoFactor(here, cookie)
    expect(other).not.toBe(secret)
    expect((await signIn(here, { link: linkIn(path), password: PASSWORD })).status).toBe(401)
    nextCode(here, there)
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, secret) })).status).toBe(401)
    expect((await signIn(here, { name, password: PASSWORD, code: codeOf(here, other) })).status).toBe(200)
  })
})

test("a shared token has no password to change, and other sites cannot change anyone's password", async () => {
  const { cookie } = await signIn(here, { token: here.config.operatorToken! })
  const body = { current_password: PASSWORD }
  expect((await ask(here, 'POST', '/console/two-factor', { cookie, body })).status).toBe(403)
  expect((await ask(here, 'POST', '/console/two-factor', { body })).status).toBe(401)
  const elsewhere = await send(`${here.operatorUrl}/console/two-factor`, null, {
    json: body,
    headers: { cookie, 'x-console': '1', origin: 'https://elsewhere.example' },
  })
  expect(elsewhere.status).toBe(403)
})
