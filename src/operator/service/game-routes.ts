// Operator API: what is loaded of each game.
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { type Game, type GameDetail, GameDetailSchema, GameSchema, listGames, readGame } from '#stats/games/read-games.ts'

const tag = 'Catalogue'

export const gameRoutes: Route<WriteCtx>[] = [
  {
    method: 'GET',
    path: '/games',
    verb: listGames,
    summary: 'List games with their items, categories and records that await a match',
    tag,
    answer: (games: Game[]) => ({ data: games }),
    data: Type.Array(GameSchema),
  },
  {
    method: 'GET',
    path: '/games/:game',
    verb: readGame,
    summary: 'Read a game: prices by market, sources, last imports and public sources',
    tag,
    answer: (game: GameDetail) => ({ data: game }),
    data: GameDetailSchema,
    errors: ['NOT_FOUND'],
  },
]
