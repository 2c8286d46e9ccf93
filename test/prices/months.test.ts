// Months of the price history that several nodes create at the same moment.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { ensureMonths } from '#prices/records/months.ts'
import { PATIENT } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

const NODES = 4
const MONTHS = 12

let database: Awaited<ReturnType<typeof freshDatabase>>
let nodes: Db[]

beforeAll(async () => {
  database = await freshDatabase()
  nodes = Array.from({ length: NODES }, () => openPool<Schema>({ url: database.url, max: 2, applicationName: 'mintmark test', ...PATIENT }))
})

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  await database.drop()
})

test('each partition is created once, and concurrent calls do not fail', async () => {
  for (let month = 0; month < MONTHS; month += 1) {
    const times = [Date.UTC(2030, month, 15)]
    await Promise.all(nodes.map((node) => ensureMonths(node, node.kysely, times)))
  }
  const tables = await nodes[0]!.kysely.introspection.getTables()
  expect(tables.filter(({ name }) => name.startsWith('price_points_2030'))).toHaveLength(MONTHS)
})
