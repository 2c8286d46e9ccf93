// Old events are deleted with their attempts; pending ones, and those that were sent again, stay.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { call } from '#core/verb.ts'
import { forgetOldEvents } from '#webhooks/retention.ts'
import { insertEvents } from '#webhooks/webhook-store.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { startTestNode, type TestNode } from '../support/node.ts'

const DAY_MS = 86_400_000
let node: TestNode
let accountId: number

beforeAll(async () => {
  node = await startTestNode({ worker: true, listeners: 'none' })
  accountId = (await call(createAccount, node.ctx, { name: 'Seller', plan: 'plus' })).id
})
afterAll(() => node.close())

/** Events with one attempt each; `due` is when each was, or is to be, sent. */
async function store(events: { created: Date; due?: Date; state: 'queued' | 'delivered' | 'failed' | 'cancelled' }[]): Promise<number[]> {
  const ids = await inTransaction(node.db, (tx) =>
    insertEvents(
      tx,
      events.map(({ created, due = created, state }) => ({
        account_id: accountId,
        kind: 'sale',
        body: '{}',
        state,
        created_at: created,
        due_at: due,
      })),
    ),
  )
  await node.db.kysely
    .insertInto('webhook_attempts')
    .values(
      events.map(({ created }, i) => ({
        event_id: ids[i]!,
        account_id: accountId,
        kind: 'sale',
        test: false,
        attempt: 1,
        started_at: created,
        finished_at: created,
      })),
    )
    .execute()
  return ids
}

async function left(): Promise<{ events: number[]; attempts: number[] }> {
  const events = await node.db.kysely.selectFrom('webhook_events').select('id').where('account_id', '=', accountId).orderBy('id').execute()
  const attempts = await node.db.kysely
    .selectFrom('webhook_attempts')
    .select('event_id')
    .where('account_id', '=', accountId)
    .orderBy('event_id')
    .execute()
  return { events: events.map(({ id }) => id), attempts: attempts.map(({ event_id: id }) => id) }
}

test('events older than 90 days are deleted, however many there are', async () => {
  const now = node.clock.now()
  const at = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const many = Array.from({ length: 1_500 }, () => ({ created: at(100), state: 'delivered' as const }))
  await store(many)
  const remaining = await store([
    { created: at(100), due: at(-30), state: 'queued' },
    { created: at(100), due: at(3), state: 'failed' },
    { created: at(89), state: 'delivered' },
  ])
  const older = await store([
    { created: at(87), state: 'failed' },
    { created: at(86), state: 'cancelled' },
  ])
  expect(await forgetOldEvents(node.db, 90, now)).toBe(1_500)
  expect(await left()).toEqual({ events: [...remaining, ...older], attempts: [...remaining, ...older] })
  expect(await forgetOldEvents(node.db, 90, now)).toBe(0)

  node.clock.advance(5 * DAY_MS)
  expect(await forgetOldEvents(node.db, 90, node.clock.now())).toBe(3)
  expect((await left()).events).toEqual(remaining.slice(0, 2))
})
