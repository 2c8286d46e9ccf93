// Notifications: each finding is told once to its audience until it changes, by console, desk, signed webhook and e-mail.
import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { parseQuietHours } from '#core/time.ts'
import { call } from '#core/verb.ts'
import { emailDueAt } from '#notifications/quiet-hours.ts'
import { importOneItem } from '../support/one-item.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { openReceiver, type Receiver, sell, status } from '../webhooks/receiver.ts'

const SECRET = 'secret of the notification webhook'
const HOUR_MS = 3_600_000

interface Notification {
  id: number
  kind: string
  subject: string
  severity: string
  state: string
  read: boolean
  found: string
  advice: string | null
}

let receiver: Receiver
let here: TestNode
let there: TestNode
/** E-mails that the server accepted, and how many it refuses first. */
const mails: string[] = []
let refusals = 1
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, done) {
    const parts: Buffer[] = []
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('end', () => {
      if (refusals > 0) {
        refusals -= 1
        return done(new Error('busy'))
      }
      mails.push(Buffer.concat(parts).toString('utf8').replaceAll('=\r\n', ''))
      done()
    })
  },
})

beforeAll(async () => {
  receiver = await openReceiver(status(204))
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const { port } = smtp.server.address() as AddressInfo
  const env = {
    NOTIFY_WEBHOOK_URL: receiver.url,
    NOTIFY_WEBHOOK_SECRET: SECRET,
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    NOTIFY_EMAIL: 'ops@shop.example, owner@shop.example',
    NOTIFY_EMAIL_FROM: 'mintmark@shop.example',
    WEBHOOK_RETRY_DELAYS: '20ms,20ms',
  }
  here = await startTestNode({ env, worker: true })
  there = await startTestNode({ databaseUrl: here.databaseUrl, env, worker: true })
})
afterAll(async () => {
  await there.close()
  await here.close()
  await receiver.close()
  await new Promise<void>((resolve) => {
    smtp.close(resolve)
  })
})

const operator = async (query = '', token = OPERATOR_TOKEN) => {
  const { body } = await send<Notification[]>(`${here.operatorUrl}/operator/v1/notifications?${query}`, token)
  return body.data
}
const desk = async (query = '') => (await send<Notification[]>(`${here.publicUrl}/api/v1/plus/notifications?${query}`, here.keys.plus)).body.data
const look = () => Promise.all([here, there].map((node) => node.runTask('notifications')))
/** The databases of tests are not durable, which is told like everything else. */
const UNRELATED = 'database_not_durable'
const told = () =>
  receiver.received
    .map(({ body }) => (JSON.parse(body.toString()) as { data: { kind: string; state: string; subject: string } }).data)
    .filter(({ kind }) => kind !== UNRELATED)

test('two nodes tell each finding once, to operators by every channel and to the account in the desk', async () => {
  const { db } = here
  const itemId = await importOneItem(here)
  const post = (price: number) =>
    send(`${here.operatorUrl}/operator/v1/prices`, OPERATOR_TOKEN, {
      json: [{ item_id: itemId, market: 'source_a', label: 'Near Mint', price, updated_at: new Date(Date.now() - 1_000).toISOString() }],
    })
  await post(10)
  await post(1_000)
  const account = here.accounts.plus
  const expires = new Date(here.clock.now().getTime() + 48 * HOUR_MS).toISOString()
  const key = await call(createKey, here.ctx, { account_id: account, label: 'Shop', expires_at: expires })
  const sellerReceiver = await openReceiver(status(500))
  await send(`${here.publicUrl}/api/v1/plus/webhook`, here.keys.plus, { method: 'PUT', json: { url: sellerReceiver.url, on_sale: true } })
  await sell({ db }, account)
  await until('all attempts have failed', async () => {
    const event = await db.kysely.selectFrom('webhook_events').select('state').executeTakeFirstOrThrow()
    return event.state === 'failed'
  })
  await look()
  await look()

  const listed = (await operator('state=open')).filter(({ kind }) => kind !== UNRELATED)
  expect(new Set(listed.map(({ kind }) => kind))).toEqual(new Set(['prices_held', 'rates_missing', 'webhooks_failing', 'keys_expiring']))
  expect(listed.find(({ kind }) => kind === 'rates_missing')).toMatchObject({ subject: 'rates', severity: 'warning', node: null, read: false })
  await until('four webhooks', () => told().length >= 4)
  await until('an e-mail, after the first was refused', () => mails.length > 0)
  await look()
  expect(
    told()
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual(['keys_expiring', 'prices_held', 'rates_missing', 'webhooks_failing'])
  const [first] = receiver.received
  expect(first!.headers['x-service-signature']).toBe(createHmac('sha256', SECRET).update(first!.body).digest('hex'))
  expect(first!.headers['webhook-id']).toMatch(/^ntf_\d+$/)
  const all = mails.join('\n')
  expect(all).toMatch(/^To: ops@shop\.example, owner@shop\.example/m)
  await until('all e-mails', () => ['rates', 'held prices', 'webhooks', 'keys'].every((subject) => mails.join('\n').includes(`: ${subject}: `)))

  const own = await desk()
  expect(own.map(({ kind }) => kind).toSorted()).toEqual(['own_key_expiring', 'own_webhook_failing'])
  expect(own.find(({ kind }) => kind === 'own_key_expiring')!.found).toContain(`the key Shop ending in ${key.last4} expires on`)

  await call(revokeKey, here.ctx, { id: key.id })
  await look()
  await until('the resolution is told', () => told().some(({ kind, state }) => kind === 'keys_expiring' && state === 'resolved'))
  expect((await desk('state=open')).map(({ kind }) => kind)).toEqual(['own_webhook_failing'])
  await sellerReceiver.close()
})

test('reading is for each person, and ends when the finding changes', async () => {
  const other = await call(createOperatorToken, here.ctx, { label: 'other' })
  const unread = (token = OPERATOR_TOKEN) => operator('unread=1', token)
  const [one] = await unread()
  const mark = (json: object) => send(`${here.operatorUrl}/operator/v1/notifications/read`, OPERATOR_TOKEN, { json })
  const before = (await unread()).length
  expect((await mark({ ids: [one!.id] })).body.data).toEqual({ marked: 1 })
  expect(await unread()).toHaveLength(before - 1)
  expect((await mark({})).body.data).toEqual({ marked: before - 1 })
  expect(await unread()).toEqual([])
  expect(await unread(other.token)).toHaveLength(before)

  // A currency without rates is known; a second one is news.
  await here.db.kysely.updateTable('notifications').set({ state: 'other' }).where('kind', '=', 'rates_missing').execute()
  await look()
  expect((await unread()).map(({ kind }) => kind)).toEqual(['rates_missing'])

  const markOwn = (json: object) => send(`${here.publicUrl}/api/v1/plus/notifications/read`, here.keys.plus, { json })
  expect((await markOwn({ ids: [1e308, -1] })).body.data).toEqual({ marked: 0 })
  expect((await markOwn({})).body.data).toEqual({ marked: 1 })
  expect(await desk('unread=1')).toEqual([])
  // Another account sees nothing of it, and marks nothing.
  const foreign = await send<Notification[]>(`${here.publicUrl}/api/v1/plus/notifications`, here.keys.enterprise)
  expect(foreign.body.data).toEqual([])
})

test('a receiver that is down gets a limited number of attempts', async () => {
  const queued = here.db.kysely.selectFrom('notification_deliveries').select('id').where('channel', '=', 'webhook').where('state', '=', 'queued')
  await until('earlier deliveries', async () => (await queued.execute()).length === 0)
  receiver.behave(status(503))
  const count = receiver.received.length
  await here.db.kysely.updateTable('notifications').set({ state: 'again' }).where('kind', '=', 'rates_missing').execute()
  await look()
  const tried = () => receiver.received.slice(count).filter(({ body }) => body.includes('rates_missing'))
  await until('the quick attempts', () => tried().length === 3)
  const attempts = () =>
    here.db.kysely.selectFrom('notification_deliveries').select(['attempts', 'state', 'error']).orderBy('id', 'desc').where('channel', '=', 'webhook')
  await until('the third attempt is recorded', async () => (await attempts().executeTakeFirstOrThrow()).error === 'HTTP status 503')
  for (const hours of [2, 7]) {
    here.clock.advance(hours * HOUR_MS)
    there.clock.advance(hours * HOUR_MS)
    await here.runTask('notification-webhooks')
  }
  await until('it is given up', async () => (await attempts().executeTakeFirstOrThrow()).state === 'failed')
  expect([tried().length, new Set(tried().map(({ headers }) => headers['webhook-id'])).size]).toEqual([5, 1])
  expect(await attempts().executeTakeFirstOrThrow()).toEqual({ attempts: 5, state: 'failed', error: 'HTTP status 503' })
})

test('e-mails wait for the end of the quiet hours, unless they are critical', () => {
  const quiet = parseQuietHours('22:00-07:30')
  const due = (time: string, severity: 'warning' | 'critical' = 'warning') =>
    emailDueAt(severity, new Date(`2026-11-28T${time}:00+03:00`), quiet, 'Europe/Istanbul').toISOString()
  expect(due('21:59')).toBe('2026-11-28T18:59:00.000Z')
  expect(due('22:00')).toBe('2026-11-29T04:30:00.000Z')
  expect(due('07:29')).toBe('2026-11-28T04:30:00.000Z')
  expect(due('07:30')).toBe('2026-11-28T04:30:00.000Z')
  expect(due('23:00', 'critical')).toBe('2026-11-28T20:00:00.000Z')
  expect(['7:00-8:00', '22:00-22:00', '22:00', '24:00-07:00'].map(parseQuietHours)).toEqual([null, null, null, null])
})
