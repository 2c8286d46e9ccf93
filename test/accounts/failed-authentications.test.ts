// Failed authentications on both listeners: limited by address, answered without the database, and recorded.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { hashKey, last4, newKey } from '#accounts/credentials/key-format.ts'
import { NO_SCOPE } from '#accounts/credentials/key-scope.ts'
import { insertKey } from '#accounts/account-store.ts'
import { call } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { OPERATOR_TOKEN, send, type Sending, silent, startTestNode, type TestNode, until } from '../support/node.ts'
import { countLookups } from './lookups.ts'

const MINUTE_MS = 60_000
const lines: { message: string; address?: string; credential?: string }[] = []
const logged = (details: object, message: string) => void lines.push({ ...details, message })
let node: TestNode
let other: TestNode
let addresses = 0

beforeAll(async () => {
  node = await startTestNode({ env: { TRUST_PROXY: 'loopback' }, log: { ...silent, info: logged, warn: logged } })
  other = await startTestNode({ databaseUrl: node.databaseUrl, env: { TRUST_PROXY: '1' } })
})
afterAll(async () => {
  await other.close()
  await node.close()
})
beforeEach(() => void (lines.length = 0))

/** An address without earlier failures. */
function freshAddress(): string {
  addresses += 1
  return `198.51.${addresses >> 8}.${addresses & 255}`
}

const from = (address: string): Sending => ({ headers: { 'x-forwarded-for': address } })
const items = (key: string | null, address: string, on = node) => send(`${on.publicUrl}/api/v1/items`, key, from(address))
const graphql = (key: string, address: string) =>
  send(`${node.publicUrl}/graphql`, key, { ...from(address), json: { query: '{ items(first: 1) { nodes { id } } }' } })
const operator = (token: string, address: string, on = node) => send(`${on.operatorUrl}/operator/v1/audit`, token, from(address))
const signIn = (token: string, address: string) =>
  send(`${node.operatorUrl}/console/session`, null, {
    json: { token },
    headers: { 'x-forwarded-for': address, 'x-console': '1', origin: node.operatorUrl! },
  })

async function fail(times: number, once: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses = []
  for (let i = 0; i < times; i += 1) statuses.push((await once()).status)
  return statuses
}

test('an address that sends wrong keys gets 429 with few database lookups', async () => {
  const address = freshAddress()
  node.clock.stop()
  // A key that is read while accounts change is not cached.
  await node.ctx.caughtUp()
  expect((await items(node.keys.starter, address)).status).toBe(200)
  const lookups = countLookups()
  const statuses = await fail(100, () => items(newKey('api'), address))
  expect(lookups.end()).toBe(35)
  expect(statuses).toEqual([...Array<number>(30).fill(401), ...Array<number>(70).fill(429)])

  const refused = await items(newKey('api'), address)
  const seconds = Number(refused.headers.get('retry-after'))
  expect(refused.body).toEqual({
    success: false,
    error: {
      code: 'RATE_LIMITED',
      message: expect.stringContaining(String(seconds)) as string,
      rule: 'too_many_failures',
      params: { seconds: Number(seconds) },
    },
  })
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
  expect((await graphql(newKey('api'), address)).body).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] })
  expect((await items(null, address)).status).toBe(401)
  node.clock.go()

  // Cached keys keep working on every path; other addresses are not affected.
  for (let i = 0; i < 3; i += 1) expect((await items(node.keys.starter, address)).status).toBe(200)
  expect((await graphql(node.keys.starter, address)).status).toBe(200)
  // They keep working even after a change of their account, which makes the node read them again.
  await change(node.ctx, (_tx, note) => Promise.resolve(note.changed('accounts', [node.accounts.starter])))
  expect((await items(node.keys.starter, address)).status).toBe(200)
  expect((await items(newKey('api'), freshAddress())).status).toBe(401)
  node.clock.advance(MINUTE_MS)
  expect((await items(newKey('api'), address)).status).toBe(401)
})

test('a blocked address can still use valid keys that are not cached', async () => {
  const address = freshAddress()
  node.clock.stop()
  await fail(31, () => items(newKey('api'), address))
  await fail(20, () => items('malformed', address))
  const keys = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const key = newKey('api')
      await change(node.ctx, async (tx, note) => {
        await insertKey(
          tx,
          { account_id: node.accounts.plus, label: '', hash: hashKey(key), last4: last4(key), created_at: note.at, expires_at: null },
          NO_SCOPE,
        )
        note.changed('accounts', [node.accounts.plus])
      })
      return key
    }),
  )
  // Those that find a valid key do not count: ten in a row are more than the budget of a second.
  node.clock.advance(1_000)
  for (const key of keys) expect((await items(key, address)).status).toBe(200)
  // Guessing uses the budget up; in the next second there is another one.
  const late = newKey('api')
  await change(node.ctx, async (tx, note) => {
    await insertKey(
      tx,
      { account_id: node.accounts.plus, label: '', hash: hashKey(late), last4: last4(late), created_at: note.at, expires_at: null },
      NO_SCOPE,
    )
    note.changed('accounts', [node.accounts.plus])
  })
  await fail(10, () => items(newKey('api'), address))
  expect((await items(late, address)).status).toBe(429)
  node.clock.advance(1_000)
  expect((await items(late, address)).status).toBe(200)
  node.clock.go()
})

test('a program that starts with many requests of one key needs one lookup', async () => {
  const address = freshAddress()
  await fail(31, () => items(newKey('api'), address, other))
  const statuses = (await Promise.all(Array.from({ length: 20 }, () => items(node.keys.professional, address, other)))).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a forwarded address that is not trusted is reported once', async () => {
  const reports: object[] = []
  const warn = (details: object, message: string) => {
    if (message.includes('TRUST_PROXY')) reports.push(details)
  }
  const direct = await startTestNode({ databaseUrl: node.databaseUrl, log: { ...silent, warn } })
  try {
    expect((await send(`${direct.publicUrl}/api/v1/items`, null)).status).toBe(401)
    expect(reports).toEqual([])
    for (let i = 0; i < 3; i += 1) await items(null, freshAddress(), direct)
    expect(reports).toEqual([{ proxy: expect.stringContaining('127.0.0.1') as string }])
  } finally {
    await direct.close()
  }
  for (let i = 0; i < 3; i += 1) await items(null, freshAddress())
  expect(lines.filter(({ message }) => message.includes('TRUST_PROXY'))).toEqual([])
})

test('an unknown key that is sent repeatedly is looked up once', async () => {
  // Changes of accounts make a node forget unknown keys.
  await node.ctx.caughtUp()
  const key = newKey('api')
  await items(key, freshAddress())
  const lookups = countLookups()
  for (let i = 0; i < 50; i += 1) expect((await items(key, freshAddress())).status).toBe(401)
  expect(lookups.end()).toBe(0)
})

test('a key that was unknown works on every node within a second of its creation', async () => {
  const key = newKey('api')
  const address = freshAddress()
  for (const on of [node, other]) expect((await items(key, address, on)).status).toBe(401)
  await change(node.ctx, async (tx, note) => {
    await insertKey(
      tx,
      { account_id: node.accounts.plus, label: '', hash: hashKey(key), last4: last4(key), created_at: note.at, expires_at: null },
      NO_SCOPE,
    )
    note.changed('accounts', [node.accounts.plus])
  })
  expect((await items(key, address)).status).toBe(200)
  await until('the other node takes it', async () => (await items(key, address, other)).status === 200)
})

test('IPv6 addresses of one /64 count as one address, as do both forms of an IPv4 address', async () => {
  const wrong = newKey('api')
  expect(await fail(30, () => items(wrong, '2001:db8:1:2::1'))).not.toContain(429)
  expect((await items(wrong, '2001:db8:1:2:ffff:ffff:ffff:ffff')).status).toBe(429)
  expect((await items(wrong, '2001:db8:1:3::1')).status).toBe(401)
  const address = freshAddress()
  expect(await fail(30, () => items(wrong, address))).not.toContain(429)
  expect((await items(wrong, `::ffff:${address}`)).status).toBe(429)
})

test('a client cannot choose its address', async () => {
  const [wrong, address] = [newKey('api'), freshAddress()]
  // With TRUST_PROXY=1, only the last address was added by the trusted proxy.
  expect(await fail(30, () => items(wrong, `${freshAddress()}, ${address}`, other))).not.toContain(429)
  expect((await items(wrong, `${freshAddress()}, ${address}`, other)).status).toBe(429)
  // A value that is not an address counts against the proxy.
  expect(await fail(30, () => items(wrong, `x${freshAddress()}`))).not.toContain(429)
  expect((await items(wrong, `x${freshAddress()}`)).status).toBe(429)
})

test('wrong operator tokens are limited across sign-in and API, including the bootstrap token', async () => {
  const { token } = await call(createOperatorToken, node.ctx, { label: 'shop' })
  const address = freshAddress()
  expect((await operator(token, address)).status).toBe(200)
  expect(await fail(5, () => signIn('mintop_wrong', address))).toEqual(Array(5).fill(401))
  expect(await fail(5, () => operator(newKey('operator'), address))).toEqual(Array(5).fill(401))
  for (const refused of [
    await signIn('wrong', address),
    await operator('wrong', address),
    await signIn(OPERATOR_TOKEN, address),
    await operator(OPERATOR_TOKEN, address),
  ]) {
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect((await operator(token, address)).status).toBe(200)
  expect((await signIn(token, address)).status).toBe(200)
  expect((await signIn(OPERATOR_TOKEN, freshAddress())).status).toBe(200)
  node.clock.advance(MINUTE_MS)
  expect((await signIn(OPERATOR_TOKEN, address)).status).toBe(200)
})

test('a page with an expired session does not prevent its operator from signing in', async () => {
  const address = freshAddress()
  const cookie = `mintmark_console=${newKey('session')}`
  const poll = () => send(`${node.operatorUrl}/operator/v1/stats`, null, { headers: { 'x-forwarded-for': address, 'x-console': '1', cookie } })
  expect((await fail(31, poll)).at(-1)).toBe(429)
  expect((await signIn(OPERATOR_TOKEN, address)).status).toBe(200)
})

test('failed operator sign-ins write two log lines, audit rows with an exact total, and a metric', async () => {
  const address = freshAddress()
  await fail(30, () => signIn('mintop_wrong', address))
  expect(lines.filter((line) => line.address === address).map(({ message, credential }) => [message, credential])).toEqual([
    ['Authentication failed', 'operator token'],
    ['Too many failed authentications; rejecting the address', 'operator token'],
  ])
  const rows = () =>
    node.db.kysely
      .selectFrom('audit_log')
      .select(['actor', 'action', 'after'])
      .where('subject_type', '=', 'address')
      .where('subject_id', '=', address)
      .orderBy('id')
      .execute()
  await until('the first row is there', async () => (await rows()).length > 0)
  // The others are recorded when the minute ends, which may be now.
  expect((await rows())[0]).toEqual({ actor: 'operator:unknown', action: 'operator.authentication-failed', after: { attempts: 1 } })
  const scraped = await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })
  const text = await scraped.text()
  const counted = (reason: string) =>
    Number(new RegExp(`^mintmark_failed_authentications_total\\{credential="operator_token",reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1])
  expect(counted('invalid')).toBeGreaterThanOrEqual(10)
  expect(counted('limited')).toBeGreaterThanOrEqual(20)
})

test('failures from many addresses do not fill the audit log', { tags: 'slow' }, async () => {
  const attacked = await startTestNode({ databaseUrl: node.databaseUrl, env: { TRUST_PROXY: 'loopback' } })
  const [first, ...more] = Array.from({ length: 150 }, (_, i) => `203.0.113.${i}`)
  const fails = async (address: string) => expect((await operator('wrong', address, attacked)).status).toBe(401)
  try {
    // All of them fall within the minute for which records are collected.
    await fails(first!)
    await Promise.all(more.map(fails))
    for (let i = 0; i < 4; i += 1) await fails(first!)
  } finally {
    await attacked.close()
  }
  const { rows } = await sql<{ rows: number; attempts: number }>`
    select count(*)::int as rows, sum((after->>'attempts')::int)::int as attempts from audit_log
    where subject_type = 'address' and (subject_id like '203.0.113.%' or subject_id = 'others')`.execute(node.db.kysely)
  expect(rows).toEqual([{ rows: 102, attempts: 154 }])
})
