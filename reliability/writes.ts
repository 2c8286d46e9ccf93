// Writers of every kind over HTTP that record acknowledged writes, and a check that none of them is lost.
import { broken, type Finding, count, figure } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, type Reply } from './service.ts'

/** Current addresses of the service, which may change when it restarts. */
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
  wellFormed: boolean
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
  /** Counts of the writes acknowledged so far. */
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
interface RisingValue {
  acknowledged: number
  attempted: number
}

const STOCK = 1_000_000
const PAUSE_MS = 10
/** Per series. */
const MAX_ORDERS = 10_000_000
const VERIFY_MS = 60_000
const VERIFY_PAUSE_MS = 250
/** Rises by much less than the factor at which a price is held for review. */
const priceAfter = (n: number) => (10_000 + n) / 100

/**
 * Creates an account, items, listings and a collection; `start` then writes until `stop`.
 * @param options.series distinguishes several writers on one database
 */
export async function prepareWrites({ publicUrl, operatorUrl }: Target, { pauseMs = PAUSE_MS, series = 0 } = {}): Promise<Writes> {
  const operator = <T>(path: string, json?: unknown) => ask<T>(`${operatorUrl()}/operator/v1${path}`, OPERATOR_TOKEN, { json })
  const create = async <T = { id: number }>(path: string, json: unknown): Promise<T> => {
    const { status, body } = await operator<T>(path, json)
    if (status !== 201 && status !== 200) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body.error)}`)
    return body.data
  }
  const { id: accountId } = await create('/accounts', { name: 'Seller', plan: 'enterprise' })
  const { key } = await create<{ key: string }>(`/accounts/${accountId}/keys`, {})
  const item = async (market: string) => {
    const category = await create('/categories', { game: 'pokemon', market, ref: `base-${series}`, name: 'Base Set' })
    return create('/items', { ref: `card-${series}`, name: `Card of ${market}`, market, category_id: category.id })
  }
  const [{ id: itemId }, priced] = [await item('service'), await item('source_c')]
  const listing = async () => {
    const { id } = await create('/listings', { seller_id: accountId, item_id: itemId, title: 'Card', price: 100, quantity: STOCK })
    await create(`/listings/${id}/approve`, {})
    return id
  }
  const [ownListing, soldListing] = [await listing(), await listing()]
  const collection = await create('/collections', { account_id: accountId, name: 'Records' })

  const answers: Answered[] = []
  const listingPrice: RisingValue = { acknowledged: 0, attempted: 0 }
  const itemPrice: RisingValue = { acknowledged: 0, attempted: 0 }
  const records = new Map<number, number>()
  const orders: number[] = []
  let lastOrder = series * MAX_ORDERS
  let running = false
  let loops: Promise<void>[] = []

  const own = <T>(method: string, path: string, json: unknown) => ask<T>(`${publicUrl()}/api/v1/plus${path}`, key, { method, json })
  const record = <T>(reply: Reply<T>): Reply<T> => {
    const wellFormed = reply.status < 500 || (reply.body.success === false && reply.body.error !== undefined && reply.headers.has('retry-after'))
    answers.push({ at: performance.now() - reply.ms, ms: reply.ms, status: reply.status, wellFormed })
    return reply
  }
  const succeeded = ({ status }: Reply) => status >= 200 && status < 300

  const raise = async (value: RisingValue, send: (n: number) => Promise<Reply>) => {
    value.attempted += 1
    const n = value.attempted
    if (succeeded(record(await send(n)))) value.acknowledged = n
  }
  const writers: (() => Promise<void>)[] = [
    () => raise(listingPrice, (n) => own('PATCH', `/listings/${ownListing}/price`, { price: priceAfter(n) })),
    () =>
      raise(itemPrice, async (n) => {
        const row = {
          item_id: priced.id,
          market: 'source_c',
          label: 'Near Mint',
          price: priceAfter(n),
          updated_at: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
        }
        const reply = await operator<{ accepted: number }>('/prices', [row])
        if (succeeded(reply) && reply.body.data.accepted !== 1) throw new Error(`a price was not accepted: ${JSON.stringify(reply.body.data)}`)
        return reply
      }),
    async () => {
      const quantity = 1 + (records.size % 90)
      const reply = record(await own<{ id: number }>('POST', `/collections/${collection.id}/items`, { item_id: itemId, quantity }))
      if (succeeded(reply)) records.set(reply.body.data.id, quantity)
    },
    async () => {
      // The shop retries an order until it is acknowledged.
      const order = { order_id: lastOrder + 1, lines: [{ listing_id: soldListing, quantity: 1 }] }
      const reply = record(await operator('/orders', order))
      if (succeeded(reply)) orders.push(++lastOrder)
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

  /** Repeats the check for a while, because a write whose client has given up may still take effect and become visible later. */
  const verify = async (until = mark()): Promise<Finding[]> => {
    const ends = performance.now() + VERIFY_MS
    for (;;) {
      const findings = await compare(until, ends)
      if (broken(findings).length === 0 || performance.now() > ends) return findings
      await pause(VERIFY_PAUSE_MS)
    }
  }

  const compare = async (until: Mark, ends: number): Promise<Finding[]> => {
    const request = async <T>(url: string, credential: string): Promise<Reply<T>> => {
      // Connections that have just broken may still fail a read.
      for (;;) {
        const reply = await ask<T>(url, credential)
        if (reply.status === 200 || reply.status === 404) return reply
        if (reply.status !== 503 || performance.now() > ends) throw new Error(`GET ${url}: ${reply.status} ${JSON.stringify(reply.body.error)}`)
        await pause(VERIFY_PAUSE_MS)
      }
    }
    const read = async <T>(url: string, credential: string) => {
      const { status, body } = await request<T>(url, credential)
      if (status !== 200) throw new Error(`GET ${url}: ${status}`)
      return body.data
    }
    const fieldsOf = (path: string) => read<Record<string, number>>(`${operatorUrl()}/operator/v1${path}`, OPERATOR_TOKEN)
    const within = ({ attempted }: RisingValue, from: number, price: number) => price >= priceAfter(from) && price <= priceAfter(attempted)
    const { prices } = await read<{ prices: { label: string; market: string; price: number }[] }>(`${publicUrl()}/api/v1/items/${priced.id}`, key)
    const price = prices.find(({ label }) => label === 'Near Mint')?.price ?? 0
    const storedRecords = new Map(
      (await read<{ id: number; quantity: number }[]>(`${publicUrl()}/api/v1/plus/collections/${collection.id}/items`, key)).map(
        ({ id, quantity }) => [id, quantity],
      ),
    )
    const lostRecords = [...records].slice(0, until.records).filter(([id, quantity]) => storedRecords.get(id) !== quantity).length
    const { quantity } = await fieldsOf(`/listings/${soldListing}`)
    const storedPrice = (await fieldsOf(`/listings/${ownListing}`)).price!
    const storedOrders =
      (await request(`${operatorUrl()}/operator/v1/orders?listing_id=${soldListing}&per_page=1`, OPERATOR_TOKEN)).body.pagination?.total ?? 0
    const isLastStored =
      until.orders === 0 || (await request(`${operatorUrl()}/operator/v1/orders/${orders[until.orders - 1]}`, OPERATOR_TOKEN)).status === 200
    return [
      figure('acknowledged writes', until.acknowledged),
      count('acknowledged orders lost', Math.max(0, until.orders - storedOrders) + (isLastStored ? 0 : 1), 0),
      count('units sold without an order, or orders without a sale', STOCK - quantity! - storedOrders, 0),
      count('acknowledged records lost or changed', lostRecords, 0),
      count('acknowledged listing prices lost', within(listingPrice, until.listingPrice, storedPrice) ? 0 : 1, 0),
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
