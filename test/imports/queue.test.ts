// Threads of uploaded imports: one that crashes fails its import with a reason and writes none of its rows; one that ended well runs the next.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ImportQueue } from '#imports/queue.ts'
import { openImport } from '#prices/imports/imports.ts'
import { silent, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
let threadStarts = 0
process.on('worker', countStart)

function countStart(): void {
  threadStarts += 1
}

const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-queue-'))

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
})

afterAll(async () => {
  process.off('worker', countStart)
  await node.close()
  rmSync(dataDir, { recursive: true })
})

function category(n: number): string {
  const record = { type: 'category', market: 'source_c', ref: `queue:${n}`, name: `Queue ${n}`, game: 'pokemon', parent: null, image: null }
  return `${JSON.stringify(record)}\n`
}

/** Imports a file with this many categories, from the given number on. @returns the import's row when it has ended */
async function importCategories(count: number, { heapMb = 192, first = 0 } = {}) {
  const queue = new ImportQueue({ db: node.db, log: silent, now: node.clock.now, dataDir, heapMb })
  try {
    async function* file() {
      for (let n = first; n < first + count; n += 1) yield Buffer.from(category(n))
    }
    const upload = await queue.store(file())
    const format = 'mintmark-ndjson'
    const importId = await openImport(
      node.db.kysely,
      { format, market: null, fileName: null, author: 'test', dryRun: false, status: 'queued' },
      node.clock.now(),
    )
    const viewer = { kind: 'operator', name: 'test' } as const
    const { path, size } = upload
    await queue.add({
      importId,
      format,
      files: [{ path, name: format, size }],
      keepFiles: false,
      market: null,
      mapping: null,
      dryRun: false,
      acceptDrift: false,
      rules: node.config.priceRules,
      viewer,
      requestId: null,
      clockOffsetMs: 0,
    })
    const row = () => node.db.kysely.selectFrom('imports').selectAll().where('id', '=', importId).executeTakeFirstOrThrow()
    await until('the import is over', async () => ['done', 'failed'].includes((await row()).status))
    // The queue removes the upload once the thread can run the next import.
    await until('its upload is removed', () => !existsSync(path))
    return await row()
  } finally {
    await queue.close()
  }
}

const stored = () => node.db.kysely.selectFrom('categories').selectAll().where('ref', 'like', 'queue:%').execute()

test('an import that needs more memory than available fails, and nothing else does', { tags: 'slow' }, async () => {
  const failed = await importCategories(30_000, { heapMb: 16 })
  expect(failed).toMatchObject({ status: 'failed', created: 0, rule: 'import_memory', params: { max: 16 } })
  expect(await stored()).toEqual([])
  expect(await importCategories(3)).toMatchObject({ status: 'done', created: 3, message: null })
  expect(await stored()).toHaveLength(3)
})

test('the next import runs in the same thread, also after its queue has closed, and an import that fails leaves it', async () => {
  expect(await importCategories(2, { first: 10 })).toMatchObject({ status: 'done', created: 2 })
  const before = threadStarts
  expect(await importCategories(0)).toMatchObject({ status: 'failed', rule: 'file_empty' })
  expect(await importCategories(2, { first: 10 })).toMatchObject({ status: 'done', created: 0, unchanged: 2 })
  expect(threadStarts).toBe(before)
})
