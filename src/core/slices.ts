// Long work in slices: whoever waits for the event loop gets a turn between two of them.

/** What one slice may take. */
const SLICE_MS = 2
/** Done before the clock is asked again, unless told. */
const STEP = 250

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
