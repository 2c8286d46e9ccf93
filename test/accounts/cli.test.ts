// The commands for accounts, keys and operator tokens: human-readable text, or one JSON value for programs.
import { CommanderError } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register as registerAccount } from '#cli/account.ts'
import { register as registerKey } from '#cli/key.ts'
import { register as registerOperatorToken } from '#cli/operator-token.ts'
import { runCommand } from '../support/command-line.ts'
import { freshDatabase } from '../support/postgres.ts'
import { CALLER, openNode, type TestNode } from './node.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let node: TestNode

beforeAll(async () => {
  database = await freshDatabase()
  node = await openNode(database.url)
})

afterAll(async () => {
  await node.close()
  await database.drop()
})

const mintmark = async (...args: string[]) => (await runCommand(node, [registerAccount, registerKey, registerOperatorToken], args)).text

const json = async (...args: string[]) => JSON.parse(await mintmark(...args, '--json')) as never

test('accounts are created, changed and listed', async () => {
  expect(await mintmark('account', 'create', '--name', 'Kart Evi', '--plan', 'plus', '--credits', '3')).toMatch(
    /^Created account \d+ "Kart Evi": plus, 3 highlight credits$/,
  )
  const { id } = (await json('account', 'create', '--name', 'B', '--plan', 'starter')) as { id: number }
  expect(await json('account', 'set', String(id), '--plan', 'professional', '--suspend')).toMatchObject({
    plan: 'professional',
    suspended: true,
  })
  expect(await json('account', 'set', String(id), '--resume')).toMatchObject({ plan: 'professional', suspended: false })
  expect(await json('account', 'list')).toMatchObject([{ name: 'Kart Evi' }, { name: 'B' }])
  expect(await mintmark('account', 'list')).toMatch(/^ID +NAME +PLAN +CREDITS +STATE +CREATED\n1 +Kart Evi +plus +3 +active +\d{4}-/)
})

test('keys are created, rotated, revoked and listed, and printed only when created', async () => {
  const account = (await json('account', 'create', '--name', 'Keys', '--plan', 'plus')) as { id: number }
  const of = ['--account', String(account.id)]
  const expires = new Date(Date.now() + 3_600_000_000).toISOString()
  const key = (await json('key', 'create', ...of, '--label', 'shop', '--expires', expires)) as {
    id: number
    key: string
  }
  expect(await node.keys.find(`Bearer ${key.key}`, CALLER)).toMatchObject({ accountId: account.id })
  const before = Date.now()
  const fresh = (await json('key', 'rotate', String(key.id), '--overlap', '90m')) as {
    id: number
    key: string
    label: string
  }
  expect(fresh).toMatchObject({ label: 'shop', expires_at: expires })
  const listed = (await json('key', 'list', ...of)) as { expires_at: string }[]
  expect(Math.abs(Date.parse(listed[0]!.expires_at) - before - 5_400_000)).toBeLessThan(1_200_000)
  expect(await mintmark('key', 'revoke', String(fresh.id))).toMatch(/^Key \d+ revoked at /)
  const list = await mintmark('key', 'list', ...of)
  expect(list).toMatch(/^ID +LABEL +KEY +LIMITS +CREATED +LAST USED +EXPIRES +REVOKED\n/)
  expect(list + JSON.stringify(listed)).not.toContain('mintmark_')
  expect(await mintmark('key', 'create', ...of)).toMatch(/shown only once:\nmintmark_[0-9A-Za-z]{49}$/)
})

test('limits of keys are set, changed and removed', async () => {
  const account = (await json('account', 'create', '--name', 'Limited', '--plan', 'plus')) as { id: number }
  const of = ['--account', String(account.id)]
  const options = ['--read-only', '--origin', 'https://shop.example', 'http://localhost:5173', '--address', '203.0.113.7', '10.0.0.0/8']
  const { id } = (await json('key', 'create', ...of, ...options)) as { id: number }
  const listed = async () => ((await json('key', 'list', ...of)) as object[])[0]
  expect(await listed()).toMatchObject({
    read_only: true,
    allowed_origins: ['https://shop.example', 'http://localhost:5173'],
    allowed_addresses: ['203.0.113.7', '10.0.0.0/8'],
    expires_at: null,
  })
  expect(await mintmark('key', 'list', ...of)).toContain('read-only https://shop.example http://localhost:5173 203.0.113.7 10.0.0.0/8')
  const expires = new Date(Date.now() + 3_600_000).toISOString()
  expect(await json('key', 'set', String(id), '--no-read-only', '--any-origin', '--address', '::1', '--expires', expires)).toMatchObject({
    read_only: false,
    allowed_origins: [],
    allowed_addresses: ['::1'],
    expires_at: expires,
  })
  expect(await mintmark('key', 'set', String(id), '--any-address', '--expires', 'never', '--label', 'free')).toBe(
    `Key ${id} of account ${account.id}: no limits`,
  )
  expect(await listed()).toMatchObject({ label: 'free', expires_at: null, allowed_addresses: [] })
  await expect(mintmark('key', 'set', String(id), '--address', '10.0.0.0/40')).rejects.toThrow('allowed_addresses.0 must be an IP address')
  await expect(mintmark('key', 'set', String(id))).rejects.toThrow('at least one of')
})

test('operator tokens are created, revoked and listed', async () => {
  const { token, id } = (await json('operator-token', 'create', '--label', 'shop')) as { token: string; id: number }
  expect(await node.operators.find(`Bearer ${token}`, CALLER)).toEqual({ kind: 'operator', name: `shop:${id}` })
  expect(await mintmark('operator-token', 'list')).toMatch(new RegExp(`^ID .*\\n${id} +shop +\\.\\.\\.${token.slice(-4)}`))
  expect(await json('operator-token', 'revoke', String(id))).toMatchObject({ id, label: 'shop' })
})

test('lists contain the rows of all pages', async () => {
  const { id } = (await json('account', 'create', '--name', 'Many', '--plan', 'plus')) as { id: number }
  const rows = Array.from({ length: 230 }, (_, i) => ({
    account_id: id,
    label: `${i}`,
    hash: Buffer.from(`${i}`),
    last4: '0000',
    created_at: new Date(),
  }))
  await node.db.kysely.insertInto('api_keys').values(rows).execute()
  const listed = (await json('key', 'list', '--account', String(id))) as { label: string }[]
  expect(listed.map((key) => key.label)).toEqual(rows.map((row) => row.label))
})

test('wrong usage is a command-line error, invalid values are errors of the operations', async () => {
  const usage = [
    ['account', 'create', '--name', 'x'],
    ['account', 'create', '--name', 'x', '--plan', 'gold'],
    ['account', 'set', '1'],
    ['account', 'set', '1', '--suspend', '--resume'],
    ['account', 'set', 'one', '--resume'],
    ['key', 'rotate', '1', '--overlap', '24'],
    ['key', 'create'],
    ['operator-token', 'create'],
  ]
  for (const args of usage) await expect(mintmark(...args)).rejects.toBeInstanceOf(CommanderError)
  await expect(mintmark('account', 'set', '1')).rejects.toMatchObject({ exitCode: 2 })
  await expect(mintmark('key', 'revoke', '99999999999')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(mintmark('key', 'create', '--account', '1', '--expires', 'soon')).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  })
})
