// Reverting catalogue imports: the export is the same as before them, and what later imports state stays.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { importFiles, importText, OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'
import { exported, pokemontcgCards, pokemontcgSets, tcgdexCards, tcgdexOld, tcgdexSets } from './one-card.ts'

let node: TestNode

beforeEach(async () => {
  node = await startTestNode({ listeners: 'operator' })
})
afterEach(() => node.close())

const operator = <T = { id: number; updated: number }>(path: string, json?: object) =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method: json ? 'POST' : 'GET', ...(json && { json }) })
const revert = (id: number) => operator(`/imports/${id}/revert`, {})

const tcgdex = () =>
  importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets },
    { name: 'cards', text: tcgdexCards },
  ])
const pokemontcg = () =>
  importFiles(node, 'pokemontcg', [
    { name: 'sets', text: pokemontcgSets },
    { name: 'cards', text: pokemontcgCards },
  ])

const idsByRef = async () => (await sql<{ id: number; ref: string }>`select id, ref from items order by id`.execute(node.db.kysely)).rows

test('reverting the import of an empty catalogue empties it, and restoring it keeps the ids', async () => {
  const { id } = await tcgdex()
  const [text, ids] = [await exported(node), await idsByRef()]
  const reverted = await revert(id)
  expect([reverted.status, reverted.body.data.updated]).toEqual([200, 12])
  expect(await exported(node)).toBe('')
  expect((await operator<unknown[]>('/items')).body.pagination!.total).toBe(0)
  await revert(reverted.body.data.id)
  expect(await exported(node)).toBe(text)
  expect(await idsByRef()).toEqual(ids)
  expect((await revert(reverted.body.data.id)).status).toBe(409)
})

test('reverting a second source leaves no trace, in either order', { tags: 'slow' }, async () => {
  const first = await tcgdex()
  const before = await exported(node)
  const second = await pokemontcg()
  const both = await exported(node)
  await revert(second.id)
  expect(await exported(node)).toBe(before)
  const again = await pokemontcg()
  expect(await exported(node)).toBe(both)
  // The first import is reverted; what the second one states stays.
  await revert(first.id)
  const rest = await exported(node)
  expect(rest).toContain('"ref":"pokemontcg:base1-4"')
  expect(rest).not.toContain('tcgdex')
  await revert(again.id)
  expect(await exported(node)).toBe('')
})

test('reverting a newer file restores the values it changed', async () => {
  await tcgdex()
  const before = await exported(node)
  const newer = await importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets.replace('Base Set', 'Base Set (1999)') },
    { name: 'cards', text: tcgdexCards.replaceAll('"hp":80', '"hp":120').replace('"tcgplayer":2003', '"tcgplayer":4711') },
  ])
  expect(await exported(node)).not.toBe(before)
  await revert(newer.id)
  expect(await exported(node)).toBe(before)
})

test('reverting an older import works with a later one of the same file', { tags: 'slow' }, async () => {
  const first = await tcgdex()
  const text = await exported(node)
  await tcgdex()
  await importText(node, 'tcgdex', tcgdexOld)
  await revert(first.id)
  expect(await exported(node)).toBe(text)
})

test('an item with user data stays', async () => {
  const { id } = await tcgdex()
  const [used] = await idsByRef()
  const posted = await send(`${node.operatorUrl}/operator/v1/prices`, OPERATOR_TOKEN, {
    json: [{ item_id: used!.id, market: 'source_c', label: 'Near Mint', price: 3, updated_at: new Date().toISOString() }],
  })
  expect(posted.status).toBe(200)
  await revert(id)
  expect(await idsByRef()).toEqual([used])
  const { rows } = await sql<{ ref: string }>`select ref from categories order by ref`.execute(node.db.kysely)
  expect(rows.map((row) => row.ref)).toEqual(['tcgdex:serie:base', 'tcgdex:set:base1'])
})

test('reverting an import reverts its prices', async () => {
  await tcgdex()
  const text = await exported(node)
  await importText(node, 'mintmark-ndjson', text)
  const priced = text
    .replaceAll('"foreign_ids"', '"foreign_ids"')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const record = JSON.parse(line) as { type: string }
      const prices = [{ market: 'source_c', label: 'Near Mint', price: '2.50', updated_at: '2026-11-01T09:00:00Z' }]
      return JSON.stringify(record.type === 'item' ? { ...record, prices } : record)
    })
  const report = await importText(node, 'mintmark-ndjson', `${priced.join('\n')}\n`)
  expect(report.counts).toMatchObject({ accepted: 12, updated: 0 })
  await revert(report.id)
  expect(await exported(node)).toBe(text)
})
