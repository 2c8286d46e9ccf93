// Backup and restore: a consistent copy as of one moment, restored into another database, and noticed by a node that uses it.
import { PassThrough } from 'node:stream'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backup, BackupError, restore } from '#db/backups/backup.ts'
import { gunzipSync } from 'node:zlib'
import { createAccount } from '#accounts/create-account.ts'
import { addCredits } from '#accounts/add-credits.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { createCollection } from '#collections/create-collection.ts'
import { call } from '#core/verb.ts'
import { erasePerson } from '#privacy/erase-person.ts'
import { runErasures } from '#privacy/run-erasures.ts'
import { openPhotoFiles } from '#photos/photo-files.ts'
import { keyLines, readKeyLine, type StoredKey } from '#db/personal/person-keys.ts'
import { importText, send, silent, startTestNode, type TestNode, until } from '../support/node.ts'

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

async function keysOf(node: TestNode): Promise<StoredKey[]> {
  const keys: StoredKey[] = []
  for await (const lines of keyLines(node.db.kysely)) for (const line of lines.split('\n')) if (line !== '') keys.push(readKeyLine(line))
  return keys
}

async function* streamed(file: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += 1_000) yield file.subarray(at, at + 1_000)
}

test('copies every row to another database, which a running node serves', async () => {
  const { file, rows } = await write(from)
  expect(rows.get('items')).toBe(30)
  expect(rows.get('price_points')).toBe(30)
  expect(await restore(to.db, streamed(file), { replace: true, keys: await keysOf(from) })).toEqual(rows)
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
  await expect(restore(to.db, streamed(file), { replace: false, keys: [] })).rejects.toThrow(/not empty/)
})

test('rejects an incomplete backup and changes nothing', async () => {
  const { file } = await write(from)
  const before = await to.db.kysely.selectFrom('items').select('ref').orderBy('id').execute()
  for (const broken of [Buffer.from('{"mintmark_backup":1}'), Buffer.alloc(0), file.subarray(0, file.length >> 1)]) {
    await expect(restore(to.db, streamed(broken), { replace: true, keys: [] })).rejects.toThrow(BackupError)
  }
  expect(await to.db.kysely.selectFrom('items').select('ref').orderBy('id').execute()).toEqual(before)
})

test('texts of an erased person stay unreadable in an older backup, and those of everybody else do not', async () => {
  const plan = { plan: 'plus' } as const
  const gone = await call(createAccount, from.ctx, { ...plan, name: 'Gone Account \\ é' })
  const kept = await call(createAccount, from.ctx, { ...plan, name: 'Kept Account \\ é' })
  for (const { id } of [gone, kept]) {
    await call(addCredits, from.ctx, { id, amount: 1, reason: `Reason "of" ${id}` })
    const collection = await call(createCollection, from.ctx, { account_id: id, name: `Cards of ${id}`, description: `\\N\té\n${id}` })
    await call(createKey, from.ctx, { account_id: id, label: `Label ${collection.id}` })
  }
  const { file } = await write(from)
  const text = gunzipSync(file).toString('utf8')
  expect(text).not.toMatch(/Gone|Kept|Reason "of"|Cards of/)
  const older = await keysOf(from)
  await call(erasePerson, from.ctx, { account_id: gone.id, reason: 'request' })
  const erasing = (node: TestNode) => runErasures({ db: node.db, now: node.clock.now, files: openPhotoFiles(node.config), log: silent })
  await until('the erasure is carried out', async () => (await erasing(from)) > 0)
  const keys = await keysOf(from)
  expect(keys.map(({ account_id: id }) => id)).not.toContain(gone.id)
  expect(keys.length).toBeLessThan(older.length)

  await restore(to.db, streamed(file), { replace: true, keys })
  const all = async (node: TestNode, table: 'accounts' | 'collections' | 'credit_entries' | 'audit_log') => {
    const rows = await node.db.kysely.selectFrom(table).selectAll().execute()
    return rows
      .map((row) => JSON.stringify(row))
      .filter((row) => row.includes(String(kept.id)) || row.includes('Gone') || row.includes(`of" ${gone.id}`))
  }
  const restored = (await Promise.all((['accounts', 'collections', 'credit_entries', 'audit_log'] as const).map((table) => all(to, table))))
    .flat()
    .join()
  expect(restored).not.toMatch(new RegExp(`Gone|Reason .* ${gone.id}"|Cards of ${gone.id}"`))
  expect(await to.db.kysely.selectFrom('accounts').select('name').where('id', '=', kept.id).execute()).toEqual([{ name: 'Kept Account \\ é' }])
  expect(await to.db.kysely.selectFrom('collections').select('description').where('account_id', '=', kept.id).execute()).toEqual([
    { description: `\\N\té\n${kept.id}` },
  ])
  expect(restored).toContain(`Reason \\"of\\" ${kept.id}`)
  await until('the erasure is carried out again', async () => (await erasing(to)) > 0)
  expect(await to.db.kysely.selectFrom('collections').select('id').where('account_id', '=', gone.id).execute()).toEqual([])
})
