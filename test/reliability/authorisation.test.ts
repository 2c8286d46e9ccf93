// The authorisation matrix: every registered operation × plan × owner × kind of broken credential.
import type { GraphQLObjectType } from 'graphql'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { createPersonToken } from '#accounts/people/person-tokens.ts'
import { createPerson } from '#accounts/people/create-person.ts'
import { createOperatorToken, revokeOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { newKey } from '#accounts/credentials/key-format.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { rotateKey } from '#accounts/keys/rotate-key.ts'
import { ERROR_STATUS } from '#core/errors.ts'
import { type Plan, planAllows, PLANS } from '#core/plans.ts'
import { type Role, ROLES } from '#core/roles.ts'
import { call } from '#core/verb.ts'
import { graphqlSchema } from '../../src/graphql/schema.ts'
import { makeCatalogue } from '../market/kit.ts'
import { OPERATOR_TOKEN, type TestNode, until } from '../support/node.ts'
import { casesOf, rowsOf } from '../support/runs.ts'
import {
  ALL_PARTS,
  filled,
  hasPart,
  makeOwner,
  makeThings,
  type Owner,
  type Part,
  partsIn,
  queuedEvents,
  type RawReply,
  sendRaw,
  startListing,
  stateOf,
  type Things,
  withIds,
  withoutParts,
} from './authorisation-kit.ts'
import {
  GRAPHQL_PATHS,
  GRAPHQL_ROWS,
  type GraphqlRow,
  ITEM_FIELD_ROWS,
  MCP_PATHS,
  OPEN_ROWS,
  OPERATOR_ROLES,
  OPERATOR_ROWS,
  PUBLIC_ROWS,
  type PublicRow,
  TOKEN_ROWS,
} from './authorisation-rows.ts'

let node: TestNode
let registered: string[]
let itemId: number
/** the account whose records others try to access */
let stranger: Owner
/** whose writes are only tried: nothing of theirs is ever used up */
let rehearsing: Owner
const callers = {} as Record<Plan, Owner>
/** records of owners that no allowed operation has used up yet */
const unused = new Map<Owner, Things>()
/** kind of broken credential → headers that carry it, and a prefix of the query */
let brokenKeys: Record<string, Credential>
let brokenTokens: Record<string, Credential>
/** a token of a person who has only this role */
const tokens = {} as Record<Role, string>
let suspendedKey: Credential

interface Credential {
  headers: string[]
  query?: string
}

const schema = graphqlSchema()

beforeAll(async () => {
  ;({ node, registered } = await startListing())
  itemId = (await makeCatalogue(node)).items.char!
  stranger = await makeOwner(node, 'plus')
  rehearsing = await makeOwner(node, 'plus')
  for (const plan of PLANS) callers[plan] = await makeOwner(node, plan)
  const suspended = await makeOwner(node, 'enterprise')
  await call(changeAccount, node.ctx, { id: suspended.accountId, suspended: true })
  suspendedKey = bearer(suspended.key)
  const account = await call(createAccount, node.ctx, { name: 'Broken keys', plan: 'enterprise' })
  const make = (expires_at?: string) => call(createKey, node.ctx, { account_id: account.id, ...(expires_at && { expires_at }) })
  const revoked = await make()
  await call(revokeKey, node.ctx, { id: revoked.id })
  const rotated = await make()
  await call(rotateKey, node.ctx, { id: rotated.id, overlap_hours: 0 })
  const expired = await make(new Date(node.clock.now().getTime() + 60_000).toISOString())
  for (const role of ROLES) {
    const { id } = await call(createPerson, node.ctx, { name: role, roles: [role] })
    tokens[role] = (await call(createPersonToken, node.ctx, { id, label: role })).token
  }
  const token = await call(createOperatorToken, node.ctx, { label: 'revoked' })
  await call(revokeOperatorToken, node.ctx, { id: token.id })
  node.clock.advance(60_000)
  const session = await sendRaw(
    `${node.operatorUrl}/console/session`,
    'POST',
    ['x-console', '1', 'origin', node.operatorUrl!],
    JSON.stringify({ token: OPERATOR_TOKEN }),
  )
  const cookie = String(session.headers['set-cookie']).split(';', 1)[0]!
  const desk = ['x-desk', '1', 'origin', node.publicUrl!]
  const signedIn = await sendRaw(`${node.publicUrl}/desk/session`, 'POST', desk, JSON.stringify({ key: callers.plus.key }))
  const deskCookie = String(signedIn.headers['set-cookie']).split(';', 1)[0]!
  brokenKeys = {
    ...brokenForms(callers.enterprise.key, newKey('api')),
    revoked: bearer(revoked.key),
    'rotated out': bearer(rotated.key),
    expired: bearer(expired.key),
    'an operator token': bearer(OPERATOR_TOKEN),
    "the desk's session as a key": bearer(deskCookie.split('=')[1]!),
    "the desk's session without X-Desk": { headers: ['cookie', deskCookie] },
    "the desk's session with X-Console": { headers: ['cookie', deskCookie, 'x-console', '1', 'origin', node.publicUrl!] },
    'an unknown session of the desk': { headers: ['cookie', `mintmark_desk=${newKey('session')}`, ...desk] },
    "the console's session": { headers: ['cookie', cookie, 'x-console', '1', 'origin', node.operatorUrl!] },
  }
  brokenTokens = {
    ...brokenForms(OPERATOR_TOKEN, newKey('operator')),
    revoked: bearer(token.token),
    'an API key of Enterprise': bearer(callers.enterprise.key),
    'a session as a token': bearer(cookie.split('=')[1]!),
    'a session without X-Console': { headers: ['cookie', cookie] },
    'an unknown session': { headers: ['cookie', `mintmark_console=${newKey('session')}`, 'x-console', '1', 'origin', node.operatorUrl!] },
  }
})

// Events queued by one test must not change anything during the next one.
afterEach(() => until('no event is waiting for delivery', async () => (await queuedEvents(node)) === 0))
afterAll(() => node.close())

function bearer(key: string): Credential {
  return { headers: ['authorization', `Bearer ${key}`] }
}

/** Wrong ways to send a valid credential, and an unknown credential. */
function brokenForms(good: string, unknown: string): Record<string, Credential> {
  return {
    missing: { headers: [] },
    empty: { headers: ['authorization', ''] },
    'another scheme': { headers: ['authorization', `Basic ${Buffer.from(`${good}:`).toString('base64')}`] },
    'no scheme': { headers: ['authorization', good] },
    malformed: bearer(`${good}x`),
    unknown: bearer(unknown),
    'in the query': { headers: [], query: `api_key=${good}&access_token=${good}&authorization=Bearer%20${good}` },
    'in another header': { headers: ['x-api-key', good, 'proxy-authorization', `Bearer ${good}`] },
    'two headers, the good one first': { headers: ['authorization', `Bearer ${good}`, 'authorization', `Bearer ${unknown}`] },
    'two headers, the good one last': { headers: ['authorization', `Bearer ${unknown}`, 'authorization', `Bearer ${good}`] },
  }
}

function describeMissing(what: string, rows: readonly string[], found: readonly string[]): string[] {
  return [
    ...found.filter((name) => !rows.includes(name)).map((name) => `${name} is registered: add its row to ${what} in authorisation-rows.ts`),
    ...rows.filter((name) => !found.includes(name)).map((name) => `${name} is not registered any more: take its row out of ${what}`),
  ]
}

/** Whether a row covers a route; a row that ends in `*` covers all routes with that prefix. */
function covers(row: string, name: string): boolean {
  return row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : row === name
}

function isOpen(name: string): boolean {
  return OPEN_ROWS.some((row) => covers(row, name))
}

describe('every operation has its row, and every row its operation', () => {
  test('routes', () => {
    const publicRoutes = registered.filter((name) => name.includes(' /api/') && !isOpen(name))
    const operatorRoutes = registered.filter((name) => name.includes(' /operator/') && !isOpen(name))
    const others = registered.filter((name) => ![...publicRoutes, ...operatorRoutes, ...GRAPHQL_PATHS, ...MCP_PATHS, ...TOKEN_ROWS].includes(name))
    expect(describeMissing('PUBLIC_ROWS', Object.keys(PUBLIC_ROWS), publicRoutes)).toEqual([])
    expect(describeMissing('OPERATOR_ROWS', OPERATOR_ROWS, operatorRoutes)).toEqual([])
    expect(
      describeMissing(
        'OPEN_ROWS',
        [],
        others.filter((name) => !isOpen(name)),
      ),
    ).toEqual([])
    expect(
      describeMissing(
        'OPEN_ROWS',
        OPEN_ROWS.filter((row) => !registered.some((name) => covers(row, name))),
        [],
      ),
    ).toEqual([])
    expect(
      describeMissing(
        'GRAPHQL_PATHS, MCP_PATHS and TOKEN_ROWS',
        [...GRAPHQL_PATHS, ...MCP_PATHS, ...TOKEN_ROWS].filter((row) => !registered.includes(row)),
        [],
      ),
    ).toEqual([])
  })

  test('GraphQL fields', () => {
    const roots = { query: schema.getQueryType()!, mutation: schema.getMutationType()! }
    const fields = Object.entries(roots).flatMap(([kind, type]) => Object.keys(type.getFields()).map((name) => `${kind} ${name}`))
    expect(describeMissing('GRAPHQL_ROWS', Object.keys(GRAPHQL_ROWS), fields)).toEqual([])
    expect(schema.getSubscriptionType()).toBeUndefined()
    expect(
      describeMissing('ITEM_FIELD_ROWS', Object.keys(ITEM_FIELD_ROWS), Object.keys((schema.getType('Item') as GraphQLObjectType).getFields())),
    ).toEqual([])
  })
})

/** The parts of a rejection that a test compares. */
function refusalOf({ status, text }: RawReply): { status: number; code: string | undefined; members: string[] } {
  const body = JSON.parse(text) as { error?: { code: string }; errors?: { extensions: { code: string } }[] }
  return { status, code: body.error?.code ?? body.errors?.[0]?.extensions.code, members: Object.keys(body).sort() }
}

const REST_MEMBERS = ['error', 'success']

function withQuery(url: string, ...queries: (string | undefined)[]): string {
  const query = queries.filter(Boolean).join('&')
  return query ? `${url}?${query}` : url
}

function ask(name: string, { query, body, upload }: PublicRow, things: Things, { headers, query: more }: Credential): Promise<RawReply> {
  const [method, path] = name.split(' ') as [string, string]
  const sent = upload ?? (body && filled(JSON.stringify(body), things))
  return sendRaw(withQuery(node.publicUrl + withIds(path, things), query, more), method, headers, sent)
}

function askGraphql(
  path: string,
  name: string,
  { field }: Pick<GraphqlRow, 'field'>,
  things: Things,
  { headers, query }: Credential,
): Promise<RawReply> {
  const [kind] = name.split(' ') as [string]
  const document = `${kind} { ${filled(field, things)} }`
  return sendRaw(withQuery(`${node.publicUrl}${path}`, query), 'POST', headers, JSON.stringify({ query: document }))
}

/** Unused records of an owner: those that an operation refers to, or all. */
async function thingsOf(owner: Owner, parts: readonly Part[] = ALL_PARTS): Promise<Things> {
  const left = unused.get(owner)
  const missing = left ? parts.filter((part) => !hasPart(left, part)) : ALL_PARTS
  const things = { ...left, ...(await makeThings(node, owner, itemId, missing)) }
  unused.set(owner, things)
  return things
}

/** The records that an operation needs: lists of the caller's own records show all. */
function partsOf(name: string, { owned, query, body }: PublicRow): readonly Part[] {
  return owned === 'own' ? ALL_PARTS : partsIn(name, query, JSON.stringify(body))
}

function ownedOf<Row extends { owned?: unknown }>(rows: Record<string, Row>): [name: string, row: Row][] {
  return Object.entries(rows).filter(([, row]) => row.owned)
}

/** Contains nothing of the account that owns the record, and no internals of the program. */
function expectNoLeak({ text, headers }: RawReply, owner: Owner): void {
  expect(text).not.toContain(owner.secretWord)
  expect(text).not.toMatch(/\bat .*\.[jt]s|node_modules|\bselect\b.*\bfrom\b|mintmark_|mintop_/)
  expect(headers['x-request-id']).toBeTruthy()
  expect(headers['content-type']).toMatch(/^(application\/(graphql-response\+)?json|text\/csv); charset=utf-8$/)
}

const rows = new Map<string, number>()

/** The position of an operation among those tested. */
function rowOf(name: string): number {
  if (!rows.has(name)) rows.set(name, rows.size)
  return rows.get(name)!
}

describe.each(rowsOf(Object.entries(PUBLIC_ROWS)))('%s', (name, row) => {
  test('malformed keys return 401 and change nothing', async () => {
    const things = await thingsOf(callers.enterprise, partsOf(name, row))
    const before = await stateOf(node)
    for (const [kind, credential] of casesOf(Object.entries(brokenKeys), rowOf(name))) {
      const reply = await ask(name, row, things, credential)
      expect({ kind, ...refusalOf(reply) }).toEqual({ kind, status: 401, code: 'UNAUTHENTICATED', members: REST_MEMBERS })
      expect(reply.headers['www-authenticate']).toBe('Bearer')
      expectNoLeak(reply, callers.enterprise)
    }
    expect(refusalOf(await ask(name, row, things, suspendedKey))).toEqual({ status: 403, code: 'ACCOUNT_SUSPENDED', members: REST_MEMBERS })
    expect(await stateOf(node)).toEqual(before)
  })

  test("plans, on the account's own records", async () => {
    // For operations that are allowed once a minute.
    node.clock.advance(61_000)
    for (const [plan, caller] of Object.entries(callers)) {
      const things = await thingsOf(caller, partsOf(name, row))
      const allowed = !row.test && planAllows(caller.plan, row.needs)
      const before = allowed ? null : await stateOf(node)
      const reply = await ask(name, row, things, bearer(caller.key))
      if (row.test) {
        // Before the plan: no live key may ever work in a sandbox.
        expect({ plan, ...refusalOf(reply) }).toEqual({ plan, status: 401, code: 'KEY_MODE_MISMATCH', members: REST_MEMBERS })
        expect(await stateOf(node)).toEqual(before)
      } else if (allowed) {
        const text = row.file || row.status === 204 ? '' : `"success":${(row.status ?? 200) < 400}`
        expect([plan, reply.status, reply.text]).toEqual([plan, row.status ?? 200, expect.stringContaining(text)])
        if (row.owned === 'own') expect(reply.text).toContain(caller.secretWord)
        if (!name.startsWith('GET ')) unused.set(caller, withoutParts(things, partsOf(name, row)))
      } else {
        expect({ plan, ...refusalOf(reply) }).toEqual({ plan, status: 403, code: 'PLAN_UPGRADE_REQUIRED', members: REST_MEMBERS })
        expectNoLeak(reply, caller)
        expect(await stateOf(node)).toEqual(before)
      }
    }
  })
})

test.each(rowsOf(ownedOf(PUBLIC_ROWS), 4))("%s: another account's records stay unchanged and hidden", async (name, row) => {
  const things = await thingsOf(stranger)
  const before = await stateOf(node)
  for (const [plan, caller] of Object.entries(callers)) {
    const reply = await ask(name, row, things, bearer(caller.key))
    const allowed = planAllows(caller.plan, row.needs)
    if (allowed && row.foreign)
      expect({ plan, ...refusalOf(reply) }).toEqual({ plan, status: ERROR_STATUS[row.foreign], code: row.foreign, members: REST_MEMBERS })
    else expect([plan, reply.status]).toEqual([plan, allowed ? 200 : 403])
    expectNoLeak(reply, stranger)
  }
  expect(await stateOf(node)).toEqual(before)
})

/** Writes that a dry run cannot show, and that refuse it by name. */
const NO_DRY_RUN = [
  'POST /api/v1/plus/images',
  'POST /api/v1/plus/webhook/rotate-secret',
  'POST /api/v1/plus/webhook/check',
  'mutation rotateWebhookSecret',
  'mutation checkWebhook',
  'mutation createSandbox',
  'mutation deleteSandbox',
]
const isWrite = ([name, row]: [string, PublicRow]) => name.includes(' /api/v1/plus/') && !name.startsWith('GET ') && !row.reads

test.each(rowsOf(Object.entries(PUBLIC_ROWS).filter(isWrite)))('%s: a dry run changes nothing', async (name, row) => {
  node.clock.advance(61_000)
  const things = await thingsOf(rehearsing)
  const before = await stateOf(node)
  const rehearse = (flag: string) =>
    ask(name, { ...row, query: [row.query, `dry_run=${flag}`].filter(Boolean).join('&') }, things, bearer(rehearsing.key))
  const reply = await rehearse('1')
  expect([reply.status, reply.text]).toEqual([NO_DRY_RUN.includes(name) ? 422 : (row.status ?? 200), expect.any(String)])
  if (NO_DRY_RUN.includes(name)) expect(reply.text).toContain('"field":"dry_run"')
  for (const flag of ['', 'yes']) {
    const refused = await rehearse(flag)
    expect([flag, refused.status, refused.text]).toEqual([flag, 422, expect.stringContaining('"field":"dry_run"')])
  }
  expect(await stateOf(node)).toEqual(before)
})

test.each(rowsOf(Object.entries(GRAPHQL_ROWS).filter(([name, { test }]) => name.startsWith('mutation ') && !test)))(
  '%s: a dry run changes nothing',
  async (name, row) => {
    node.clock.advance(61_000)
    const things = await thingsOf(rehearsing)
    const before = await stateOf(node)
    // Among the arguments of the mutation, or as its only one.
    const field = /^\w+\(/.test(row.field) ? row.field.replace('(', '(dryRun: true, ') : row.field.replace(/^\w+/, '$&(dryRun: true)')
    const reply = await askGraphql('/graphql', name, { field }, things, bearer(rehearsing.key))
    if (NO_DRY_RUN.includes(name)) expect(reply.text).toContain('"field":"dryRun"')
    else expect([reply.status, reply.text]).toEqual([200, expect.not.stringContaining('"errors"')])
    expect(await stateOf(node)).toEqual(before)
  },
)

test('malformed keys return 401 for MCP', async () => {
  for (const [kind, { headers, query }] of Object.entries(brokenKeys)) {
    const reply = await sendRaw(`${node.publicUrl}/mcp${query ? `?${query}` : ''}`, 'POST', headers, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    const { error } = JSON.parse(reply.text) as { error: { data: { code: string } } }
    expect({ kind, status: reply.status, code: error.data.code }).toEqual({ kind, status: 401, code: 'UNAUTHENTICATED' })
  }
})

describe.each(rowsOf(Object.entries(GRAPHQL_ROWS)))('%s', (name, row) => {
  test('malformed keys return 401 and change nothing', async () => {
    const things = await thingsOf(callers.enterprise, partsIn(row.field))
    const before = await stateOf(node)
    for (const path of ['/graphql', '/graphql/v3']) {
      for (const [kind, credential] of casesOf(Object.entries(brokenKeys), rowOf(name))) {
        const reply = await askGraphql(path, name, row, things, credential)
        expect({ kind, ...refusalOf(reply) }).toEqual({ kind, status: 401, code: 'UNAUTHENTICATED', members: ['errors'] })
        expectNoLeak(reply, callers.enterprise)
      }
      const reply = await askGraphql(path, name, row, things, suspendedKey)
      expect(refusalOf(reply)).toEqual({ status: 403, code: 'ACCOUNT_SUSPENDED', members: ['errors'] })
    }
    expect(await stateOf(node)).toEqual(before)
  })

  test("plans, on the account's own records", async () => {
    // For operations that are allowed once a minute.
    node.clock.advance(61_000)
    for (const [plan, caller] of Object.entries(callers)) {
      const things = await thingsOf(caller, partsIn(row.field))
      const allowed = planAllows(caller.plan, row.needs)
      const before = allowed ? null : await stateOf(node)
      const reply = await askGraphql('/graphql', name, row, things, bearer(caller.key))
      if (allowed) {
        const refused = row.test ? 'KEY_MODE_MISMATCH' : row.missing
        if (refused) expect({ plan, code: refusalOf(reply).code }).toEqual({ plan, code: refused })
        else expect([plan, reply.status, reply.text]).toEqual([plan, 200, expect.not.stringContaining('"errors"')])
        if (name.startsWith('mutation ')) unused.set(caller, withoutParts(things, partsIn(row.field)))
      } else {
        expect({ plan, ...refusalOf(reply) }).toEqual({ plan, status: 403, code: 'PLAN_UPGRADE_REQUIRED', members: ['errors'] })
        expect(await stateOf(node)).toEqual(before)
      }
    }
  })
})

test.each(rowsOf(ownedOf(GRAPHQL_ROWS), 4))("%s: another account's records stay unchanged and hidden", async (name, row) => {
  const things = await thingsOf(stranger)
  const before = await stateOf(node)
  for (const [plan, caller] of Object.entries(callers)) {
    const reply = await askGraphql('/graphql', name, row, things, bearer(caller.key))
    const allowed = planAllows(caller.plan, row.needs)
    const { status, code } = refusalOf(reply)
    expect([plan, status, code]).toEqual(allowed ? [plan, 200, row.foreign] : [plan, 403, 'PLAN_UPGRADE_REQUIRED'])
    expectNoLeak(reply, stranger)
  }
  expect(await stateOf(node)).toEqual(before)
})

test('gated fields of items are null below their plan, and only there', async () => {
  const item = schema.getType('Item') as GraphQLObjectType
  const things = await thingsOf(stranger)
  for (const [field, needs] of Object.entries(ITEM_FIELD_ROWS)) {
    const inner = /\[?(Category|ItemImage|Price|ItemGroup|ItemAttribute)/.exec(String(item.getFields()[field]!.type))?.[1]
    const selection = inner ? `${field} { __typename }` : field
    for (const [plan, caller] of Object.entries(callers)) {
      const reply = await askGraphql('/graphql', 'query item', { field: `item(id: ITEM) { ${selection} }` }, things, bearer(caller.key))
      const { data, errors } = JSON.parse(reply.text) as { data: { item: Record<string, unknown> }; errors?: unknown }
      expect([field, plan, errors]).toEqual([field, plan, undefined])
      if (!planAllows(caller.plan, needs)) expect([field, plan, data.item[field]]).toEqual([field, plan, null])
      // Data of the card is not null for callers that may see it.
      else if (['name', 'code', 'category', 'groups', 'prices'].includes(field))
        expect([field, plan, data.item[field]]).not.toEqual([field, plan, null])
    }
  }
})

describe.each(rowsOf([...OPERATOR_ROWS, ...TOKEN_ROWS]))('%s', (name) => {
  const [method, path] = name.split(' ') as [string, string]
  // Ids and formats that do not exist: a request that passes authorisation fails there.
  const url = () => `${node.operatorUrl}${path.replace(/:\w+/g, '0')}`
  const body = method === 'POST' || method === 'PATCH' ? '{"surely_unknown":1}' : undefined

  test('malformed tokens and API keys of every plan return 401 and change nothing', async () => {
    const before = await stateOf(node)
    const keys = Object.fromEntries(Object.entries(callers).map(([plan, { key }]) => [`an API key of ${plan}`, bearer(key)]))
    for (const [kind, { headers, query }] of casesOf(Object.entries({ ...brokenTokens, ...keys }), rowOf(name))) {
      const reply = await sendRaw(withQuery(url(), query), method, headers, body)
      expect({ kind, ...refusalOf(reply) }).toEqual({ kind, status: 401, code: 'UNAUTHENTICATED', members: REST_MEMBERS })
      expectNoLeak(reply, stranger)
    }
    expect(await stateOf(node)).toEqual(before)
  })

  test("a token is accepted, a session only from the console's own pages", async () => {
    const before = await stateOf(node)
    const passed = await sendRaw(url(), method, bearer(OPERATOR_TOKEN).headers, body)
    expect([200, 202, 404, 415, 422]).toContain(passed.status)
    const cookie = brokenTokens['a session without X-Console']!.headers
    const elsewhere = await sendRaw(url(), method, [...cookie, 'x-console', '1', 'origin', 'https://elsewhere.example'], body)
    const here = await sendRaw(url(), method, [...cookie, 'x-console', '1', 'origin', node.operatorUrl!], body)
    if (TOKEN_ROWS.includes(name)) expect([elsewhere.status, here.status]).toEqual([401, 401])
    else expect([refusalOf(elsewhere).code, here.status]).toEqual(['FORBIDDEN', passed.status])
    expect(await stateOf(node)).toEqual(before)
  })
})

describe.each(rowsOf([...OPERATOR_ROWS, ...TOKEN_ROWS]))('%s', (name) => {
  test('roles', async () => {
    const [method, path] = name.split(' ') as [string, string]
    const url = node.operatorUrl + path.replace(/:\w+/g, '0')
    // Whose data a request accesses is checked only if the request is valid.
    const unknown = path.endsWith('/tokens') ? '{"label":"of nobody"}' : '{"surely_unknown":1}'
    const body = method === 'POST' || method === 'PATCH' ? unknown : undefined
    const allowed = OPERATOR_ROLES[name]
    if (method !== 'GET') expect([name, allowed]).toEqual([name, expect.any(Array)])
    const before = await stateOf(node)
    const shared = await sendRaw(url, method, bearer(OPERATOR_TOKEN).headers, body)
    for (const role of ROLES) {
      const reply = await sendRaw(url, method, bearer(tokens[role]).headers, body)
      if (!allowed || allowed.includes(role)) expect([role, reply.status]).toEqual([role, shared.status])
      else expect({ role, ...refusalOf(reply) }).toEqual({ role, status: 403, code: 'FORBIDDEN', members: REST_MEMBERS })
    }
    expect(await stateOf(node)).toEqual(before)
  })
})

test.each(['/openapi.json', '/health/live', '/health/ready', '/changelog', '/docs/', '/operator/openapi.json', '/console'])(
  '%s needs no key, and exposes none',
  async (path) => {
    const host = path.startsWith('/operator') || path.startsWith('/console') ? node.operatorUrl! : node.publicUrl!
    for (const headers of [[], bearer(callers.starter.key).headers, bearer('broken').headers]) {
      const reply = await sendRaw(`${host}${path}`, 'GET', headers)
      expect(reply.status).toBe(200)
      expect(reply.text).not.toContain(stranger.secretWord)
      expect(reply.text).not.toContain(OPERATOR_TOKEN)
    }
  },
)

test("the console's sign-in accepts an operator token from its own pages only", async () => {
  const before = await stateOf(node)
  const signIn = (token: unknown, headers: string[]) => sendRaw(`${node.operatorUrl}/console/session`, 'POST', headers, JSON.stringify({ token }))
  const own = ['x-console', '1', 'origin', node.operatorUrl!]
  for (const token of ['nonsense', newKey('operator'), newKey('session'), callers.enterprise.key])
    expect([token, refusalOf(await signIn(token, own))]).toEqual([token, expect.objectContaining({ status: 401 })])
  for (const token of [null, 1, {}, []])
    expect([token, refusalOf(await signIn(token, own))]).toEqual([token, expect.objectContaining({ status: 422 })])
  expect(refusalOf(await signIn(OPERATOR_TOKEN, []))).toMatchObject({ status: 401 })
  expect(refusalOf(await signIn(OPERATOR_TOKEN, ['x-console', '1', 'origin', 'https://elsewhere.example']))).toMatchObject({
    status: 403,
    code: 'FORBIDDEN',
  })
  expect(await stateOf(node)).toEqual(before)
})
