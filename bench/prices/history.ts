// `node bench/prices/history.ts`: compares every month of the real daily prices with values computed from the file, and measures reads.
import { createReadStream, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { csvRows, gunzip } from '#core/files/feed.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { INTERVALS, periodsOf } from '#prices/history/history.ts'
import { startDatabaseServer } from '../database.ts'
import { hasRealData, importRealData } from '../real-data.ts'

const FILE = new URL('../../../shared/data/prices/pokemon-sealed-daily-usd.csv.gz', import.meta.url)
const READS = 300

if (!hasRealData() || !existsSync(FILE)) {
  console.log('Real data not found; skipping the measurement')
  process.exit(0)
}

interface Month {
  open: number
  low: number
  high: number
  close: number
}

const server = await startDatabaseServer()
try {
  const { ctx, close } = await server.create('history')
  const on = ctx.db.kysely
  const history = { db: ctx.db, archive: openPriceArchive({ archiveDir: join(tmpdir(), 'mintmark-no-archive'), dumpsS3: null }) }
  await importRealData(ctx, ({ file, accepted }) => console.log(`${file}: ${accepted} prices`), ['tcgplayer-sealed', 'sealed-daily'])
  const { rows: foreignIds } = await sql<{ foreign_id: string; item_id: number }>`
    select foreign_id, item_id from item_foreign_ids where source = 'tcgplayer'`.execute(on)
  const itemOf = new Map(foreignIds.map(({ foreign_id: id, item_id: item }) => [id, item]))
  const { rows: held } = await sql<{ item_id: number; day: string }>`select item_id, updated_at::date::text as day from held_prices`.execute(on)
  const waits = new Set(held.map(({ item_id: item, day }) => `${item} ${day}`))
  const daily = await pricesByItem((product, day) => {
    const item = itemOf.get(product)
    return item === undefined || waits.has(`${item} ${day}`) ? null : item
  })

  let months = 0
  let wrong = 0
  const window = { market: 'source_c', label: 'Near Mint', from: new Date('1970-01-01'), to: new Date('2026-11-22') } as const
  for (const [item, prices] of daily) {
    const expected = monthsOf(prices)
    const answered = new Map((await periodsOf(history, item, { ...window, interval: 'month' })).map((period) => [period.date.slice(0, 7), period]))
    for (const [month, { open, low, high, close }] of expected) {
      months += 1
      const found = answered.get(month)
      // A month without a change is not returned.
      const same = found ? found.open === open && found.low === low && found.high === high && found.close === close : low === high
      if (!same) {
        wrong += 1
        if (wrong <= 10) console.log(`item ${item}, ${month}: ${JSON.stringify(found)} instead of ${JSON.stringify({ open, low, high, close })}`)
      }
      answered.delete(month)
    }
    wrong += answered.size
  }
  console.log(`${months} months of ${daily.size} products: ${months - wrong} right (${(((months - wrong) / months) * 100).toFixed(2)} %)`)

  const [longest] = [...daily].sort(([, a], [, b]) => b.size - a.size)[0]!
  for (const [name, from] of Object.entries({
    'two years': new Date('2024-01-01'),
    'since 1970': window.from,
    'the last month': new Date('2025-09-15'),
  })) {
    const times: string[] = []
    for (const interval of INTERVALS) times.push(`${interval} ${await median(() => periodsOf(history, longest, { ...window, from, interval }))} ms`)
    console.log(`One label, ${name}: ${times.join(', ')} (median of ${READS})`)
  }
  await close()
} finally {
  await server.close()
}

/** Prices by day, oldest first, for each item. */
async function pricesByItem(itemOf: (product: string, day: string) => number | null): Promise<Map<number, Map<string, number>>> {
  const byItem = new Map<number, Map<string, number>>()
  const source = { bytes: gunzip(createReadStream(fileURLToPath(FILE))), fileName: null }
  for await (const lines of csvRows(source, ['productId', 'date', 'marketPrice'])) {
    for (const line of lines) {
      if (!('value' in line)) continue
      const { productId, date, marketPrice } = line.value as Record<'productId' | 'date' | 'marketPrice', string>
      const item = itemOf(productId, date)
      const price = Number(marketPrice)
      if (item === null || !(price > 0)) continue
      const prices = byItem.get(item) ?? new Map<string, number>()
      byItem.set(item, prices.set(date, price))
    }
  }
  return new Map([...byItem].map(([item, prices]) => [item, new Map([...prices].sort(([a], [b]) => (a < b ? -1 : 1)))]))
}

/** Values by month, from the first price to the last; a price holds until the next one. */
function monthsOf(prices: ReadonlyMap<string, number>): Map<string, Month> {
  const months = new Map<string, Month>()
  let before: number | null = null
  for (const [day, price] of prices) {
    const month = day.slice(0, 7)
    const soFar = months.get(month)
    if (soFar) months.set(month, { ...soFar, low: Math.min(soFar.low, price), high: Math.max(soFar.high, price), close: price })
    else {
      const open = before === null || day.endsWith('-01') ? price : before
      months.set(month, { open, low: Math.min(open, price), high: Math.max(open, price), close: price })
    }
    before = price
  }
  return months
}

async function median(read: () => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (let i = 0; i < READS; i += 1) {
    const started = performance.now()
    await read()
    times.push(performance.now() - started)
  }
  return times.sort((a, b) => a - b)[READS / 2]!.toFixed(2)
}
