// Settings that operators change while the service runs: validated, on every node, without overwriting each other, and undone.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { liveConfig, applyStored } from '#live-settings/live-config.ts'
import { member } from '../accounts/people-kit.ts'
import { importOneItem } from '../support/one-item.ts'
import { OPERATOR_TOKEN, send, startTestNode, startTwoNodes, type TestNode, until } from '../support/node.ts'

interface Setting {
  name: string
  kind: string
  min: number | null
  max: number | null
  value: string
  default: string
  environment: string | null
  origin: string
  undo_to: string | null
  changed_by: string | null
  etag: string
}

let here: TestNode
let there: TestNode
let close: () => Promise<void>
let itemId: number

beforeAll(async () => {
  ;({ here, there, close } = await startTwoNodes({ HIGHLIGHT_DAYS: '5' }))
  itemId = await importOneItem(here)
  const at = (market: string, price: number) => ({
    item_id: itemId,
    market,
    label: 'Near Mint',
    price,
    updated_at: new Date(Date.now() - 1_000).toISOString(),
  })
  await send(`${here.operatorUrl}/operator/v1/prices`, OPERATOR_TOKEN, { json: [at('source_a', 10), at('source_c', 11)] })
})
afterAll(() => close())

const settings = async (node = here) => (await send<Setting[]>(`${node.operatorUrl}/operator/v1/settings`, OPERATOR_TOKEN)).body.data
const setting = async (name: string, node = here) => (await settings(node)).find((one) => one.name === name)!
const change = (name: string, value: string | null, headers: Record<string, string> = {}) =>
  send<Setting>(`${here.operatorUrl}/operator/v1/settings/${name}`, OPERATOR_TOKEN, { method: 'PATCH', json: { value }, headers })
const undo = (name: string) => send<Setting>(`${here.operatorUrl}/operator/v1/settings/${name}/undo`, OPERATOR_TOKEN, { json: {} })
const preview = async (node: TestNode) =>
  (await send<{ commission: number }>(`${node.publicUrl}/api/v1/plus/payout-preview?price=100`, node.keys.plus)).body.data.commission
const shown = async (node: TestNode) => {
  const { body } = await send<{ market: string }[]>(`${node.publicUrl}/api/v1/items?sort_by=price`, here.keys.professional)
  return body.data[0]!.market
}

test('each has its value, its default, its range and where its value comes from', async () => {
  expect(await setting('COMMISSION_PERCENT')).toMatchObject({ kind: 'decimal', min: 0, max: 100, value: '10', origin: 'default', undo_to: null })
  expect(await setting('HIGHLIGHT_DAYS')).toMatchObject({ kind: 'integer', value: '5', default: '7', environment: '5', origin: 'environment' })
  expect(await setting('MARKET_ORDER')).toMatchObject({ kind: 'market_order', min: null, value: 'source_c,source_b,source_a,service' })
  expect(await setting('SOURCE_CURRENCIES')).toMatchObject({ value: 'source_a=USD,source_b=EUR,source_c=USD' })
  expect(JSON.stringify(await settings())).not.toMatch(/secret|token|password/i)
})

test('a change takes effect on every node, is audited and can be undone', async () => {
  expect(await preview(here)).toBe(10)
  const changed = await change('COMMISSION_PERCENT', '12.50')
  expect(changed.body).toMatchObject({
    message: 'Setting updated',
    data: { value: '12.5', origin: 'console', undo_to: '10', changed_by: 'operator:bootstrap' },
  })
  expect(changed.headers.get('etag')).toBe(changed.body.data.etag)
  expect(await preview(here)).toBe(12.5)
  await until('the other node uses it', async () => (await preview(there)) === 12.5)
  const audits = here.db.kysely.selectFrom('audit_log').select(['before', 'after']).where('action', '=', 'setting.change')
  expect(await audits.execute()).toEqual([{ before: { value: null }, after: { value: '12.5' } }])

  // A node that starts later, and a command, use it, too.
  const third = await startTestNode({ databaseUrl: here.databaseUrl, listeners: 'public' })
  expect(await preview({ ...third, keys: here.keys })).toBe(12.5)
  await third.close()
  const config = liveConfig(here.config)
  await applyStored(config, here.db.kysely, { warn: () => {} })
  expect(config.commissionPercent).toBe(12.5)

  expect((await undo('COMMISSION_PERCENT')).body).toMatchObject({
    message: 'Setting restored',
    data: { value: '10', origin: 'default', undo_to: '12.5' },
  })
  expect(await preview(here)).toBe(10)
  expect((await undo('COMMISSION_PERCENT')).body.data.value).toBe('12.5')
  expect((await change('COMMISSION_PERCENT', null)).body.data).toMatchObject({ value: '10', origin: 'default' })
  expect((await undo('LISTING_PERIOD_DAYS')).body.error).toMatchObject({ code: 'CONFLICT', rule: 'setting_unchanged' })
})

test('the order and the names of markets change what searches show', async () => {
  expect([await shown(here), await shown(there)]).toEqual(['source_c', 'source_c'])
  await change('MARKET_ORDER', 'source_a, source_c')
  expect(await shown(here)).toBe('source_a')
  await until('the other node follows', async () => (await shown(there)) === 'source_a')
  await undo('MARKET_ORDER')
  expect(await shown(here)).toBe('source_c')

  const names = async () => (await send<{ name: string }[]>(`${here.publicUrl}/api/v1/markets`, here.keys.starter)).body.data.map(({ name }) => name)
  expect(await names()).toContain('source_b')
  await change('MARKET_NAMES', 'source_b=Cardmarket')
  expect(await names()).toContain('Cardmarket')
  await change('MARKET_NAMES', '')
  expect(await names()).not.toContain('Cardmarket')
})

test('of two operators, the second does not overwrite the first unseen', async () => {
  const { etag } = await setting('HIGHLIGHT_DAYS')
  const both = await Promise.all(['8', '9'].map((value) => change('HIGHLIGHT_DAYS', value, { 'If-Match': etag })))
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412])
})

test('invalid values are refused by name, and currencies of sources with prices', async () => {
  const refused = async (name: string, value: string) => (await change(name, value)).body.error
  expect(await refused('HIGHLIGHT_DAYS', '0')).toMatchObject({ details: [{ field: 'value', rule: 'integer', params: { min: 1, max: 365 } }] })
  expect(await refused('COMMISSION_PERCENT', 'ten')).toMatchObject({ details: [{ field: 'value', rule: 'number', params: { min: 0, max: 100 } }] })
  for (const [name, rule, value] of [
    ['MARKET_ORDER', 'market_order', 'source_a,source_a'],
    ['MARKET_NAMES', 'market_names', 'source_a=One,source_b=One'],
    ['SOURCE_CURRENCIES', 'source_currencies', 'source_a=usd'],
    ['NOTIFY_QUIET_HOURS', 'quiet_hours', '25:00-07:00'],
  ] as const) {
    expect(await refused(name, value), name).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'value', rule }] })
  }
  expect((await change('SECRET_KEY', 'x'.repeat(30))).status).toBe(422)
  expect(await refused('SOURCE_CURRENCIES', 'source_a=GBP,source_b=EUR,source_c=USD')).toMatchObject({
    code: 'CONFLICT',
    params: { market: 'source_a', count: 1, currency: 'USD' },
  })
  expect((await change('SOURCE_CURRENCIES', 'source_b=GBP')).body.data.value).toBe('source_a=USD,source_b=GBP,source_c=USD')
  const markets = await send<{ code: string; currency: string }[]>(`${here.publicUrl}/api/v1/markets`, here.keys.starter)
  expect(markets.body.data.find(({ code }) => code === 'source_b')!.currency).toBe('GBP')
})

test('people without the role of an owner can only look', async () => {
  const { token } = await withToken('read_only')
  expect((await send(`${here.operatorUrl}/operator/v1/settings`, token)).status).toBe(200)
  const { status } = await send(`${here.operatorUrl}/operator/v1/settings/HIGHLIGHT_DAYS`, token, { method: 'PATCH', json: { value: '3' } })
  expect(status).toBe(403)
})

async function withToken(role: 'read_only') {
  const person = await member(here, 'Looks', [role])
  const { body } = await send<{ token: string }>(`${here.operatorUrl}/operator/v1/people/${person.id}/tokens`, OPERATOR_TOKEN, {
    json: { label: 'look' },
  })
  return body.data
}
