// What is loaded of each game: items, categories, prices, the sources they come from and what still awaits a match.
import { sql } from 'kysely'
import { notFound } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import { jsonReady } from '#db/json-ready.ts'
import { gameName } from '#games/games.ts'
import { ImportSummarySchema, SUMMARY_COLUMNS } from '#prices/imports/stored-imports.ts'
import { PublicSourceSchema, publicSources } from '#public-sources/list-public-sources.ts'

const LAST_IMPORTS = 5

const time = (description: string) => orNull(Type.String({ format: 'date-time' }), { description })

export const GameSchema = Type.Object(
  {
    game: Type.String({ description: 'Slug of the game', examples: ['pokemon'] }),
    name: Type.String({ description: 'Name of the game; its slug if Mintmark has no data of it', examples: ['Pokémon'] }),
    items: Type.Integer(),
    categories: Type.Integer(),
    waiting: Type.Integer({ description: 'Source records that await a match decision, excluding postponed ones' }),
    postponed: Type.Integer({ description: 'Source records whose decision was postponed' }),
    waiting_sets: Type.Integer({ description: 'Sets that await a match decision' }),
    updated_at: time('When an item of the game last changed'),
  },
  { title: 'Game' },
)
export type Game = Static<typeof GameSchema>

export const GameDetailSchema = Type.Object(
  {
    ...GameSchema.properties,
    prices: Type.Array(
      Type.Object(
        {
          market: Type.Enum([...MARKETS]),
          prices: Type.Integer({ description: 'Current prices' }),
          items: Type.Integer({ description: 'Items with a price' }),
          newest_at: Type.String({ format: 'date-time', description: 'Time of the newest price' }),
        },
        { title: 'GamePrices' },
      ),
      { description: 'By market; markets without prices are omitted' },
    ),
    sources: Type.Array(
      Type.Object(
        {
          source: Type.String({ description: 'Source of the records', examples: ['tcgdex'] }),
          records: Type.Integer({ description: 'Active source records: cards and products with their finish' }),
          import_id: orNull(Type.Integer(), { description: 'Last import that stated something new about them' }),
          format: orNull(Type.String(), { description: 'Format of this import' }),
          imported_at: time('When this import ended'),
        },
        { title: 'GameSource' },
      ),
      { description: 'Sources of the catalogue, most records first' },
    ),
    imports: Type.Array(ImportSummarySchema, { description: `The last ${LAST_IMPORTS} imports of the formats of these sources` }),
    public_sources: Type.Array(PublicSourceSchema, { description: 'Public sources of the game that can be fetched' }),
  },
  { title: 'GameDetail' },
)
export type GameDetail = Static<typeof GameDetailSchema>

type GamesCtx = Pick<WriteCtx, 'db' | 'viewer' | 'now'>

/** Lists the games of the catalogue, and those that only await matches, most items first. */
export const listGames = verb({ name: 'listGames', needs: 'operator', input: Type.Object({}) }, ({ db }: GamesCtx) => games(db.kysely))

/** Reads one game. */
export const readGame = verb(
  {
    name: 'readGame',
    needs: 'operator',
    input: Type.Object({ game: Type.String({ maxLength: 100, description: 'Slug of the game', examples: ['pokemon'] }) }),
  },
  async (ctx: GamesCtx, { game }): Promise<GameDetail> => {
    const on = ctx.db.kysely
    const found = (await games(on)).find((each) => each.game === game)
    if (!found) throw notFound('not_found', { thing: 'game', id: game })
    const sources = await sourcesOf(on, game)
    const [prices, imports, offered] = await Promise.all([pricesOf(on, game), importsOf(on, sources), publicSources(ctx)])
    return { ...found, prices, sources, imports, public_sources: offered.filter((source) => source.game === game) }
  },
)

async function games(on: Queryable): Promise<Game[]> {
  const { rows } = await sql<Omit<Game, 'name' | 'updated_at'> & { updated_at: Date | null }>`
    with counted as (
      select game, count(*) as items, 0 as categories, 0 as waiting, 0 as postponed, 0 as sets, max(updated_at) as updated_at from items group by game
      union all select game, 0, count(*), 0, 0, 0, null from categories group by game
      union all select game, 0, 0, count(*) filter (where not postponed), count(*) filter (where postponed), 0, null from match_queue group by game
      union all select game, 0, 0, 0, 0, count(distinct from_ref), null from match_set_maps where not decided group by game
    )
    select game, sum(items)::int as items, sum(categories)::int as categories, sum(waiting)::int as waiting, sum(postponed)::int as postponed,
      sum(sets)::int as waiting_sets, max(updated_at) as updated_at
    from counted group by game order by items desc, game`.execute(on)
  return rows.map((row) => ({ ...row, name: gameName(row.game), updated_at: row.updated_at?.toISOString() ?? null }))
}

async function pricesOf(on: Queryable, game: string): Promise<GameDetail['prices']> {
  const { rows } = await sql<{ market: number; prices: number; items: number; newest_at: Date }>`
    select p.market, count(*)::int as prices, count(distinct p.item_id)::int as items, max(p.updated_at) as newest_at
    from items i join prices p on p.item_id = i.id where i.game = ${game} group by p.market order by p.market`.execute(on)
  return rows.map(({ market, newest_at: at, ...counts }) => ({ market: MARKETS[market]!, ...counts, newest_at: at.toISOString() }))
}

async function sourcesOf(on: Queryable, game: string): Promise<GameDetail['sources']> {
  const { rows } = await sql<Omit<GameDetail['sources'][number], 'imported_at'> & { imported_at: Date | null }>`
    select s.source, s.records, i.id as import_id, i.format, i.finished_at as imported_at
    from (
      select r.source, count(distinct r.id)::int as records, max(t.import_id) as import_id
      from source_records r left join source_statements t on t.record_id = r.id
      where r.game = ${game} and r.active group by r.source
    ) s left join imports i on i.id = s.import_id
    order by s.records desc, s.source`.execute(on)
  return rows.map((row) => ({ ...row, imported_at: row.imported_at?.toISOString() ?? null }))
}

/** Imports state no game; those of a format with several games are listed with each. */
async function importsOf(on: Queryable, sources: GameDetail['sources']): Promise<GameDetail['imports']> {
  const formats = [...new Set(sources.flatMap(({ format }) => format ?? []))]
  if (formats.length === 0) return []
  const imports = on.selectFrom('imports').select(SUMMARY_COLUMNS).where('format', 'in', formats)
  return (await imports.orderBy('id', 'desc').limit(LAST_IMPORTS).execute()).map((row) => jsonReady(row)) as GameDetail['imports']
}
