// `node reliability/forecast.ts`: forecasts generated writes of listings and then executes them, and previews the payouts of recorded sales.
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { join } from 'node:path'
import { randomNumbers } from '#core/random.ts'
import { createPostgres, type Postgres } from './postgres.ts'
import { conclude, count, figure, type Finding, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, type Reply, type Service, startService, until, workDir } from './service.ts'

export interface ForecastOptions {
  /** number of writes that are forecast and then executed */
  writes: number
  /** number of sales that are recorded and previewed */
  previews: number
  seed: number
}

const LISTINGS = 200
/** Number of writes per round during which something else changes the listing. */
const RACES = 10
const AT_ONCE = 12
/** The period ends while a round is prepared. */
const BRIEF_MS = 300
const LONG_MS = 86_400_000
const LINES = 200

type Forecast = { status: string; hidden: boolean; because: string[]; usual_wait: object }
type Answer = Reply<{ forecast?: Forecast } & Record<string, unknown>>

interface Write {
  method: 'PATCH' | 'POST' | 'DELETE'
  path: string
  json?: object
  /** value of `If-Match`: the current tag, another one, or none */
  match: 'current' | 'stale' | null
}

interface Seller {
  id: number
  name: string
  key: string
  listing: number
  /** whether its period ends soon: its tag changes when the service ends it */
  ends: boolean
}

/** A market of sellers with one listing each, used over HTTP. */
class Market {
  readonly #service: Service
  readonly #random: () => number
  item = 0
  orders = 0
  sellers: Seller[] = []

  constructor(service: Service, random: () => number) {
    this.#service = service
    this.#random = random
  }

  /** a random number from 0 to 1 */
  share(): number {
    return this.#random()
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }

  /** An amount in TL, often near the limits. */
  price(): number {
    return this.pick([1, 9_999_999, 0.5, 10.005, ...Array.from({ length: 8 }, () => Math.round(100 + this.#random() * 20_000) / 100)])
  }

  operator<T = { id: number }>(path: string, json?: object, method?: string): Promise<Reply<T>> {
    return ask<T>(`${this.#service.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { ...(json && { json }), ...(method && { method }) })
  }

  own(key: string, { method, path, json }: Pick<Write, 'method' | 'path' | 'json'> | { method: 'GET'; path: string; json?: never }, tag?: string) {
    const headers: Record<string, string> = tag === undefined ? {} : { 'if-match': tag }
    return ask<Answer['body']['data']>(`${this.#service.publicUrl}/api/v1/plus${path}`, key, { method, headers, ...(json && { json }) })
  }

  async create<T = { id: number }>(path: string, json: object): Promise<T> {
    const { status, body } = await this.operator<T>(path, json)
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body.error)}`)
    return body.data
  }

  async prepare(): Promise<void> {
    const category = await this.create('/categories', { game: 'pokemon', market: 'service', ref: 'base', name: 'Base Set' })
    this.item = (await this.create('/items', { ref: 'card', name: 'Card', market: 'service', category_id: category.id })).id
    this.sellers = await parallel(
      Array.from({ length: LISTINGS }, (_, i) => `Seller ${i}`),
      async (name) => {
        const { id } = await this.create('/accounts', {
          name,
          plan: this.chance(0.8) ? 'plus' : 'enterprise',
          highlight_credits: this.pick([0, 1, 50]),
        })
        const { key } = await this.create<{ key: string }>(`/accounts/${id}/keys`, {})
        return { id, name, key, listing: await this.list(id), ends: false }
      },
    )
  }

  async list(sellerId: number): Promise<number> {
    const { id } = await this.create('/listings', {
      seller_id: sellerId,
      item_id: this.item,
      title: 'Card',
      price: 100,
      quantity: this.pick([0, 1, 1, 3, 1_000]),
      ...(this.chance(0.3) && { min_offer_price: 50 }),
    })
    return id
  }

  /** Random operations of operator, shop and seller on a listing, whatever its status; `briefMs` is the length of some periods. */
  async changeRandomly(seller: Seller, briefMs = BRIEF_MS): Promise<void> {
    const { listing, key } = seller
    const approve = async (ms: number) => {
      const { status } = await this.operator(`/listings/${listing}/approve`, { expires_at: new Date(Date.now() + ms).toISOString() })
      if (status === 200) seller.ends = ms !== LONG_MS
      return status
    }
    const set = (action: string) => this.own(key, { method: 'POST', path: `/listings/${listing}/status?action=${action}` })
    await this.pick<() => Promise<unknown>>([
      () => approve(LONG_MS),
      () => approve(LONG_MS),
      () => approve(LONG_MS),
      () => approve(briefMs),
      () => this.operator(`/listings/${listing}/reject`, { reason: 'blurred photo' }),
      () => set('pause'),
      () => set('publish'),
      () => this.operator(`/listings/${listing}`, { quantity: this.pick([0, 1, 5]) }, 'PATCH'),
      () => this.operator(`/listings/${listing}`, { language: this.pick(['en', 'ja', null]) }, 'PATCH'),
      () => this.order([{ listing_id: listing, quantity: 1 }]),
    ])()
  }

  order(lines: object[]) {
    this.orders += 1
    return this.operator<{ lines: { unit_price: number; seller_payout: number }[] }>('/orders', { order_id: this.orders, lines })
  }

  write(seller: Seller): Write {
    const { listing } = this.chance(0.97) ? seller : this.pick([{ listing: 999_999_999 }, this.pick(this.sellers)])
    const match = this.pick(['current', 'stale', ...Array.from({ length: 8 }, () => null)] as const)
    const patch = (json: object): Write => ({ method: 'PATCH', path: `/listings/${listing}`, json, match })
    const set = (action: string): Write => ({ method: 'POST', path: `/listings/${listing}/status?action=${action}`, match })
    return this.pick<() => Write>([
      () => ({ method: 'PATCH', path: `/listings/${listing}/price`, json: { price: this.price() }, match }),
      () => patch({ price: this.price() }),
      () => patch({ title: this.pick(['Card', 'Other card', '', '\u202e']) }),
      () => patch({ description: this.pick(['', 'Clean.']), offers_enabled: this.chance(0.5) }),
      () => patch({ min_offer_price: this.pick([null, 1, 50, 5_000]), price: this.price() }),
      () => patch(this.pick([{}, { quantity: 'many' }, { shipping_payer: 'seller' }, { shipping_payer: 'nobody' }])),
      () => patch({ quantity: this.pick([0, 1, 5]), ...(this.chance(0.3) && { price: this.price() }) }),
      () => patch({ sku: this.pick([null, 'A1', 'B2', '']), ...(this.chance(0.2) && { title: 'With SKU' }) }),
      () => set('pause'),
      () => set('publish'),
      () => set(this.pick(['publish', 'burn'])),
      () => ({ method: 'POST', path: `/make-highlight?id=${listing}`, match }),
      () => (this.chance(0.3) ? { method: 'DELETE', path: `/listings/${listing}`, match: null } : set('pause')),
    ])()
  }
}

/** Calls with limited concurrency; results are in the order of the list. */
async function parallel<T, R>(list: readonly T[], call: (one: T, at: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    while (next < list.length) {
      const at = next++
      results[at] = await call(list[at]!, at)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

/** Digests of all tables except values that change with time alone; `swept` counts the periods that the service has ended itself. */
async function stateOf({ query }: Postgres): Promise<{ digests: string[]; swept: string }> {
  const tables = await query(`select relname::text from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not in ('change_log_floor', 'workers', 'api_key_usage', 'listing_views', 'search_terms', 'notifications', 'watch_progress') order by 1`)
  const digestOf = (name: string) =>
    `select '${name} ' || count(*) || ' ' || coalesce(sum(hashtextextended((to_jsonb(t) - 'last_used_at')::text, 0)), 0) from ${name} t ${COUNTED[name] ?? ''}`
  // In one statement, so that all digests are of the same snapshot.
  const swept = `select '${SWEPT}' || count(*) from audit_log where actor = 'system'`
  const lines = await query([swept, ...tables.map(digestOf)].join(' union all '))
  const isSwept = (line: string) => line.startsWith(SWEPT)
  return { digests: lines.filter((line) => !isSwept(line)).sort(), swept: lines.find(isSwept)! }
}

const SWEPT = 'swept: '

/** Rows that count, for tables that also change by themselves: a worker records the facts of pending listings. */
const COUNTED: Readonly<Record<string, string>> = { listing_decisions: 'where decision is not null' }

const withDryRun = (path: string) => `${path}${path.includes('?') ? '&' : '?'}dry_run=1`

/** The result of a forecast or a write, without the parts that only one of them has. */
function resultOf({ status, body }: Answer): { status: number; error?: unknown; data: object } {
  const { forecast: _forecast, ...data } = body.data ?? {}
  return { status, ...(body.error && { error: body.error }), data }
}

/** The result of a forecast including the predicted state; the usual wait changes by itself. */
function predictionOf(answer: Answer): unknown {
  const { usual_wait: _wait, ...rest } = answer.body.data?.forecast ?? ({} as Forecast)
  return { ...resultOf(answer), ...rest }
}

export async function forecastRun({ writes, previews, seed }: ForecastOptions): Promise<Finding[]> {
  const dir = workDir()
  const postgres = await createPostgres(join(dir.path, 'postgres'))
  await postgres.start()
  const random = randomNumbers(seed)
  const commission = Math.round(random() * 300_000) / 10_000
  const settings = { DATABASE_URL: postgres.url, PORT: '0', OPERATOR_PORT: '0', DUMP_HOUR: 'off', COMMISSION_PERCENT: String(commission) }
  const service = await startService(settings)
  try {
    const market = new Market(service, random)
    await market.prepare()
    const forecasts = await forecastWrites(market, postgres, writes)
    const payouts = await previewPayouts(market, postgres, previews)
    for (const line of service.log()) progress(`log: ${line}`)
    return [...forecasts, figure('commission of this run', `${commission} %`), ...payouts, count('lines in the log', service.log().length, 0)]
  } finally {
    if (service.ended() === null) await service.kill('SIGINT')
    await postgres.stop('immediate')
    dir.remove()
  }
}

async function forecastWrites(market: Market, postgres: Postgres, writes: number): Promise<Finding[]> {
  const wrong: string[] = []
  const requests: string[] = []
  const statuses = new Map<string, number>()
  const seen = { done: 0, refused: 0, hidden: 0, races: 0, changedByRace: 0, repeated: 0, changedTables: 0 }
  const tagOf = async ({ key, listing }: Seller) => String((await market.own(key, { method: 'GET', path: `/listings/${listing}` })).body.data.etag)
  const forecast = async ({ key }: Seller, write: Write, tag?: string): Promise<Answer> => {
    const answer = await market.own(key, { ...write, path: withDryRun(write.path) }, tag)
    requests.push(answer.headers.get('x-request-id')!)
    return answer
  }
  const conditionOf = async (seller: Seller, { match }: Write) => {
    if (match === 'current' && !seller.ends) return tagOf(seller)
    return match === 'stale' ? '"1-0"' : undefined
  }
  const report = (what: string, write: Write, ...facts: unknown[]) => {
    if (wrong.length < 20) progress(`${what}: ${JSON.stringify([write, ...facts])}`)
    wrong.push(what)
  }

  for (let sent = 0; sent < writes; ) {
    await parallel(market.sellers, (seller) => market.changeRandomly(seller))
    await parallel(
      market.sellers.filter(() => market.chance(0.5)),
      (seller) => market.changeRandomly(seller),
    )
    const ready = performance.now() + BRIEF_MS
    await until('brief periods have ended', () => performance.now() > ready)
    const planned = await parallel(market.sellers.slice(0, writes - sent), async (seller) => {
      const write = market.write(seller)
      return { seller, write, tag: await conditionOf(seller, write) }
    })

    // Repeated if the service has ended a period meanwhile, because that changes tables, too.
    let before = await stateOf(postgres)
    let answers: Answer[] = []
    for (;;) {
      answers = await parallel(planned, ({ seller, write, tag }) => forecast(seller, write, tag))
      const after = await stateOf(postgres)
      if (after.swept === before.swept) {
        for (const changed of after.digests.filter((digest, i) => digest !== before.digests[i])) {
          seen.changedTables += 1
          progress(`changed by forecasts: ${changed}`)
        }
        break
      }
      seen.repeated += 1
      before = after
    }

    const executeAndCompare = async ({ seller, write, tag }: (typeof planned)[number], answer: Answer) => {
      const done = await market.own(seller.key, write, tag)
      statuses.set(String(done.status), (statuses.get(String(done.status)) ?? 0) + 1)
      if (!isDeepStrictEqual(resultOf(answer), resultOf(done)))
        report('a response that differs from the forecast', write, resultOf(answer), resultOf(done))
      if (done.status !== 200) {
        seen.refused += 1
        return
      }
      seen.done += 1
      const { status, hidden } = answer.body.data.forecast!
      if (hidden) seen.hidden += 1
      const stored = await market.own(seller.key, { method: 'GET', path: `/listings/${seller.listing}` })
      const found = await market.own(seller.key, { method: 'GET', path: `/listings?seller_name=${encodeURIComponent(seller.name)}` })
      const isFound = (found.body.data as unknown as { id: number }[]).some(({ id }) => id === seller.listing)
      const became = stored.status === 404 ? 'deleted' : String(stored.body.data.status)
      if (became !== status) report('a status that differs from the forecast', write, answer.body.data.forecast, became)
      if (isFound === hidden) report('a visibility that differs from the forecast', write, answer.body.data.forecast, isFound)
    }
    // Writes expected to be refused go first: they may name a listing that another write deletes. All others concern the seller's own listing.
    const both = planned.map((one, i) => ({ one, answer: answers[i]! }))
    await parallel(
      both.filter(({ answer }) => answer.status !== 200),
      ({ one, answer }) => executeAndCompare(one, answer),
    )
    await parallel(
      both.filter(({ answer }) => answer.status === 200),
      ({ one, answer }) => executeAndCompare(one, answer),
    )
    await parallel(market.sellers, async (seller) => {
      const { status } = await market.own(seller.key, { method: 'GET', path: `/listings/${seller.listing}` })
      if (status === 404 || market.chance(0.02)) Object.assign(seller, { listing: await market.list(seller.id), ends: false })
    })

    // During a concurrent change, a forecast must match the state either before or after it.
    await parallel(market.sellers.slice(0, RACES), async (seller) => {
      const write = market.write(seller)
      const first = predictionOf(await forecast(seller, write))
      // Without brief periods, whose end would add a third state.
      const [during] = await Promise.all([forecast(seller, write), market.changeRandomly(seller, LONG_MS)])
      const last = predictionOf(await forecast(seller, write))
      seen.races += 1
      if (!isDeepStrictEqual(first, last)) seen.changedByRace += 1
      if (![first, last].some((one) => isDeepStrictEqual(one, predictionOf(during))))
        report('a forecast that matches neither state', write, first, predictionOf(during), last)
    })
    sent += planned.length
    if (Math.floor(sent / 2_000) > Math.floor((sent - planned.length) / 2_000)) progress(`${sent} of ${writes} writes`)
  }
  const traces = await postgres.query(
    `select count(*)::text from audit_log where request_id = any('{${requests.map((id) => `"${id}"`).join(',')}}'::text[])`,
  )
  return [
    figure('writes forecast and then executed', `${seen.done} done, ${seen.refused} refused; ${seen.hidden} hid the listing`),
    count('forecasts that differ from the outcome', wrong.length, 0),
    count('tables changed by forecasts', seen.changedTables, 0),
    count('audit log entries of forecasts', Number(traces[0]), 0),
    count('responses with 5xx, or none', [...statuses].filter(([status]) => status >= '500' || status === '0').length, 0),
    figure('forecasts during another change', `${seen.races}, of which ${seen.changedByRace} had a different forecast after it`),
    figure('rounds repeated because a period ended meanwhile', seen.repeated),
  ]
}

async function previewPayouts(market: Market, postgres: Postgres, previews: number): Promise<Finding[]> {
  const [seller] = market.sellers as [Seller]
  const { id } = await market.create('/listings', { seller_id: seller.id, item_id: market.item, title: 'Stock', price: 100, quantity: 1_000_000 })
  await market.operator(`/listings/${id}/approve`, {})
  const first = market.orders + 1
  for (let left = previews; left > 0; left -= LINES) {
    const lines = Array.from({ length: Math.min(LINES, left) }, () => ({ listing_id: id, quantity: 1, unit_price: anyPrice(market) }))
    const { status, body } = await market.order(lines)
    if (status !== 201) throw new Error(`POST /orders: ${status} ${JSON.stringify(body.error)}`)
  }
  progress(`${previews} sales recorded`)
  const sales = await postgres.query(`select unit_price || ' ' || payout from sales where order_id >= ${first} and listing_id = ${id}`)
  let [other, notSmallest] = [0, 0]
  await parallel(sales, async (sale) => {
    const [price, payout] = sale.split(' ').map(Number) as [number, number]
    const preview = (query: string) => market.own(seller.key, { method: 'GET', path: `/payout-preview?${query}` })
    const { data } = (await preview(`price=${price}`)).body
    if (data?.payout !== payout || Math.round(((data.commission as number) + payout) * 100) !== Math.round(price * 100)) other += 1
    if (!market.chance(0.1)) return
    const smallest = (await preview(`net=${payout}`)).body.data
    if (smallest.payout !== payout || (smallest.price as number) > price) notSmallest += 1
  })
  return [
    figure('sales recorded and previewed', sales.length),
    count('previews that differ from the recorded payout', other, 0),
    count('prices for a payout above the price that was paid', notSmallest, 0),
  ]
}

/** Any valid price of a listing, in TL. */
function anyPrice(market: Market): number {
  const maxPrice = market.pick([1_000, 100_000, 999_999_900])
  return Math.round(100 + (maxPrice - 100) * market.share()) / 100
}

if (import.meta.main) {
  const number = { type: 'string' } as const
  const { values } = parseArgs({ options: { writes: number, previews: number, seed: number } })
  const { writes = '20000', previews = '100000', seed = '20261123' } = values
  conclude('forecasts', await forecastRun({ writes: Number(writes), previews: Number(previews), seed: Number(seed) }))
}
