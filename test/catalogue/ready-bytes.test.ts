// Pages of a catalogue much larger than its cache of serialised items.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { readConfig } from '#config.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { freshDatabase } from '../support/postgres.ts'
import { runs } from '../support/runs.ts'

const ITEMS = 6_000
const PER_PAGE = 50
const ROUNDS = runs(2_000)

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Db

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
})

afterAll(async () => {
  await db.close()
  await database.drop()
})

test('every page is complete, whatever is evicted while it is built', async () => {
  await sql`insert into categories (id, market, ref, name, slug, game) overriding system value values (1, 'service', 'set', 'Set', 'set', 'pokemon')`.execute(
    db.kysely,
  )
  await sql`
    insert into items (id, market, ref, name, slug, genre, game, category_id, attributes) overriding system value
    select n, 'service', 'item-' || n, 'Item ' || n, 'item-' || n, 'single', 'pokemon', 1,
      jsonb_build_array(jsonb_build_object('name', 'Text', 'value', repeat('x', 600 + n % 7 * 100)))
    from generate_series(1, ${ITEMS}::int) n`.execute(db.kysely)
  const catalogue = new Catalogue(db, { ...readConfig({}), readyBytesMb: 3, now: () => new Date() })
  await catalogue.load()
  for (let round = 0; round < ROUNDS; round += 1) {
    // Some items of a page were requested recently, others long ago.
    const rows = Int32Array.from({ length: PER_PAGE }, (_, i) => (i % 2 ? round * 3 + i : (round % 50) * 20 + i) % ITEMS)
    const page = JSON.parse(catalogue.pageBytes(rows, 'full', round % 2 ? 0 : null, '[', ']').toString()) as { id: number }[]
    if (page.some(({ id }, i) => id !== catalogue.items.id[rows[i]!])) expect(page.map(({ id }) => id)).toEqual([...rows].map((row) => row + 1))
    if (round % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(catalogue.memory().ready).toBeLessThan(3 * 2 ** 20)
})
