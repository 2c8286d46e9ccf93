// The games that the program knows: loaded once, at the start of the process, from the folder `games` beside `src`.
import { fileURLToPath } from 'node:url'
import { type Game, type Games, loadGames } from './load-games.ts'

export type { Game }

export const GAMES: Games = loadGames(fileURLToPath(new URL('../../games', import.meta.url)))

const bySlug = new Map(GAMES.all.map((game) => [game.slug, game]))

/** The game's name; its slug if it has no folder. */
export function gameName(slug: string): string {
  return bySlug.get(slug)?.name ?? slug
}

/** The data of the game; what all games have in common if it has no folder. */
export function gameOf(slug: string): Game {
  return bySlug.get(slug) ?? GAMES.common
}
