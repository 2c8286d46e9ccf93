// Highlight credits: the ledger always sums to the balance, and concurrent use never takes the balance below 0.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addCredits } from '#accounts/add-credits.ts'
import { createAccount } from '#accounts/create-account.ts'
import { getAccount } from '#accounts/get-account.ts'
import { call } from '#core/verb.ts'
import { freshDatabase } from '../support/postgres.ts'
import { openNode, type TestNode } from './node.ts'

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

const ledgerOf = (id: number) =>
  node.db.kysely.selectFrom('credit_entries').select(['amount', 'balance', 'reason']).where('account_id', '=', id).orderBy('id').execute()

test('of 25 concurrent requests for one credit each, exactly as many succeed as there are credits', async () => {
  const { id } = await call(createAccount, node.ctx, { name: 'Credits', plan: 'plus', highlight_credits: 10 })
  const attempts = Array.from({ length: 25 }, () => call(addCredits, node.ctx, { id, amount: -1, reason: 'race' }))
  const settled = await Promise.allSettled(attempts)
  const balances = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value.highlight_credits] : []))
  expect(balances.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  for (const one of settled) {
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'amount' }] })
  }
  expect(await call(getAccount, node.ctx, { id })).toMatchObject({ highlight_credits: 0 })
  const ledger = await ledgerOf(id)
  expect(ledger.map((entry) => entry.balance)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
})

test('the ledger records each change and its reason', async () => {
  const { id } = await call(createAccount, node.ctx, { name: 'Credit history', plan: 'plus' })
  await call(addCredits, node.ctx, { id, amount: 5, reason: ' bought ' })
  await call(addCredits, node.ctx, { id, amount: -2 })
  expect(await ledgerOf(id)).toEqual([
    { amount: 5, balance: 5, reason: 'bought' },
    { amount: -2, balance: 3, reason: '' },
  ])
})

test('the balance stays within the range of the database column', async () => {
  const { id } = await call(createAccount, node.ctx, { name: 'Rich', plan: 'plus' })
  await node.db.kysely.updateTable('accounts').set({ highlight_credits: 2_147_483_000 }).where('id', '=', id).execute()
  await expect(call(addCredits, node.ctx, { id, amount: 648 })).rejects.toThrow('between 0 and 2147483647')
  expect(await call(addCredits, node.ctx, { id, amount: 647 })).toEqual({ highlight_credits: 2_147_483_647 })
})
