// A mirror of the catalogue: dump and changes reproduce the bytes of the export, whatever happens meanwhile.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportCatalogue } from '#catalogue/export.ts'
import { trimChangeLog } from '#db/changes/change-feed.ts'
import { CatalogueCopy } from '../../src/mirror/copy.ts'
import { exportCopy } from '../../src/mirror/export-copy.ts'
import { follow } from '../../src/mirror/follow.ts'
import { importText, OPERATOR_TOKEN, passOnAllPrices, send, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
let folder: string
let category: number

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mintmark-mirror-'))
  node = await startTestNode({ env: { PRICE_HOLD_FACTOR: '1000', DUMPS_DIR: join(folder, 'dumps') } })
  await passOnAllPrices(node)
  category = (await operator<{ id: number }>('POST', '/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })).id
})
afterAll(async () => {
  await node.close()
  rmSync(folder, { recursive: true })
})

async function operator<T>(method: string, path: string, json: object = {}): Promise<T> {
  const { status, body } = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.data
}

async function dumped(): Promise<void> {
  await operator('POST', '/dumps')
  await until('the dump is made', async () => {
    const { body } = await send<{ running: object | null }>(`${node.operatorUrl}/operator/v1/dumps`, OPERATOR_TOKEN)
    return body.data.running === null
  })
}

let items = 0
async function item(): Promise<number> {
  items += 1
  const card = { name: `Card ${items}`, ref: `card:${items}`, code: `${items}/99`, market: 'source_c', category_id: category, details: { hp: 60 } }
  return (await operator<{ id: number }>('POST', '/items', card)).id
}

function price(id: number, amount: number, label = 'Near Mint', market = 'source_c'): Promise<unknown> {
  return operator('POST', '/prices', [{ item_id: id, market, label, price: amount, updated_at: new Date().toISOString() }] as never)
}

/** Trims entries older than a week; transactions of other tests on the server can keep rows back for a moment. */
async function trimmed(): Promise<void> {
  await sql`update change_log set at = at - interval '8 days'`.execute(node.db.kysely)
  await until('the log is trimmed', async () => {
    await trimChangeLog(node.db, node.clock.now())
    const { rows } = await sql`select from change_log where at < now() - interval '8 days'`.execute(node.db.kysely)
    return rows.length === 0
  })
}

async function textOf(chunks: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += chunk
  return text
}

async function upToDate(copy: CatalogueCopy): Promise<{ dumps: number; changes: number }> {
  const seen = { dumps: 0, changes: 0 }
  await follow({
    remote: { url: node.publicUrl!, key: node.keys.professional },
    copy,
    once: true,
    onApplied: ({ dump, changes }) => {
      seen.dumps += Number(dump)
      seen.changes += changes
    },
  })
  expect(await textOf(exportCopy(copy))).toBe(await textOf(exportCatalogue(node.db)))
  return seen
}

test('equals the export after a dump, after changes of every kind, and after a long interruption', async () => {
  const copy = new CatalogueCopy(join(folder, 'copy.sqlite'))
  const ids = await Promise.all([item(), item(), item()])
  await price(ids[0]!, 4.2)
  await price(ids[0]!, 99.99, 'PSA 10', 'source_b')
  await expect(upToDate(copy)).rejects.toThrow('has no dump yet')
  await dumped()
  expect(await upToDate(copy)).toEqual({ dumps: 1, changes: 0 })

  await price(ids[0]!, 4.21)
  await price(ids[1]!, 0.07, 'CGC 9.5', 'source_a')
  await operator('PATCH', `/items/${ids[2]}`, { name: 'Yeni ad “ışık”', details: { hp: 90 } })
  await operator('PATCH', `/categories/${category}`, { name: 'Renamed Set' })
  const { batch_id } = await operator<{ batch_id: number }>('POST', `/items/${ids[0]}/merge`, { into: ids[1] })
  expect((await upToDate(copy)).dumps).toBe(0)
  await operator('POST', `/batches/${batch_id}/revert`)
  await upToDate(copy)

  const set = { type: 'category', market: 'source_c', ref: 'other', name: 'Other set', game: 'pokemon', parent: null, image: null, printed_total: 7 }
  const card = { type: 'item', market: 'source_c', ref: 'other:1', name: 'Other', code: '1', genre: 'single', game: 'pokemon', category: 'other' }
  const rest = {
    images: [],
    attributes: [{ name: 'Rarity', value: 'Rare' }],
    groups: ['ungraded'],
    details: {},
    foreign_ids: [{ source: 'tcgplayer', id: '5' }],
  }
  const prices = [{ market: 'source_c', label: 'Near Mint', price: '3.50', updated_at: '2026-11-01T09:00:00Z' }]
  const { id } = await importText(node, 'mintmark-ndjson', [set, { ...card, ...rest, prices }].map((line) => JSON.stringify(line)).join('\n'))
  await upToDate(copy)
  await operator('POST', `/imports/${id}/revert`)
  expect(await upToDate(copy)).toMatchObject({ dumps: 0 })

  await dumped()
  await price(ids[2]!, 1.5)
  await trimmed()
  await dumped()
  await price(ids[2]!, 1.6)
  expect(await upToDate(copy)).toMatchObject({ dumps: 1 })
  copy.close()
})

test('of one service is rejected for another', () => {
  const copy = new CatalogueCopy(join(folder, 'copy.sqlite'))
  expect(() => copy.cursorOf('http://elsewhere.example')).toThrow(`The file is a mirror of ${node.publicUrl}`)
  copy.close()
})
