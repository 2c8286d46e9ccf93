// Backup and restore: a consistent copy as of one moment, restored into another database, and noticed by a node that uses it.
import { PassThrough } from 'node:stream'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backup, BackupError, restore } from '#db/backup.ts'
import { importText, send, startTestNode, type TestNode, until } from '../support/node.ts'

const CATALOGUE = [
  { type: 'category', market: 'source_c', ref: 'r', name: 'Root \\ back\tslash', slug: 'root', game: 'pokemon', parent: null, image: null },
  ...Array.from({ length: 30 }, (_, i) => ({
    type: 'item',
    market: 'source_c',
    ref: `i${i}`,
    name: `Card "${i}"\nwith lines é`,
    code: `${i}/30`,
    slug: `card-${i}`,
    genre: 'single',
    game: 'pokemon',
    category: 'r',
    images: [],
    attributes: [],
    groups: ['ungraded'],
    details: {},
    foreign_ids: [],
    prices: [{ market: 'source_c', label: 'Near Mint', price: `${i + 1}.50`, updated_at: '2026-03-01T00:00:00Z' }],
  })),
]
  .map((line) => JSON.stringify(line))
  .join('\n')

let from: TestNode
let to: TestNode

beforeAll(async () => {
  from = await startTestNode({ listeners: 'public' })
  to = await startTestNode({ listeners: 'public' })
  await importText(from, 'mintmark-ndjson', CATALOGUE)
})

afterAll(async () => {
  await from.close()
  await to.close()
})

async function write(node: TestNode): Promise<{ file: Buffer; rows: Map<string, number> }> {
  const target = new PassThrough()
  const chunks: Buffer[] = []
  target.on('data', (chunk: Buffer) => chunks.push(chunk))
  const rows = await backup(node.db, target)
  return { file: Buffer.concat(chunks), rows }
}

async function* streamed(file: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += 1_000) yield file.subarray(at, at + 1_000)
}

test('copies every row to another database, which a running node serves', async () => {
  const { file, rows } = await write(from)
  expect(rows.get('items')).toBe(30)
  expect(rows.get('price_points')).toBe(30)
  expect(await restore(to.db, streamed(file), { replace: true })).toEqual(rows)
  const key = from.keys.professional
  await until('the node has loaded what was restored', async () => (await send(`${to.publicUrl}/api/v1/items`, key)).status === 200)
  const read = async (node: TestNode) => (await send(`${node.publicUrl}/api/v1/items?per_page=100`, key)).body
  await until('both answer alike', async () => JSON.stringify(await read(to)) === JSON.stringify(await read(from)))
  await importText(to, 'mintmark-ndjson', CATALOGUE.replaceAll('"i2', '"j2').replaceAll('card-2', 'other-2'))
  const { rows: ids } = await sql<{ n: number }>`select count(distinct id)::int as n from items`.execute(to.db.kysely)
  expect(ids[0]!.n).toBeGreaterThan(30)
})

test('does not overwrite existing data unless requested', async () => {
  const { file } = await write(from)
  await expect(restore(to.db, streamed(file), { replace: false })).rejects.toThrow(/not empty/)
})

test('rejects an incomplete backup and changes nothing', async () => {
  const { file } = await write(from)
  const before = await to.db.kysely.selectFrom('items').select('ref').orderBy('id').execute()
  for (const broken of [Buffer.from('{"mintmark_backup":1}'), Buffer.alloc(0), file.subarray(0, file.length >> 1)]) {
    await expect(restore(to.db, streamed(broken), { replace: true })).rejects.toThrow(BackupError)
  }
  expect(await to.db.kysely.selectFrom('items').select('ref').orderBy('id').execute()).toEqual(before)
})
