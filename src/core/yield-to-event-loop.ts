// Long work in slices, so that other work of the event loop runs between two of them.
import { monotonicMs } from '#core/process/time-and-chance.ts'

/** Maximum duration of a slice. */
const SLICE_MS = 2
/** Units of work between two checks of the clock, unless set. */
const STEP = 50

/**
 * Processes `count` units in ranges (`from` inclusive, `to` exclusive), and yields to the event loop every 2 ms.
 * @param step units between two checks of the clock: 1 if each takes long
 */
export async function runInSlices(count: number, work: (from: number, to: number) => void, step = STEP): Promise<void> {
  // The caller may already have blocked the event loop: yield before the first step, unless it is the only one.
  let since = count > step ? -Infinity : monotonicMs()
  for (let from = 0; from < count; from += step) {
    if (monotonicMs() - since >= SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve))
      since = monotonicMs()
    }
    work(from, Math.min(count, from + step))
  }
}

/**
 * Rows per statement of a long write or read: parameters and results of more rows would occupy the event loop for too long, and all of them are live
 * while the statement runs, so that collections of short-lived objects take long.
 */
export const ROWS_AT_ONCE = 250

/** The results of `read` for consecutive parts of a list. */
export async function readInParts<T, Row>(list: readonly T[], read: (part: T[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for (let from = 0; from < list.length; from += ROWS_AT_ONCE) rows.push(...(await read(list.slice(from, from + ROWS_AT_ONCE))))
  return rows
}
