// The command `games`: what is loaded of each game, and what the folders of games state.
import type { Command } from 'commander'
import { call } from '#core/verb.ts'
import { type Game, GAMES } from '#games/games.ts'
import { type GameDetail, listGames, readGame } from '#stats/games/read-games.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult, wrongUsage } from '../terminal/command.ts'

interface GamesOptions extends OutputOptions {
  data?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const command = addCommand(program, 'games', 'show what is loaded of each game, or of one')
    .argument('[game]', 'slug of a game, such as pokemon')
    .option('--data', 'check the data of all games and list it, without the database')
    .action((game: string | undefined, options: GamesOptions) => {
      if (options.data) {
        if (game !== undefined) wrongUsage(command, '--data lists all games')
        return printData(options, print)
      }
      return open(async (ctx) => {
        if (game !== undefined) {
          const found = await call(readGame, ctx, { game })
          printResult(print, options, found, textOf(found))
          return
        }
        const games = await call(listGames, ctx, {})
        const rows = games.map((each) => [each.game, each.name, each.items, each.categories, each.waiting, each.waiting_sets, each.updated_at])
        printResult(print, options, games, columns(['game', 'name', 'items', 'categories', 'waiting', 'waiting sets', 'updated'], rows))
      })
    })
}

/** Invalid data stops every command before it runs, with the file and the field. */
function printData(options: GamesOptions, print: Print): void {
  const all = GAMES.all.map(summaryOf)
  const rows = all.map(({ slug, name, rarities, number_forms: forms, foils }) => [slug, name, rarities, forms, foils.join(', ')])
  printResult(print, options, all, columns(['game', 'name', 'rarities', 'number forms', 'foils'], rows))
}

function summaryOf({ slug, name, ranks, numbers, finishes }: Game) {
  return { slug, name, rarities: ranks.size, number_forms: numbers.forms.length, foils: finishes.foils }
}

function textOf({ name, items, categories, waiting, waiting_sets: sets, prices, sources, public_sources: offered }: GameDetail): string {
  return [
    `${name}: ${items} items in ${categories} categories; ${waiting} records and ${sets} sets await a match`,
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
