// How many cases of an expensive property or table run: `npm run test:all` runs all of them, `npm test` a part.

/** Whether this is `npm run test:all`. */
export const ALL_CASES = process.env.TEST_CASES === 'all'

/** Below this number, fewer cases would hardly be a property. */
const FEWEST = 3
/** `npm test` runs one case out of this many. */
const ONE_OF = 10

/**
 * The cases of a matrix for one of its rows: all of them in `npm run test:all`; otherwise some, so that consecutive rows cover all.
 * @param row position of the row
 */
export function casesOf<T>(all: readonly T[], row: number): T[] {
  if (ALL_CASES) return [...all]
  return Array.from({ length: Math.min(FEWEST, all.length) }, (_, n) => all[(row * FEWEST + n) % all.length]!)
}

/**
 * Rows of a table in which every row proves the same rule for another operation: all of them in `npm run test:all`, otherwise one out of
 * some, spread over the table.
 */
export function rowsOf<T>(all: readonly T[], oneOf = ONE_OF): T[] {
  return ALL_CASES ? [...all] : all.filter((_, row) => row % oneOf === 0)
}

/** @param all number of cases in `npm run test:all` */
export function runs(all: number): number {
  return ALL_CASES ? all : Math.max(Math.min(FEWEST, all), Math.ceil(all / ONE_OF))
}
