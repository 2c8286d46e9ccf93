// Notices of infringement with their clock, each decided once by the table of statuses; and the end of all access after a breach.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { createPerson } from '#accounts/people/create-person.ts'
import { createPersonToken } from '#accounts/people/person-tokens.ts'
import type { Role } from '#core/roles.ts'
import { call } from '#core/verb.ts'
import { forgetOldNotices } from '#market/notices/notice-store.ts'
import type { Notice } from '#market/notices/notice-types.ts'
import type { BreachReport } from '#privacy/breach-types.ts'
import { DAY_MS, found, makeCatalogue, operator, plus, published } from '../market/kit.ts'
import { send, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
let items: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  ;({ items } = await makeCatalogue(node))
})

afterAll(() => node.close())

const reasonOf = ({ status, body }: { status: number; body: { error?: { rule?: string } } }) => [status, body.error?.rule]
const as = (token: string, path: string, json?: object) => send<BreachReport>(`${node.operatorUrl}/operator/v1${path}`, token, json ? { json } : {})

describe('a notice', () => {
  const receive = async (listing: number) => {
    const notice = { who: 'Rights Ltd, rights@example.org', listing, right: 'trademark', evidence: 'https://example.org/register/1' }
    return operator<Notice>(node, 'POST', '/notices', notice)
  }
  const decide = (id: number, decision: string) =>
    operator<Notice>(node, 'POST', `/notices/${id}/decide`, { decision, note: 'The mark is registered' })
  const stats = async () => (await operator<{ notices: { open: number; overdue: number } }>(node, 'GET', '/stats')).body.data.notices

  test('hides a listing at once, and is decided once', async () => {
    const { id } = await published(node, items.char!)
    const { status, body } = await receive(id)
    expect([status, body.data.state, body.data.listing, body.data.overdue]).toEqual([201, 'received', id, false])
    expect(await found(node)).toContain(id)
    const outcomes = await Promise.all([decide(body.data.id, 'hide'), decide(body.data.id, 'keep'), decide(body.data.id, 'hide')])
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const decided = (await operator<Notice>(node, 'GET', `/notices/${body.data.id}`)).body.data
    const listing = (await operator(node, 'GET', `/listings/${id}`)).body.data
    expect(listing.status).toBe(decided.state === 'hidden' ? 'rejected' : 'active')
    expect(reasonOf(await decide(body.data.id, 'keep'))).toEqual([409, 'notice_decided'])
  })

  test('about a listing that is rejected or deleted can be decided as well', async () => {
    const { id } = await published(node, items.pika!)
    const notices = [(await receive(id)).body.data.id, (await receive(id)).body.data.id, (await receive(id)).body.data.id]
    expect((await decide(notices[0]!, 'hide')).body.data).toMatchObject({
      state: 'hidden',
      listing_status: 'rejected',
      note: 'The mark is registered',
    })
    expect((await decide(notices[1]!, 'hide')).body.data.state).toBe('hidden')
    await plus(node, 'DELETE', `/listings/${id}`)
    expect((await decide(notices[2]!, 'hide')).body.data).toMatchObject({ state: 'hidden', listing: null })
    expect(reasonOf(await receive(999_999))[0]).toBe(422)
  })

  test('is overdue after its time, and forgotten long after its decision', async () => {
    const { id } = await published(node, items.luffy!)
    const notice = (await receive(id)).body.data.id
    const before = await stats()
    node.clock.advance(3 * DAY_MS)
    expect((await stats()).overdue).toBe(before.overdue + 1)
    const overdue = (await operator<Notice[]>(node, 'GET', '/notices?overdue=1')).body.data
    expect(overdue.map((row) => [row.id, row.overdue])).toEqual([[notice, true]])
    await decide(notice, 'keep')
    await forgetOldNotices(node.db, 10, new Date(node.clock.now().getTime() + 9 * DAY_MS))
    expect((await operator(node, 'GET', `/notices/${notice}`)).status).toBe(200)
    await forgetOldNotices(node.db, 10, new Date(node.clock.now().getTime() + 11 * DAY_MS))
    expect((await operator(node, 'GET', `/notices/${notice}`)).status).toBe(404)
    node.clock.advance(-3 * DAY_MS)
  })
})

describe('a response to a breach', () => {
  const breach = (scope: object) => operator<BreachReport>(node, 'POST', '/breach', { reason: 'A laptop was stolen', ...scope })
  async function seller(name: string) {
    const { id } = await call(createAccount, node.ctx, { name, plan: 'plus' })
    const { key } = await call(createKey, node.ctx, { account_id: id })
    await plus(node, 'PUT', '/webhook', { url: 'https://example.org/hook', on_sale: true, on_expire: true, is_active: true }, { key })
    return { id, key }
  }
  async function person(name: string, roles: Role[]) {
    const { id } = await call(createPerson, node.ctx, { name, roles })
    const { token } = await call(createPersonToken, { ...node.ctx, viewer: { kind: 'operator', name: 'test' } }, { id, label: 'shop' })
    return { id, token }
  }
  const canRead = async (key: string) => (await plus(node, 'GET', '/my-listings', undefined, { key })).status
  const secret = async (id: number) =>
    (await node.db.kysely.selectFrom('webhooks').select('sealed_secret').where('account_id', '=', id).executeTakeFirst())?.sealed_secret.toString(
      'hex',
    )

  test('of an account revokes its keys and replaces its secret, and nobody else notices', async () => {
    const [one, two] = [await seller('Stolen'), await seller('Safe')]
    const before = [await secret(one.id), await secret(two.id)]
    const { status, body } = await breach({ account_id: one.id })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      scope: `account:${one.id}`,
      ended: { keys: 1, tokens: 0, webhook_secrets: before[0] ? 1 : 0 },
      tell: { accounts: [{ id: one.id, name: 'Stolen', keys: 1 }], accounts_total: 1, people: [] },
      way_back: 'unchanged',
    })
    expect([await canRead(one.key), await canRead(two.key)]).toEqual([401, 200])
    expect(before[0]).toBeDefined()
    expect(await secret(one.id)).not.toBe(before[0])
    expect(await secret(two.id)).toBe(before[1])
    expect((await breach({})).status).toBe(422)
    expect(reasonOf(await breach({ account_id: one.id, all: true }))[0]).toBe(422)
    expect((await breach({ account_id: 999_999 })).status).toBe(404)
  })

  test('of a role ends the access of its people, and needs an owner', async () => {
    const [support, reader] = [await person('Support', ['support']), await person('Reader', ['read_only'])]
    for (const { token } of [support, reader]) {
      const refused = [as(token, '/breach', { all: true, reason: 'no' }), as(token, '/erasures', { account_id: 1, reason: 'no' })]
      expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([403, 403])
    }
    expect((await as(reader.token, '/notices', { who: 'a', listing: 1, right: 'b', evidence: 'c' })).status).toBe(403)
    expect((await as(reader.token, `/accounts/${node.accounts.plus}/personal-data`)).status).toBe(403)
    const { body } = await breach({ role: 'support' })
    expect(body.data).toMatchObject({ ended: { tokens: 1, keys: 0 }, tell: { people: [{ id: support.id, name: 'Support' }] }, way_back: 'unchanged' })
    await until('the token is rejected', async () => (await as(support.token, '/accounts')).status === 401)
    expect((await as(reader.token, '/accounts')).status).toBe(200)
  })

  test('of all leaves only the ways back that the report names', async () => {
    const { key } = await seller('Anybody')
    const owner = await person('Owner', ['owner'])
    const { token } = await call(createOperatorToken, node.ctx, { label: 'Shop' })
    const { body } = await as(owner.token, '/breach', { all: true, reason: 'The database was copied' })
    expect(body.data).toMatchObject({
      scope: 'all',
      way_back: 'password',
      person_id: owner.id,
      to_do: expect.arrayContaining(['bootstrap_token', 'new_keys']),
    })
    expect(body.data.tell.accounts.map(({ name }) => name)).toEqual(expect.arrayContaining(['Anybody', 'Safe']))
    await until('everything is rejected', async () => {
      const statuses = [
        await canRead(key),
        await canRead(node.keys.plus),
        (await as(owner.token, '/accounts')).status,
        (await as(token, '/accounts')).status,
      ]
      return statuses.every((status) => status === 401)
    })
    // The token in the settings is still valid: the service cannot change its settings.
    expect((await breach({ all: true })).body.data.way_back).toBe('bootstrap_token')
  })
})
