// Saving a webhook: concurrent saves are audited with what each of them replaced.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { call } from '#core/verb.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { webhookRules } from '#webhooks/rules.ts'
import { silent, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
})
afterAll(() => node.close())

test('a save that waited for another one names the settings of that one as replaced', async () => {
  const { accounts, config, ctx, db } = node
  const accountId = accounts.plus
  const viewer = { kind: 'account', accountId, keyId: 1, plan: 'plus' } as const
  const own = { ...ctx, viewer, webhooks: webhookRules(config, db, silent, () => []) }
  const url = 'http://127.0.0.1:9/hook'
  await call(configureWebhook, own, { url })
  let saving: Promise<unknown> | null = null
  await db.kysely.transaction().execute(async (tx) => {
    await sql`update webhooks set on_sale = true where account_id = ${accountId}`.execute(tx)
    saving = call(configureWebhook, own, { url, on_expire: true })
    const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('the save waits', async () => (await waiting.execute(db.kysely)).rows.length > 0)
  })
  await saving
  const audited = db.kysely.selectFrom('audit_log').select(['before', 'after']).where('action', '=', 'webhook.configure')
  const last = await audited.orderBy('id', 'desc').executeTakeFirstOrThrow()
  expect(last.before).toMatchObject({ on_sale: true, on_expire: false })
  expect(last.after).toMatchObject({ on_sale: false, on_expire: true })
})
