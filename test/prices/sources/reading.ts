// Reads fixtures and the real reference files through a price format, for the tests of the formats.
import { createReadStream, existsSync } from 'node:fs'
import { it } from 'vitest'
import { gunzip } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { ruleOf } from '../../support/reasons.ts'
import type { FeedRow, PriceFormat } from '#prices/records/feed-rows.ts'

const REFERENCE = new URL('../../../../shared/data/', import.meta.url)

export const NOW_MS = Date.UTC(2026, 10, 21)

/** All rows that a format returns for a text; the bytes come in pieces of seven, so that nothing depends on chunk boundaries. */
export async function readText(format: PriceFormat, text: string, market: Market | null = null): Promise<FeedRow[]> {
  async function* pieces() {
    const bytes = new TextEncoder().encode(text)
    for (let i = 0; i < bytes.length; i += 7) yield bytes.subarray(i, i + 7)
  }
  return (await Array.fromAsync(format.read({ bytes: pieces(), fileName: null }, { market, nowMs: NOW_MS }))).flat()
}

/** The rows as short text, one per line: `2 tcgplayer:129888 Near Mint source_c 399.01 2024-02-08T00:00:00.000Z`. */
export async function readShort(format: PriceFormat, text: string, market: Market | null = null): Promise<string[]> {
  return (await readText(format, text, market)).map(short)
}

function short(row: FeedRow): string {
  if ('reject' in row) return `${row.line} reject ${ruleOf(row.reject)}`
  if ('none' in row) return `${row.line} none`
  const { item } = row
  const name = 'anyOf' in item ? (item.name ?? '') : 'ref' in item ? item.ref : [item.source, item.id, item.finish].filter((part) => part).join(':')
  const price = (row.priceMinor / 100).toFixed(2)
  return `${row.line} ${name} ${row.label} ${row.market} ${price} ${new Date(row.updatedAtMs).toISOString()}`
}

export interface Counts {
  lines: number
  prices: number
  none: number
  /** number of rejections by rule */
  rejects: Record<string, number>
}

/** A test of a real file; skipped if the reference data is not available. */
export function itReads(format: PriceFormat, file: string, check: (counts: Counts) => void) {
  const url = new URL(file, REFERENCE)
  it.skipIf(!existsSync(url))(`reads ${file} (skipped without ../shared/data)`, { tags: 'slow' }, async () => {
    const raw = createReadStream(url)
    const bytes = file.endsWith('.gz') ? gunzip(raw) : raw
    const counts: Counts = { lines: 0, prices: 0, none: 0, rejects: {} }
    let line = 0
    for await (const rows of format.read({ bytes, fileName: file }, { market: null, nowMs: NOW_MS })) {
      for (const row of rows) {
        if (row.line !== line) counts.lines += 1
        line = row.line
        if ('reject' in row) {
          const reason = ruleOf({ ...row.reject, params: {} })
          counts.rejects[reason] = (counts.rejects[reason] ?? 0) + 1
        } else if ('none' in row) counts.none += 1
        else counts.prices += 1
      }
    }
    check(counts)
  })
}
