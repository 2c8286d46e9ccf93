// The commands for held prices and for the export: human-readable text, or one JSON value for programs.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { CommanderError } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { register as registerExport } from '#cli/export.ts'
import { register as registerHeld } from '#cli/prices/held.ts'
import { call } from '#core/verb.ts'
import type { HeldPrice } from '#prices/writing/held.ts'
import { runCommand } from '../support/command-line.ts'
import { importText, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let folder: string

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  folder = mkdtempSync(join(tmpdir(), 'mintmark-cli-'))
})
afterAll(async () => {
  await node.close()
  rmSync(folder, { recursive: true, force: true })
})

const mintmark = async (...args: string[]) => (await runCommand(node, [registerHeld, registerExport], args)).text

test('held prices are listed, accepted and discarded, individually and by filter', async () => {
  const category = await call(createCategory, node.ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })
  for (const ref of ['a', 'b', 'c']) await call(createItem, node.ctx, { ref, name: `Card ${ref}`, market: 'source_c', category_id: category.id })
  const csv = (rows: string[]) => ['item_ref,market,label,price,updated_at', ...rows].join('\n')
  await importText(node, 'mintmark-prices-csv', csv(['a', 'b', 'c'].map((ref) => `${ref},source_c,Near Mint,2.00,2026-01-01T00:00:00Z`)))
  const wrong = ['a,source_c,Near Mint,20.00', 'b,source_c,Near Mint,40.00', 'c,source_c,Near Mint,30.00']
  const { id, counts } = await importText(node, 'mintmark-prices-csv', csv(wrong.map((row) => `${row},2026-01-02T00:00:00Z`)))
  expect(counts.held).toBe(3)

  const held = JSON.parse(await mintmark('held', 'list', '--rule', 'jump', '--json')) as HeldPrice[]
  expect(held.map((price) => [price.item.ref, price.times_off])).toEqual([
    ['b', 20],
    ['c', 15],
    ['a', 10],
  ])
  expect(await mintmark('held', 'list')).toMatch(
    /^ID +RULE +ITEM +MARKET +LABEL +PRICE +TIMES OFF +REASON\n\d+ +jump +\d+ Card b +source_c +Near Mint +40 +20 +40\.00 after 2\.00\n/,
  )
  expect(await mintmark('held', 'accept', String(held[0]!.id))).toBe(`Held price ${held[0]!.id} is accepted`)
  expect(await mintmark('held', 'discard', '--item', String(held[1]!.item.id))).toBe('1 held prices are discarded')
  expect(JSON.parse(await mintmark('held', 'accept', '--import', String(id), '--rule', 'jump', '--json'))).toEqual({ decided: 1 })
  expect(JSON.parse(await mintmark('held', 'list', '--json'))).toEqual([])
  const prices = await node.db.kysely
    .selectFrom('prices as p')
    .innerJoin('items as i', 'i.id', 'p.item_id')
    .select(['i.ref', 'p.price'])
    .orderBy('i.ref')
    .execute()
  expect(prices).toEqual([
    { ref: 'a', price: '20.00' },
    { ref: 'b', price: '40.00' },
    { ref: 'c', price: '2.00' },
  ])
})

test('a decision requires either an id or a filter', async () => {
  for (const args of [
    ['accept'],
    ['discard'],
    ['accept', '1', '--rule', 'jump'],
    ['accept', 'x'],
    ['list', '--rule', 'guess'],
    ['list', '--item', '0'],
  ]) {
    await expect(mintmark('held', ...args), args.join(' ')).rejects.toBeInstanceOf(CommanderError)
  }
})

test('an export creates a complete file, compressed according to its name', async () => {
  await mintmark('export', join(folder, 'all.ndjson'))
  await mintmark('export', join(folder, 'all.ndjson.gz'), '--market', 'source_c')
  const text = readFileSync(join(folder, 'all.ndjson'), 'utf8')
  expect(text.trim().split('\n')).toHaveLength(4)
  expect(gunzipSync(readFileSync(join(folder, 'all.ndjson.gz'))).toString()).toBe(text)
  await expect(mintmark('export', join(folder, 'no such folder', 'x'))).rejects.toThrow('cannot be written')
  expect(readdirSync(folder).sort()).toEqual(['all.ndjson', 'all.ndjson.gz'])
})
