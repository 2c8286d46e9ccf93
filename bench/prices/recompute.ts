// `node bench/prices/recompute.ts [figures]`: reads prices, multipliers and averages of the real catalogue over HTTP, recomputes each one
// independently from its explanation alone, and prints how many are equal to the cent.
import { createAccount } from '#accounts/create-account.ts'
import { DAY_MS } from '#core/duration.ts'
import { call } from '#core/verb.ts'
import { addDemoMarket, type DemoSeller } from '#market/orders/demo.ts'
import { startDatabaseServer } from '../database.ts'
import { startNode } from '../processes.ts'
import { hasRealData, importRealData } from '../real-data.ts'

const FIGURES = Number(process.argv[2] ?? 10_000)
/** Concurrent requests. */
const AT_ONCE = 8
const PER_PAGE = 100
const MARKETS = ['service', 'source_a', 'source_b', 'source_c']
const SELLERS = ['Kart Evi', 'Ankara Kart', 'Slab City']

interface Input {
  pair?: number
  weight?: number
  kind: string
  amount: number
  used: boolean
}
interface Explanation {
  rule: { name: string } | null
  inputs: Input[]
}
interface Item {
  id: number
  prices: { label: string; price: number }[]
}
interface Listing {
  id: number
  pc_multiplier: number | null
  average_price: number | null
  explain: Record<'pc_multiplier' | 'average_price', Explanation>
}
type Counts = Record<string, { equal: number; differing: number }>

if (!hasRealData()) {
  console.log('Real data not found; skipping the measurement')
  process.exit(0)
}

const server = await startDatabaseServer()
try {
  const database = await server.create('recompute')
  await importRealData(database.ctx, () => {})
  const since = new Date(Date.now() - 365 * DAY_MS)
  const sellers: DemoSeller[] = []
  for (const name of SELLERS) sellers.push({ id: (await call(createAccount, database.ctx, { name, plan: 'plus' })).id, since })
  await addDemoMarket(database.ctx, { listingPeriodDays: 30, highlightDays: 7, commissionPercent: 10, timeZone: 'Europe/Istanbul' }, sellers)
  const node = await startNode(database.url)
  const counts: Counts = {}
  await recomputeAll(counts, `${node.url}/api/v1`, database.accounts.plus.key)
  console.log('| Figure | Equal to the cent | Not |\n|---|---|---|')
  for (const [figure, { equal, differing }] of Object.entries(counts)) console.log(`| ${figure} | ${equal} | ${differing} |`)
  await node.stop()
  await database.close()
} finally {
  await server.close()
}

/** All listings first because there are few, then the service's own prices, then those of the other markets, up to the requested number. */
async function recomputeAll(counts: Counts, url: string, key: string): Promise<void> {
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
    return ((await response.json()) as { data: T }).data
  }
  let taken = 0
  const compare = (figure: string, answered: number | null, explanation: Explanation) => {
    if (taken >= FIGURES) return
    taken += 1
    const count = (counts[figure] ??= { equal: 0, differing: 0 })
    const again = recomputed(explanation)
    if (again === (answered === null ? null : centsOf(answered))) count.equal += 1
    else {
      count.differing += 1
      console.error(figure, { answered, again, explanation: JSON.stringify(explanation) })
    }
  }
  for (let page = 1; taken < FIGURES; page += 1) {
    const listings = await get<Listing[]>(`/plus/listings?with_pc=1&with_average=1&with_explain=1&per_page=${PER_PAGE}&page=${page}`)
    if (listings.length === 0) break
    for (const { pc_multiplier: pc, average_price: average, explain } of listings) {
      compare(pc === null ? 'pc_multiplier, null' : 'pc_multiplier', pc, explain.pc_multiplier)
      compare(average === null ? 'average_price, null' : 'average_price', average, explain.average_price)
    }
  }
  for (const market of MARKETS) {
    for (let page = 1; taken < FIGURES; page += 1) {
      const items = await get<Item[]>(`/items?market=${market}&sort_by=price&sort_order=desc&per_page=${PER_PAGE}&page=${page}`)
      const prices = items.flatMap(({ id, prices: all }) => all.map((price) => ({ id, ...price })))
      // Items without a price are sorted last.
      if (prices.length === 0) break
      for (let from = 0; from < prices.length; from += AT_ONCE) {
        const some = prices.slice(from, from + AT_ONCE)
        const paths = some.map(({ id, label }) => `/items/${id}/prices/explain?market=${market}&label=${encodeURIComponent(label)}`)
        const explanations = await Promise.all(paths.map((path) => get<Explanation>(path)))
        some.forEach(({ price }, i) => compare(`price of ${market}`, price, explanations[i]!))
      }
    }
  }
}

/** The figure in cents, kuruş or hundredths, computed as the API reference describes the rule; null if that is impossible. */
function recomputed({ rule, inputs }: Explanation): number | null {
  const used = inputs.filter((input) => input.used)
  const amounts = (kind: string) => used.filter((input) => input.kind === kind).map((input) => centsOf(input.amount))
  const sales = amounts('sale').sort((a, b) => a - b)
  switch (rule?.name) {
    case 'latest_statement':
      return amounts('statement')[0] ?? null
    case 'median_of_pairs': {
      const pairs = Map.groupBy(
        used.filter((input) => input.kind === 'sale'),
        ({ pair }) => pair,
      )
      const prices = [...pairs.values()].map((ofPair) => ({
        cents: medianOf(ofPair.map(({ amount }) => centsOf(amount))),
        weight: ofPair[0]!.weight!,
      }))
      return weightedMedianOf(prices)
    }
    case 'price_over_source_a': {
      const [[listing], [market]] = [amounts('listing'), amounts('market')]
      return listing === undefined || market === undefined ? null : halfUp(listing * 100, market)
    }
    case 'mean_of_last_sales':
      return sales.length === 0
        ? null
        : halfUp(
            sales.reduce((sum, cents) => sum + cents, 0),
            sales.length,
          )
    default:
      return null
  }
}

function medianOf(cents: number[]): number {
  return weightedMedianOf(cents.map((one) => ({ cents: one, weight: 1 })))!
}

function weightedMedianOf(prices: { cents: number; weight: number }[]): number | null {
  const sorted = prices.sort((a, b) => a.cents - b.cents)
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0)
  let sum = 0
  for (const [n, { cents, weight }] of sorted.entries()) {
    sum += weight
    if (2 * sum === total) return halfUp(cents + sorted[n + 1]!.cents, 2)
    if (2 * sum > total) return cents
  }
  return null
}

/** A quotient rounded half up, computed with integers only. */
function halfUp(dividend: number, divisor: number): number {
  return Number((2n * BigInt(dividend) + BigInt(divisor)) / (2n * BigInt(divisor)))
}

function centsOf(amount: number): number {
  return Math.round(amount * 100)
}
