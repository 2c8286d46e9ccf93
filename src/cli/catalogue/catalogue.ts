// The command `catalogue`: what is loaded of each game.
import type { Command } from 'commander'
import { call } from '#core/verb.ts'
import { type GameDetail, listGames, readGame } from '#stats/games/read-games.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult } from '../terminal/command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'catalogue', 'show what is loaded of each game, or of one')
    .argument('[game]', 'slug of a game, such as pokemon')
    .action((game: string | undefined, options: OutputOptions) =>
      open(async (ctx) => {
        if (game !== undefined) {
          const found = await call(readGame, ctx, { game })
          printResult(print, options, found, textOf(found))
          return
        }
        const games = await call(listGames, ctx, {})
        const rows = games.map((each) => [each.game, each.items, each.categories, each.waiting, each.waiting_sets, each.updated_at])
        printResult(print, options, games, columns(['game', 'items', 'categories', 'waiting', 'waiting sets', 'updated'], rows))
      }),
    )
}

function textOf({ game, items, categories, waiting, waiting_sets: sets, prices, sources, public_sources: offered }: GameDetail): string {
  return [
    `${game}: ${items} items in ${categories} categories; ${waiting} records and ${sets} sets await a match`,
    '',
    columns(
      ['market', 'prices', 'items', 'newest'],
      prices.map((row) => [row.market, row.prices, row.items, row.newest_at]),
    ),
    '',
    columns(
      ['source', 'records', 'format', 'import', 'imported'],
      sources.map((row) => [row.source, row.records, row.format, row.import_id, row.imported_at]),
    ),
    '',
    columns(
      ['public source', 'state', 'checked'],
      offered.map((row) => [row.name, row.state, row.checked_at]),
    ),
  ].join('\n')
}
