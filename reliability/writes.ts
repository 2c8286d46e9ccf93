// Writers of every kind over HTTP that remember what was acknowledged, and the check that all of it is still there.
import { broken, type Finding, count, figure } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, type Reply } from './service.ts'

/** Where the service is at the moment; it may move when it starts again. */
export interface Target {
  publicUrl: () => string
  operatorUrl: () => string
}

export interface Answered {
  /** performance.now() when it was sent */
  at: number
  ms: number
  status: number
  /** for a 5xx: whether it has the envelope and Retry-After */
  proper: boolean
}

export interface Writes {
  /** of a plus account that owns the written records */
  key: string
  itemId: number
  accountId: number
  /** all responses to writes, in order of arrival */
  answers: Answered[]
  /** order ids that were acknowledged */
  orders: readonly number[]
  /** number of acknowledged writes */
  acknowledged: () => number
  start: () => void
  stop: () => Promise<void>
  /** What has been acknowledged so far. */
  mark: () => Mark
  /** Reads back everything that was acknowledged, up to the mark or until now. */
  verify: (mark?: Mark) => Promise<Finding[]>
}

export interface Mark {
  acknowledged: number
  listingPrice: number
  itemPrice: number
  records: number
  orders: number
}

/** A value increased by one writer: the last acknowledged and the last attempted one. */
interface Raised {
  acknowledged: number
  tried: number
}

const STOCK = 1_000_000
const PAUSE_MS = 10
/** Of one series. */
const MOST_ORDERS = 10_000_000
const VERIFY_MS = 60_000
const VERIFY_PAUSE_MS = 250
/** Well below the factor at which a price is held. */
const PRICE = (n: number) => (10_000 + n) / 100

/**
 * Creates an account, items, listings and a collection; `start` then writes until `stop`.
 * @param options.series distinguishes several writers on one database
 */
export async function prepareWrites({ publicUrl, operatorUrl }: Target, { pauseMs = PAUSE_MS, series = 0 } = {}): Promise<Writes> {
  const operator = <T>(path: string, json?: unknown) => ask<T>(`${operatorUrl()}/operator/v1${path}`, OPERATOR_TOKEN, { json })
  const made = async <T = { id: number }>(path: string, json: unknown): Promise<T> => {
    const { status, body } = await operator<T>(path, json)
    if (status !== 201 && status !== 200) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body.error)}`)
    return body.data
  }
  const { id: accountId } = await made('/accounts', { name: 'Seller', plan: 'enterprise' })
  const { key } = await made<{ key: string }>(`/accounts/${accountId}/keys`, {})
  const item = async (market: string) => {
    const category = await made('/categories', { game: 'pokemon', market, ref: `base-${series}`, name: 'Base Set' })
    return made('/items', { ref: `card-${series}`, name: `Card of ${market}`, market, category_id: category.id })
  }
  const [{ id: itemId }, priced] = [await item('service'), await item('source_c')]
  const listing = async () => {
    const { id } = await made('/listings', { seller_id: accountId, item_id: itemId, title: 'Card', price: 100, quantity: STOCK })
    await made(`/listings/${id}/approve`, {})
    return id
  }
  const [ownListing, soldListing] = [await listing(), await listing()]
  const collection = await made('/collections', { account_id: accountId, name: 'Records' })

  const answers: Answered[] = []
  const listingPrice: Raised = { acknowledged: 0, tried: 0 }
  const itemPrice: Raised = { acknowledged: 0, tried: 0 }
  const records = new Map<number, number>()
  const orders: number[] = []
  let lastOrder = series * MOST_ORDERS
  let running = false
  let loops: Promise<void>[] = []

  const own = <T>(method: string, path: string, json: unknown) => ask<T>(`${publicUrl()}/api/v1/plus${path}`, key, { method, json })
  const noted = <T>(reply: Reply<T>): Reply<T> => {
    const proper = reply.status < 500 || (reply.body.success === false && reply.body.error !== undefined && reply.headers.has('retry-after'))
    answers.push({ at: performance.now() - reply.ms, ms: reply.ms, status: reply.status, proper })
    return reply
  }
  const good = ({ status }: Reply) => status >= 200 && status < 300

  const raise = async (value: Raised, send: (n: number) => Promise<Reply>) => {
    value.tried += 1
    const n = value.tried
    if (good(noted(await send(n)))) value.acknowledged = n
  }
  const writers: (() => Promise<void>)[] = [
    () => raise(listingPrice, (n) => own('PATCH', `/listings/${ownListing}/price`, { price: PRICE(n) })),
    () =>
      raise(itemPrice, async (n) => {
        const row = {
          item_id: priced.id,
          market: 'source_c',
          label: 'Near Mint',
          price: PRICE(n),
          updated_at: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
        }
        const reply = await operator<{ accepted: number }>('/prices', [row])
        if (good(reply) && reply.body.data.accepted !== 1) throw new Error(`a price was not accepted: ${JSON.stringify(reply.body.data)}`)
        return reply
      }),
    async () => {
      const quantity = 1 + (records.size % 90)
      const reply = noted(await own<{ id: number }>('POST', `/collections/${collection.id}/items`, { item_id: itemId, quantity }))
      if (good(reply)) records.set(reply.body.data.id, quantity)
    },
    async () => {
      // The shop retries an order until it is acknowledged.
      const order = { order_id: lastOrder + 1, lines: [{ listing_id: soldListing, quantity: 1 }] }
      const reply = noted(await operator('/orders', order))
      if (good(reply)) orders.push(++lastOrder)
    },
  ]
  const loop = async (write: () => Promise<void>) => {
    while (running) {
      await write()
      await pause(pauseMs)
    }
  }

  const acknowledged = () => orders.length + records.size + listingPrice.acknowledged + itemPrice.acknowledged
  const mark = (): Mark => ({
    acknowledged: acknowledged(),
    listingPrice: listingPrice.acknowledged,
    itemPrice: itemPrice.acknowledged,
    records: records.size,
    orders: orders.length,
  })

  /** What is lost stays lost; a write that nobody waits for any more may take effect a moment later, and be shown later still. */
  const verify = async (until = mark()): Promise<Finding[]> => {
    const ends = performance.now() + VERIFY_MS
    for (;;) {
      const findings = await compare(until, ends)
      if (broken(findings).length === 0 || performance.now() > ends) return findings
      await pause(VERIFY_PAUSE_MS)
    }
  }

  const compare = async (until: Mark, ends: number): Promise<Finding[]> => {
    const asked = async <T>(url: string, credential: string): Promise<Reply<T>> => {
      // Connections that broke a moment ago may still cost a read.
      for (;;) {
        const reply = await ask<T>(url, credential)
        if (reply.status === 200 || reply.status === 404) return reply
        if (reply.status !== 503 || performance.now() > ends) throw new Error(`GET ${url}: ${reply.status} ${JSON.stringify(reply.body.error)}`)
        await pause(VERIFY_PAUSE_MS)
      }
    }
    const read = async <T>(url: string, credential: string) => {
      const { status, body } = await asked<T>(url, credential)
      if (status !== 200) throw new Error(`GET ${url}: ${status}`)
      return body.data
    }
    const stored = (path: string) => read<Record<string, number>>(`${operatorUrl()}/operator/v1${path}`, OPERATOR_TOKEN)
    const within = ({ tried }: Raised, from: number, price: number) => price >= PRICE(from) && price <= PRICE(tried)
    const { prices } = await read<{ prices: { label: string; market: string; price: number }[] }>(`${publicUrl()}/api/v1/items/${priced.id}`, key)
    const price = prices.find(({ label }) => label === 'Near Mint')?.price ?? 0
    const kept = new Map(
      (await read<{ id: number; quantity: number }[]>(`${publicUrl()}/api/v1/plus/collections/${collection.id}/items`, key)).map(
        ({ id, quantity }) => [id, quantity],
      ),
    )
    const lostRecords = [...records].slice(0, until.records).filter(([id, quantity]) => kept.get(id) !== quantity).length
    const { quantity } = await stored(`/listings/${soldListing}`)
    const listed = (await stored(`/listings/${ownListing}`)).price!
    const ordersKept =
      (await asked(`${operatorUrl()}/operator/v1/orders?listing_id=${soldListing}&per_page=1`, OPERATOR_TOKEN)).body.pagination?.total ?? 0
    const lastKept =
      until.orders === 0 || (await asked(`${operatorUrl()}/operator/v1/orders/${orders[until.orders - 1]}`, OPERATOR_TOKEN)).status === 200
    return [
      figure('acknowledged writes', until.acknowledged),
      count('acknowledged orders lost', Math.max(0, until.orders - ordersKept) + (lastKept ? 0 : 1), 0),
      count('units sold without an order, or orders without a sale', STOCK - quantity! - ordersKept, 0),
      count('acknowledged records lost or changed', lostRecords, 0),
      count('acknowledged listing prices lost', within(listingPrice, until.listingPrice, listed) ? 0 : 1, 0),
      count('acknowledged item prices lost', until.itemPrice === 0 || within(itemPrice, until.itemPrice, price) ? 0 : 1, 0),
    ]
  }

  return {
    key,
    itemId,
    accountId,
    answers,
    orders,
    acknowledged,
    mark,
    verify,
    start() {
      running = true
      loops = writers.map(loop)
    },
    async stop() {
      running = false
      await Promise.all(loops)
    },
  }
}
