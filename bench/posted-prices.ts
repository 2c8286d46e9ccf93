// Prices that arrive during a measurement, like those of a feed: ten batches of 100 changed prices a second.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { postPrices } from '#catalogue/items/post-prices.ts'
import { readConfig } from '#config.ts'
import { MARKETS } from '#core/markets.ts'
import { call } from '#core/verb.ts'
import type { BenchDatabase } from './database.ts'

const BATCHES_PER_SECOND = 10
const BATCH = 100

/** Posts batches of changed prices like a feed until stopped. */
export function postingPrices({ ctx }: BenchDatabase): { stop: () => Promise<void> } {
  let stopped = false
  const run = async () => {
    const { rows } = await sql<{ id: number; market: number; label: string; price: number }>`
      select p.item_id as id, p.market, g.name as label, p.price::float8 as price from prices p join groups g on g.id = p.label_id
      order by p.item_id limit 20000`.execute(ctx.db.kysely)
    const { priceRules: rules } = readConfig({})
    const post = (prices: object[]) => call(postPrices, { ...ctx, rules, imports: undefined as never }, { prices } as never)
    for (let batch = 1, due = performance.now(); !stopped; batch += 1) {
      due += 1_000 / BATCHES_PER_SECOND
      const at = new Date().toISOString()
      await post(
        Array.from({ length: BATCH }, (_, i) => {
          const { id, market, label, price } = rows[(batch * 7_919 + i * 101) % rows.length]!
          return { item_id: id, market: MARKETS[market], label, price: Number((price * (1 + (batch % 5) / 50) + 0.01).toFixed(2)), updated_at: at }
        }),
      )
      await delay(Math.max(0, due - performance.now()))
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopped = true
      await running
    },
  }
}
