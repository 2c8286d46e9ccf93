// Prices that arrive during a measurement, like those of a feed: ten batches of 100 changed prices a second.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { postPrices } from '#catalogue/items/post-prices.ts'
import { readConfig } from '#config.ts'
import { MARKETS } from '#core/markets.ts'
import { call } from '#core/verb.ts'
import { dataOf } from './answers.ts'
import type { BenchDatabase } from './database.ts'
import type { Server } from './processes.ts'

const BATCHES_PER_SECOND = 10
const BATCH = 100
/** A price that is not shown by then is counted with this time. */
const GIVEN_UP_MS = 2_000

interface Posted {
  item_id: number
  market: string
  label: string
  price: number
}

/**
 * Posts batches of changed prices like a feed until stopped.
 * @param node the node that is asked for the last price of each batch
 * @returns `stop`, which returns after how many milliseconds REST and GraphQL of the node showed it
 */
export function postingPrices({ ctx, accounts }: BenchDatabase, node: Server): { stop: () => Promise<number[]> } {
  let stopped = false
  const shown: Promise<number>[] = []
  const { key } = accounts.professional
  const run = async () => {
    const { rows } = await sql<{ id: number; market: number; label: string; price: number }>`
      select p.item_id as id, p.market, g.name as label, p.price::float8 as price from prices p join groups g on g.id = p.label_id
      order by p.item_id limit 20000`.execute(ctx.db.kysely)
    const { priceRules: rules } = readConfig({})
    const post = (prices: object[]) => call(postPrices, { ...ctx, rules, imports: undefined as never }, { prices } as never)
    for (let batch = 1, due = performance.now(); !stopped; batch += 1) {
      due += 1_000 / BATCHES_PER_SECOND
      const at = new Date().toISOString()
      const prices = Array.from({ length: BATCH }, (_, i) => {
        const { id, market, label, price } = rows[(batch * 7_919 + i * 101) % rows.length]!
        return { item_id: id, market: MARKETS[market]!, label, price: Number((price * (1 + (batch % 5) / 50) + 0.01).toFixed(2)), updated_at: at }
      })
      await post(prices)
      const postedMs = performance.now()
      // Not awaited here: slow reads must not slow the posts down.
      const reads = [overRest, overGraphql].map((read) => untilShown(prices.at(-1)!, () => read(node, key, prices.at(-1)!), postedMs))
      shown.push(Promise.all(reads).then(() => performance.now() - postedMs))
      await delay(Math.max(0, due - performance.now()))
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopped = true
      await running
      return Promise.all(shown)
    },
  }
}

type Shown = readonly Pick<Posted, 'label' | 'price'>[]

async function untilShown({ label, price }: Posted, read: () => Promise<Shown>, sinceMs: number): Promise<void> {
  while (performance.now() - sinceMs < GIVEN_UP_MS) {
    if ((await read()).some((shown) => shown.label === label && shown.price === price)) return
  }
}

async function overRest(node: Server, key: string, { item_id: id, market }: Posted): Promise<Shown> {
  return (await dataOf<{ data: { prices: Shown } }>(node, key, `/api/v1/items/${id}?market=${market}`)).data.prices
}

async function overGraphql(node: Server, key: string, { item_id: id, market }: Posted): Promise<Shown> {
  const query = `{ item(id: ${id}) { prices { market label price } } }`
  const { data } = await dataOf<{ data: { item: { prices: (Shown[number] & { market: string })[] } } }>(
    node,
    key,
    `POST\t/graphql\t${JSON.stringify({ query })}`,
  )
  return data.item.prices.filter((price) => price.market === market)
}
