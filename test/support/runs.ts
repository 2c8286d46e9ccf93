// How many cases of an expensive property run: `npm run test:all` runs all of them, `npm test` the first quarter.

/** Below this number, fewer cases would hardly be a property. */
const FEWEST = 3

/** @param all number of cases in `npm run test:all` */
export function runs(all: number): number {
  return process.env.TEST_CASES === 'all' ? all : Math.max(Math.min(FEWEST, all), Math.ceil(all / 4))
}
