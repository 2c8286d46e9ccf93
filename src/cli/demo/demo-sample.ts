// The files of the sample catalogue with current dates: each price is from the last day, at its time of day.
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { DAY_MS } from '#core/duration.ts'
import type { ImportFile } from '#imports/files.ts'

const NAMES = ['pokemon.ndjson', 'onepiece.ndjson']
const TIME = /"updated_at":"([^"]+)"/g

/** The files, so that a demo made at any time has current prices. */
export function demoSample(now: Date): ImportFile[] {
  return NAMES.map((name) => ({ name, size: null, open: () => Readable.from([Buffer.from(dated(name, now.getTime()))]) }))
}

function dated(name: string, nowMs: number): string {
  const text = readFileSync(new URL(`../../../sample/${name}`, import.meta.url), 'utf8')
  return text.replaceAll(TIME, (_all, time: string) => {
    const days = Math.floor((nowMs - Date.parse(time)) / DAY_MS)
    return `"updated_at":"${new Date(Date.parse(time) + days * DAY_MS).toISOString()}"`
  })
}
