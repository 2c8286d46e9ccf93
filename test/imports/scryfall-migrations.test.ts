// Scryfall gives up ids of printings: their items are merged, and stay merged until the import of the migrations is reverted.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rulesIn } from '../support/reasons.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

const card = (id: string, number: string, more: object = {}) => ({
  object: 'card',
  id,
  scryfall_uri: `https://scryfall.example/${id}`,
  name: `Test ${number}`,
  lang: 'en',
  set: 'tst',
  set_name: 'Test',
  collector_number: number,
  finishes: ['nonfoil', 'foil'],
  ...more,
})
const CARDS = JSON.stringify([
  card('old', '1'),
  card('new', '1★'),
  card('other', '2'),
  card('ja-old', '3', { lang: 'ja' }),
  card('ja-new', '3', { lang: 'ja', set: 'tst2', set_name: 'Test 2' }),
])
const migration = (from: string, into: string | null, lang = 'en') => ({
  object: 'migration',
  id: `${from}-${into}`,
  migration_strategy: into === null ? 'delete' : 'merge',
  old_scryfall_id: from,
  new_scryfall_id: into,
  metadata: { lang },
})
const MIGRATIONS = JSON.stringify({
  object: 'list',
  has_more: false,
  data: [
    migration('old', 'new'),
    migration('ja-old', 'ja-new', 'ja'),
    migration('other', null),
    migration('unknown', null),
    migration('unknown', 'new'),
    migration('other', 'unknown'),
    { object: 'migration', migration_strategy: 'merge', old_scryfall_id: 'x' },
  ],
})

beforeAll(async () => {
  node = await startTestNode({ listeners: 'operator' })
})
afterAll(() => node.close())

async function refs(): Promise<string[]> {
  const rows = await node.db.kysely.selectFrom('items').select('ref').orderBy('ref').execute()
  return rows.map(({ ref }) => ref.replace('scryfall:', ''))
}

const SEPARATE = ['ja:ja-new', 'ja:ja-new:holo', 'ja:ja-old', 'ja:ja-old:holo', 'new', 'new:holo', 'old', 'old:holo', 'other', 'other:holo']

test('a merge moves the items of the older id, a deletion leaves its item to an operator', async () => {
  await importText(node, 'scryfall', CARDS)
  expect(await refs()).toEqual(SEPARATE)
  const report = await importText(node, 'scryfall', MIGRATIONS)
  expect(report.errors.map(({ row, rule, params }) => `${row} ${rulesIn({ rule: rule!, params: params! })}`)).toEqual([
    '7 lacks card x new_scryfall_id',
    '3 id_withdrawn scryfall other',
    '6 no_foreign_id scryfall unknown',
  ])
  const merged = await refs()
  expect(merged).toHaveLength(6)
  const { rows } = await sql<{ foreign_id: string }>`
    select f.foreign_id from item_foreign_ids f join items i on i.id = f.item_id
    where i.code in ('1', '1★') and f.source = 'scryfall' and f.finish = 'holo'`.execute(node.db.kysely)
  expect(rows.map((row) => row.foreign_id).sort()).toEqual(['new', 'old'])

  for (const [text, what] of [
    [MIGRATIONS, 'migrations'],
    [CARDS, 'cards'],
  ] as const) {
    const again = await importText(node, 'scryfall', text)
    expect([what, again.counts.created, again.counts.updated, await refs()]).toEqual([what, 0, 0, merged])
  }

  const revert = async (id: number) => {
    const { status, body } = await send<{ id: number }>(`${node.operatorUrl}/operator/v1/imports/${id}/revert`, OPERATOR_TOKEN, { json: {} })
    expect(status).toBe(200)
    return body.data.id
  }
  const last = await node.db.kysely.selectFrom('imports').select('id').where('format', '=', 'scryfall').orderBy('id').execute()
  // The migrations were imported twice: both imports state them.
  await revert(last[2]!.id)
  expect(await refs()).toEqual(merged)
  const reverted = await revert(report.id)
  expect(await refs()).toEqual(SEPARATE)
  await revert(reverted)
  expect(await refs()).toEqual(merged)
})
