// Stored results of repeated requests contain new keys and secrets: nothing in the database or a backup decrypts them.
import { createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backup, restore } from '#db/backups/backup.ts'
import { up as forgetKeptResults } from '#db/migrations/20261122_1301_forget_kept_results.ts'
import { operator, plus } from '../market/kit.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'

interface Kept {
  scope: string
  key: string
  result: Buffer
}

let node: TestNode
let session: string
/** every secret that a response contained */
const shown: string[] = []

beforeAll(async () => {
  node = await startTestNode()
  const answered = await fetch(`${node.operatorUrl}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-console': '1', origin: node.operatorUrl! },
    body: JSON.stringify({ token: OPERATOR_TOKEN }),
  })
  session = /mintmark_console=(\w+)/.exec(answered.headers.get('set-cookie')!)![1]!
  const path = `/accounts/${node.accounts.plus}/keys`
  const keys = [
    await byConsole(path, { label: 'console' }, 'console-key'),
    await operator<{ key: string }>(node, 'POST', path, { label: 'token' }, { 'idempotency-key': 'token-key' }),
  ]
  const webhook = await plus<{ secret: string }>(
    node,
    'PUT',
    '/webhook',
    { url: 'https://example.com/' },
    { headers: { 'idempotency-key': 'webhook' } },
  )
  expect([...keys, webhook].map(({ status }) => status)).toEqual([201, 201, 200])
  shown.push(...keys.map(({ body }) => body.data.key), webhook.body.data.secret)
})

afterAll(() => node.close())

function byConsole(path: string, json: object, key: string) {
  const headers = { cookie: `mintmark_console=${session}`, 'x-console': '1', origin: node.operatorUrl!, 'idempotency-key': key }
  return send<{ key: string }>(`${node.operatorUrl}/operator/v1${path}`, null, { json, headers })
}

async function keptResults(): Promise<Kept[]> {
  return (await sql<Kept>`select scope, key, result from idempotency_keys order by key`.execute(node.db.kysely)).rows
}

/** All text and binary values in the database, in each form in which they could be a credential. */
async function everythingStored(): Promise<Set<string | Buffer>> {
  const { rows: tables } = await sql<{ table: string }>`
    select table_name as table from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(node.db.kysely)
  const found = new Set<string | Buffer>([''])
  for (const { table } of tables) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(node.db.kysely)
    for (const value of rows.flatMap(Object.values))
      if (value !== null && (typeof value !== 'string' || !found.has(value))) for (const form of formsOf(value)) found.add(form)
  }
  return found
}

function formsOf(value: unknown): (string | Buffer)[] {
  if (Buffer.isBuffer(value))
    return [value, ...(['hex', 'base64', 'base64url', 'latin1', 'utf8'] as const).map((encoding) => value.toString(encoding))]
  if (value instanceof Date) return [value.toISOString()]
  if (typeof value === 'object' && value !== null) return [JSON.stringify(value), ...Object.values(value).flatMap(formsOf)]
  return [String(value), `Bearer ${String(value)}`, createHash('sha256').update(String(value)).digest()]
}

/** The stored result as text; null if the credential does not decrypt it. */
function opened({ scope, key, result }: Kept, credential: string | Buffer): string | null {
  const secret = Buffer.from(hkdfSync('sha256', credential, scope, `mintmark results ${key}`, 32))
  const decipher = createDecipheriv('aes-256-gcm', secret, result.subarray(0, 12)).setAuthTag(result.subarray(12, 28))
  try {
    return Buffer.concat([decipher.update(result.subarray(28)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

test("a stored result can be decrypted with its caller's credential only", async () => {
  const credentials: Record<string, string> = { 'console-key': session, 'token-key': OPERATOR_TOKEN, webhook: node.keys.plus }
  const results = await keptResults()
  expect(results.map(({ key }) => key)).toEqual(Object.keys(credentials))
  for (const row of results) expect(shown.some((secret) => opened(row, credentials[row.key]!)?.includes(secret))).toBe(true)
  expect((await byConsole(`/accounts/${node.accounts.plus}/keys`, { label: 'console' }, 'console-key')).body.data.key).toBe(shown[0])
})

test('a stored result cannot be decrypted with anything in the database', async () => {
  const candidates = await everythingStored()
  expect(candidates.size).toBeGreaterThan(100)
  for (const row of await keptResults()) {
    for (const candidate of candidates)
      if (opened(row, candidate) !== null) expect.fail(`${row.key} opens with ${JSON.stringify(candidate.toString())}`)
  }
})

test('the database contains no credential or secret of a response, and sessions only as hashes', async () => {
  const stored = [...(await everythingStored())].map(String)
  for (const secret of [...shown, session, OPERATOR_TOKEN, ...Object.values(node.keys)]) {
    expect(stored.filter((text) => text.includes(secret))).toEqual([])
  }
  const { rows } = await sql<{ hash: Buffer }>`select hash from console_sessions`.execute(node.db.kysely)
  expect(rows.map(({ hash }) => hash.toString('hex'))).toEqual([createHash('sha256').update(session).digest('hex')])
})

test('signing in stores no result, because no credential could encrypt it', async () => {
  const before = await keptResults()
  const reply = await send(`${node.operatorUrl}/console/session`, null, {
    json: { token: OPERATOR_TOKEN },
    headers: { 'x-console': '1', origin: node.operatorUrl!, 'idempotency-key': 'sign-in' },
  })
  expect([reply.status, reply.body.error?.code]).toEqual([422, 'VALIDATION_ERROR'])
  expect(reply.body.error!.details![0]!.field).toBe('Idempotency-Key')
  expect(await keptResults()).toEqual(before)
})

test('a backup omits stored results, and a restore deletes those of the database it replaces', async () => {
  const chunks: Buffer[] = []
  const target = new PassThrough().on('data', (chunk: Buffer) => chunks.push(chunk))
  const rows = await backup(node.db, target)
  expect([...rows.keys()]).not.toContain('idempotency_keys')
  const text = gunzipSync(Buffer.concat(chunks)).toString('latin1')
  for (const { result } of await keptResults()) expect(text).not.toContain(result.toString('hex'))
  const other = await startTestNode()
  await operator(other, 'POST', '/accounts', { name: 'Replaced', plan: 'plus' }, { 'idempotency-key': 'replaced' })
  await restore(
    other.db,
    (async function* () {
      yield* chunks
    })(),
    { replace: true, keys: [] },
  )
  const { rows: left } = await sql`select 1 from idempotency_keys`.execute(other.db.kysely)
  expect(left).toEqual([])
  await other.close()
})

test('the migration deletes results stored earlier', async () => {
  expect(await keptResults()).not.toEqual([])
  await forgetKeptResults(node.db.kysely as never)
  expect(await keptResults()).toEqual([])
})
