// Export and import are inverse: importing the export of one database into an empty one gives the same export, byte for byte.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportCatalogue, type ExportFilter } from '#catalogue/export.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { call } from '#core/verb.ts'
import { changeSource } from '#prices/reviews/change-source.ts'
import { importFiles, importText, startTestNode, type TestNode } from '../support/node.ts'

const SAMPLES = ['pokemon', 'onepiece'].map((name) => {
  return { name, text: readFileSync(new URL(`../../sample/${name}.ndjson`, import.meta.url), 'utf8') }
})

let first: TestNode
let second: TestNode

beforeAll(async () => {
  first = await startTestNode({ listeners: 'none' })
  second = await startTestNode({ listeners: 'none' })
})
afterAll(async () => {
  await first.close()
  await second.close()
})

async function exported(node: TestNode, filter: ExportFilter = {}): Promise<string> {
  let text = ''
  for await (const chunk of exportCatalogue(node.db, { allPrices: true, ...filter })) text += chunk
  return text
}

test('export, import into an empty database and export again gives the same bytes', async () => {
  expect(await exported(first)).toBe('')
  await importFiles(first, 'mintmark-ndjson', SAMPLES)
  const { id } = await first.db.kysely.selectFrom('categories').select('id').where('market', '=', 'source_c').limit(1).executeTakeFirstOrThrow()
  await call(createItem, first.ctx, {
    ref: 'ı:İ "quoted" \\ back',
    name: 'Línea',
    market: 'source_c',
    category_id: id,
    code: null,
    images: [{ url: 'https://x.test/1.png', order: 7 }],
    foreign_ids: [
      { source: 'b', id: '2' },
      { source: 'a', id: '1', finish: 'holo' },
    ],
  })
  await importText(
    first,
    'mintmark-prices-csv',
    'item_ref,market,label,price,updated_at\n"ı:İ ""quoted"" \\ back",source_b,TAG 8.5,3.10,2026-01-01T00:00:00.123Z\n',
  )
  const text = await exported(first)
  expect(text).toContain('{"market":"source_b","label":"TAG 8.5","price":"3.10","updated_at":"2026-01-01T00:00:00.123Z"}')
  const report = await importText(second, 'mintmark-ndjson', text)
  expect([report.status, report.errors, report.counts.held]).toEqual(['done', [], 0])
  expect(await exported(second)).toBe(text)
  expect((await importText(second, 'mintmark-ndjson', text)).counts).toMatchObject({ created: 0, updated: 0, accepted: 0 })
})

test('without all prices, it has those of sources that may be passed on', async () => {
  const shared = await exported(first, { allPrices: false })
  expect(shared).not.toContain('"source_b","label":"TAG 8.5"')
  await call(changeSource, first.ctx, { market: 'source_b', use: 'redistribute' })
  expect(await exported(first, { allPrices: false })).toContain('"source_b","label":"TAG 8.5"')
})

test('a filtered export includes the categories that its items need', async () => {
  const text = await exported(first, { game: 'onepiece' })
  const third = await startTestNode({ listeners: 'none' })
  try {
    expect((await importText(third, 'mintmark-ndjson', text)).errors).toEqual([])
    expect(await exported(third)).toBe(text)
    expect(await exported(third, { market: 'service' })).toBe('')
  } finally {
    await third.close()
  }
})
