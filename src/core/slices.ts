// Long work in slices, so that other work of the event loop runs between two of them.

/** What one slice may take. */
const SLICE_MS = 2
/** Done before the clock is asked again, unless told. */
const STEP = 50

/**
 * Works through `count` things, told which ones each time (`from` included, `to` not), and gives way every 2 ms.
 * @param step how many are done before the clock is asked again: 1 where each takes long
 */
export async function inSlices(count: number, work: (from: number, to: number) => void, step = STEP): Promise<void> {
  let since = performance.now()
  for (let from = 0; from < count; from += step) {
    if (performance.now() - since >= SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve))
      since = performance.now()
    }
    work(from, Math.min(count, from + step))
  }
}

/** Rows that a query gives at once: while a larger answer arrives, nothing else is read. */
const PART = 1_000

/** What `read` gives for parts of a list, one after the other. */
export async function inParts<T, Row>(list: readonly T[], read: (part: T[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for (let from = 0; from < list.length; from += PART) rows.push(...(await read(list.slice(from, from + PART))))
  return rows
}
