// The command `games`: the games that the program knows, and what their folders state.
import type { Command } from 'commander'
import { type Game, GAMES } from '#games/games.ts'
import { addCommand, columns, type OutputOptions, type Print, printResult } from '../terminal/command.ts'

export function register(program: Command, print: Print): void {
  // Invalid data stops every command before it runs, with the file and the field.
  addCommand(program, 'games', 'check the data of all games and list them').action((options: OutputOptions) => {
    const all = GAMES.all.map(summaryOf)
    const rows = all.map(({ slug, name, rarities, number_forms: forms, foils }) => [slug, name, String(rarities), String(forms), foils.join(', ')])
    printResult(print, options, all, columns(['GAME', 'NAME', 'RARITIES', 'NUMBER FORMS', 'FOILS'], rows))
  })
}

function summaryOf({ slug, name, ranks, numbers, finishes }: Game) {
  return { slug, name, rarities: ranks.size, number_forms: numbers.forms.length, foils: finishes.foils }
}
