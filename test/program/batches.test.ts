// The commands `imports`, `revert` and `rates`, over the verbs that the operator API calls too.
import { Command, CommanderError } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCategory } from '#catalogue/create-category.ts'
import { createItem } from '#catalogue/create-item.ts'
import { register as registerBatches } from '#cli/batches.ts'
import { register as registerRates } from '#cli/rates.ts'
import { call } from '#core/verb.ts'
import { importText, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
  const category = await call(createCategory, node.ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })
  await call(createItem, node.ctx, { ref: 'a', name: 'Card', market: 'source_c', category_id: category.id })
})

afterAll(() => node.close())

async function mintmark(...args: string[]): Promise<string> {
  const lines: string[] = []
  const program = new Command('mintmark').exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
  for (const register of [registerBatches, registerRates]) {
    register(
      program,
      (run) => run(node.ctx, (read) => read(node.db)),
      (line) => lines.push(line),
    )
  }
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) command.exitOverride()
  await program.parseAsync(args, { from: 'user' })
  return lines.join('\n')
}

test('a batch is listed and reverted, and the revert too', async () => {
  const row = (price: number, day: number) => `item_ref,market,label,price,updated_at\na,source_c,Near Mint,${price},2026-01-0${day}T00:00:00Z\n`
  await importText(node, 'mintmark-prices-csv', row(2, 1))
  const { id } = await importText(node, 'mintmark-prices-csv', row(3, 2))
  const price = async () => (await node.db.kysely.selectFrom('prices').select('price').where('market', '=', 3).executeTakeFirstOrThrow()).price
  expect(await price()).toBe('3.00')
  expect(await mintmark('imports', '--format', 'mintmark-prices-csv')).toMatch(
    new RegExp(`^ID +FORMAT +FILE .*\\n${id} +mintmark-prices-csv +test +done`),
  )
  expect(await mintmark('revert', String(id))).toMatch(new RegExp(`^Reverted import ${id} by import \\d+; 1 prices restored$`))
  expect(await price()).toBe('2.00')
  const [revert] = JSON.parse(await mintmark('imports', '--format', 'revert', '--json')) as { id: number; reverts_import_id: number }[]
  expect(revert!.reverts_import_id).toBe(id)
  await expect(mintmark('revert', String(id))).rejects.toThrow('is already reverted')
  expect(JSON.parse(await mintmark('revert', String(revert!.id), '--json'))).toMatchObject({ reverts_import_id: revert!.id })
  expect(await price()).toBe('3.00')
})

test('rates are loaded and listed', async () => {
  expect(await mintmark('rates', 'set', 'USD=41.87', 'EUR=48.31', '--day', '2026-11-20')).toBe('2 rates are loaded')
  expect(await mintmark('rates', 'list')).toBe('DAY         CURRENCY  TRY\n2026-11-20  EUR       48.31\n2026-11-20  USD       41.87')
  for (const args of [['set'], ['set', 'usd=1'], ['set', 'USD'], ['list', 'all']]) {
    await expect(mintmark('rates', ...args), args.join(' ')).rejects.toBeInstanceOf(CommanderError)
  }
})
