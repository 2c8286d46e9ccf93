// Writes JSON with long lists in slices: written at once, they would keep the event loop busy for too long.
import { runInSlices } from '#core/yield-to-event-loop.ts'

const LONG_LIST = 1_000
/** Depth to which lists are split: `data` and its fields. */
const LEVELS = 2

/** The same bytes as `JSON.stringify`, built while other requests are served. @param change applied to each part before it is written */
export async function slicedJson(body: object, change: (part: unknown) => unknown): Promise<Buffer> {
  const parts: Buffer[] = []
  await write(body, LEVELS, { parts, change })
  return Buffer.concat(parts)
}

export function hasLongList(value: unknown, levels = LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length >= LONG_LIST
  return levels > 0 && Object.values(value).some((each) => hasLongList(each, levels - 1))
}

interface Writing {
  parts: Buffer[]
  change: (part: unknown) => unknown
}

async function write(value: unknown, levels: number, writing: Writing): Promise<void> {
  const { parts, change } = writing
  if (!hasLongList(value, levels)) parts.push(Buffer.from(JSON.stringify(change(value))))
  else if (Array.isArray(value)) {
    await runInSlices(value.length, (from, to) => {
      parts.push(Buffer.from((from === 0 ? '[' : ',') + JSON.stringify(change(value.slice(from, to))).slice(1, -1)))
    })
    parts.push(Buffer.from(']'))
  } else {
    const all = Object.entries(value as object).filter(([, each]) => each !== undefined)
    const isLong = Object.fromEntries(all.map(([name, each]) => [name, hasLongList(each, levels - 1)]))
    const short = change(Object.fromEntries(all.filter(([name]) => !isLong[name]))) as Record<string, unknown>
    let sign = '{'
    for (const [name, each] of all) {
      parts.push(Buffer.from(`${sign}${JSON.stringify(name)}:`))
      if (isLong[name]) await write(each, levels - 1, writing)
      else parts.push(Buffer.from(JSON.stringify(short[name])))
      sign = ','
    }
    parts.push(Buffer.from('}'))
  }
}
