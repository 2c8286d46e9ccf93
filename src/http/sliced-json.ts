// Writes JSON with long lists in slices: written at once, they would keep the event loop busy for too long.
import { runInSlices } from '#core/yield-to-event-loop.ts'

const LONG_LIST = 1_000
/** Depth to which lists are split: `data` and its fields. */
const LEVELS = 2

/** The same bytes as `JSON.stringify`, built while other requests are served. */
export async function slicedJson(body: object): Promise<Buffer> {
  const parts: Buffer[] = []
  await write(body, LEVELS, parts)
  return Buffer.concat(parts)
}

export function hasLongList(value: unknown, levels = LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length >= LONG_LIST
  return levels > 0 && Object.values(value).some((each) => hasLongList(each, levels - 1))
}

async function write(value: unknown, levels: number, parts: Buffer[]): Promise<void> {
  if (!hasLongList(value, levels)) parts.push(Buffer.from(JSON.stringify(value)))
  else if (Array.isArray(value)) {
    await runInSlices(value.length, (from, to) => {
      parts.push(Buffer.from((from === 0 ? '[' : ',') + JSON.stringify(value.slice(from, to)).slice(1, -1)))
    })
    parts.push(Buffer.from(']'))
  } else {
    let sign = '{'
    for (const [name, each] of Object.entries(value as object)) {
      if (each === undefined) continue
      parts.push(Buffer.from(`${sign}${JSON.stringify(name)}:`))
      await write(each, levels - 1, parts)
      sign = ','
    }
    parts.push(Buffer.from('}'))
  }
}
