// `node bench/search/lookup.ts [seconds]`: look-ups of 500 identifiers each: ids of other systems, sets and numbers, and both kinds.
import { sql } from 'kysely'
import type { BenchDatabase } from '../database.ts'
import { sending } from '../load.ts'
import { measureOnRealCatalogue } from './on-real-catalogue.ts'

const IDS = 500
const LISTS = 40
const PER_SECOND = 10
const GOAL_MS = 20

type Identifier = Record<string, string>

await measureOnRealCatalogue(
  [
    { title: '500 ids of other systems', requests: (database: BenchDatabase) => lists(database, byId) },
    { title: '500 sets and numbers', requests: (database: BenchDatabase) => lists(database, bySet) },
    { title: '500 of both kinds', requests: (database: BenchDatabase) => lists(database, (row, n) => (n % 2 === 0 ? byId(row) : bySet(row))) },
  ].flatMap((one) =>
    (['starter', 'professional'] as const).map((plan) => ({ ...one, title: `${one.title}, ${plan}`, plan, perSecond: PER_SECOND, goalMs: GOAL_MS })),
  ),
  Number(process.argv[2] ?? 20),
)

interface Row {
  source: string
  foreign_id: string
  finish: string
  set: string
  code: string
}

function byId({ source, foreign_id: id, finish }: Row): Identifier {
  return { source, id, ...(finish !== '' && { finish }) }
}

function bySet({ set, code, finish }: Row): Identifier {
  return { set, number: code, ...(finish !== '' && { finish }) }
}

async function lists({ ctx }: BenchDatabase, identifierOf: (row: Row, n: number) => Identifier): Promise<string[]> {
  const { rows } = await sql<Row>`
    select f.source, f.foreign_id, f.finish, c.name as set, i.code from item_foreign_ids f
    join items i on i.id = f.item_id join categories c on c.id = i.category_id
    where i.code is not null order by md5(f.source || f.foreign_id || f.finish || f.item_id) limit ${IDS * LISTS}`.execute(ctx.db.kysely)
  return Array.from({ length: LISTS }, (_, list) =>
    sending('POST', '/api/v1/items/lookup', { ids: rows.slice(list * IDS, (list + 1) * IDS).map((row, n) => identifierOf(row, n)) }),
  )
}
