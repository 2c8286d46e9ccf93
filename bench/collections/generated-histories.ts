// Generated histories of collections, entered over HTTP (bought, sold in and outside of the market, refunded, traded, split, merged, imports reverted, rates
// and consumer prices changed), whose profits are compared with what the exports alone say.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { differencesOf, type Given, METHODS } from './compare-profits.ts'
import { MONEYS } from './recompute-profit.ts'
import { allPages, mine, operator, type Service } from './service.ts'

interface Stage {
  service: Service
  random: () => number
  /** ids of the items by reference, and of the grade PSA 10 */
  items: Map<string, number>
  graded: number
  nextOrder: number
  /** batches of merges in effect */
  merges: number[]
  /** how often the service took each step, and how often it refused it */
  steps: Map<string, { done: number; refused: number }>
}

const DAY_MS = 86_400_000
const DAYS = 400
const CURRENCIES = ['TRY', 'TRY', 'USD', 'EUR']
const STEPS_PER_RECORD = 6
const RECORDS_PER_COLLECTION = 10

const below = ({ random }: Pick<Stage, 'random'>, n: number) => Math.floor(random() * n)
const oneOf = <T>(stage: Pick<Stage, 'random'>, list: readonly T[]): T => list[below(stage, list.length)]!
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const amount = (stage: Stage, most: number) => below(stage, most * 100) / 100

/** Imports a file and waits for its end. @returns id of the import */
async function importFile(stage: Stage, format: string, body: string): Promise<number> {
  const { data } = await operator<{ id: number }>(stage.service, 'POST', `/imports/${format}`, undefined, body)
  for (;;) {
    const { status } = (await operator<{ status: string }>(stage.service, 'GET', `/imports/${data.id}`)).data
    if (status === 'done') return data.id
    if (status === 'failed') throw new Error(`The import of ${format} failed`)
    await delay(100)
  }
}

/** Pairs of items that can be merged, with prices in several markets, of a currency each; one has none, and one contradicts itself. */
async function makeCatalogue(stage: Stage): Promise<void> {
  const markets = ['service', 'source_a', 'source_b', 'source_c']
  const lines: object[] = [{ type: 'category', market: 'service', ref: 'set', name: 'Base Set', game: 'pokemon', parent: null, image: null }]
  for (let n = 0; n < 16; n += 1) {
    const price = (label: string, times: number) => ({
      market: markets[n % 4],
      label,
      price: ((amount(stage, 90) + 1) * times).toFixed(2),
      updated_at: new Date().toISOString(),
    })
    lines.push({
      type: 'item',
      market: 'service',
      ref: `item-${n}`,
      name: `Card ${Math.floor(n / 2)}`,
      code: `${Math.floor(n / 2) + 1}/102`,
      genre: 'single',
      game: 'pokemon',
      category: 'set',
      images: [],
      attributes: [],
      groups: ['ungraded', 'graded'],
      details: {},
      foreign_ids: [],
      prices: n === 14 ? [] : [price('Near Mint', 1), price('PSA 10', n === 15 ? 0.001 : 10)],
    })
  }
  await importFile(stage, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  const items = await stage.service.db.selectFrom('items').select(['id', 'ref']).where('ref', 'like', 'item-%').execute()
  for (const { id, ref } of items) stage.items.set(ref, id)
  const psa = stage.service.db.selectFrom('groups').select('id').where('name', '=', 'PSA 10').where('parent_id', 'is not', null)
  stage.graded = (await psa.executeTakeFirstOrThrow()).id
}

/** A few rates and months; repeated, they change what was loaded before. The first days have none. */
async function changeRates(stage: Stage): Promise<void> {
  const rates = [...new Set(Array.from({ length: 12 }, () => daysAgo(below(stage, DAYS - 60))))].flatMap((day) => [
    { currency: 'USD', day, rate: 40 + below(stage, 5_000_000) / 1_000_000 },
    { currency: 'EUR', day, rate: 45 + below(stage, 5_000_000) / 1_000_000 },
  ])
  const months = [...new Set(Array.from({ length: 5 }, () => daysAgo(40 + below(stage, DAYS - 80)).slice(0, 7)))]
  const indices = months.map((month) => ({ index: 'TRY_CPI', month, value: 100 + below(stage, 900_000_000) / 1_000_000 }))
  await operator(stage.service, 'POST', '/rates', rates)
  await operator(stage.service, 'POST', '/indices', indices)
}

/** New prices for some items; half of these imports are reverted at once. */
async function importPrices(stage: Stage): Promise<void> {
  const rows = Array.from({ length: 6 }, (_, n) => [
    `item-${n * 2}`,
    'service',
    'Near Mint',
    (1 + amount(stage, 90)).toFixed(2),
    new Date().toISOString(),
  ])
  const file = `item_ref,market,label,price,updated_at\n${rows.map((row) => row.join(',')).join('\n')}\n`
  const id = await importFile(stage, 'mintmark-prices-csv', file)
  if (below(stage, 2) === 0) await operator(stage.service, 'POST', `/imports/${id}/revert`)
}

interface RecordPath {
  collection: number
  id: number
}
type Step = (stage: Stage, record: RecordPath) => Promise<number>

const path = ({ collection, id }: RecordPath) => `/${collection}/items/${id}`

async function addRecord(stage: Stage, collection: number, fields: object = {}): Promise<RecordPath> {
  const { data } = await mine<{ id: number }>(stage.service, 'POST', `/${collection}/items`, {
    item_id: oneOf(stage, [...stage.items.values()]),
    ...(below(stage, 5) === 0 && { item_group_type_id: stage.graded }),
    quantity: 1 + below(stage, 6),
    ...(below(stage, 5) > 0 && { purchase_price: amount(stage, 100) }),
    ...(below(stage, 4) > 0 && { purchase_date: daysAgo(below(stage, DAYS)) }),
    ...fields,
  })
  return { collection, id: data.id }
}

const dispose = async (stage: Stage, record: RecordPath, fields: object = {}) =>
  mine<{ id: number }>(stage.service, 'POST', `${path(record)}/disposals`, {
    at: daysAgo(below(stage, DAYS)),
    quantity: 1 + below(stage, 4),
    gross: amount(stage, 300),
    // Fees above the price make the proceeds negative.
    fees: amount(stage, below(stage, 8) === 0 ? 600 : 20),
    shipping: amount(stage, 15),
    currency: oneOf(stage, CURRENCIES),
    ...fields,
  })

const buy = async (stage: Stage, record: RecordPath, fields: object = {}) =>
  mine<{ id: number }>(stage.service, 'POST', `${path(record)}/lots`, {
    acquired_at: daysAgo(below(stage, DAYS)),
    quantity: 1 + below(stage, 5),
    fees: amount(stage, 9),
    currency: oneOf(stage, CURRENCIES),
    ...(below(stage, 5) > 0 && { unit_cost: amount(stage, 120) }),
    source: oneOf(stage, ['bought', 'bought', 'pulled', 'gift', 'traded']),
    ...fields,
  })

/** Lists copies, sells them in the market, and refunds half of these orders. Time passes: the order and the refund get earlier days. */
async function sellInMarket(stage: Stage, record: RecordPath): Promise<number> {
  const row = { record_id: record.id, quantity: 1 + below(stage, 2), price: 1 + below(stage, 30_000) / 100 }
  const listed = await mine<{ id: number }[]>(stage.service, 'POST', `/${record.collection}/list`, { rows: [row] })
  if (listed.status !== 201) return listed.status
  const listing = listed.data[0]!.id
  await operator(stage.service, 'POST', `/listings/${listing}/approve`)
  const order = (stage.nextOrder += 1)
  const { status } = await operator(stage.service, 'POST', '/orders', { order_id: order, lines: [{ listing_id: listing, quantity: row.quantity }] })
  const isRefunded = status === 201 && below(stage, 2) === 0
  if (isRefunded) await operator(stage.service, 'POST', `/orders/${order}/cancel`, { reason: 'returned' })
  const soldAgo = below(stage, DAYS)
  await sql`
    update collection_disposals
    set at = ${daysAgo(soldAgo)}::date, returned_at = case when returned_at is null then null else ${daysAgo(below(stage, soldAgo + 1))}::date end
    where order_id = ${order}`.execute(stage.service.db)
  return status
}

/** The copies of a lot become a record of their own. */
async function split(stage: Stage, record: RecordPath): Promise<number> {
  const lots = await mine<{ id: number | null; quantity: number; unit_cost: number | null; acquired_at: string }[]>(
    stage.service,
    'GET',
    `${path(record)}/lots`,
  )
  // The record may have been deleted by an earlier step.
  const lot = lots.data?.find(({ id }) => id !== null)
  if (!lot) return 404
  const { status } = await mine(stage.service, 'DELETE', `${path(record)}/lots/${lot.id}`)
  if (status === 200) {
    const fields = { quantity: lot.quantity, purchase_price: lot.unit_cost, purchase_date: lot.acquired_at }
    await addRecord(stage, record.collection, fields)
  }
  return status
}

async function trade(stage: Stage, record: RecordPath): Promise<number> {
  const [at, worth, quantity] = [daysAgo(below(stage, DAYS)), amount(stage, 200), 1 + below(stage, 3)]
  const { status } = await dispose(stage, record, { at, gross: worth, fees: 0, shipping: 0, currency: 'TRY', quantity })
  if (status !== 201) return status
  const received = { acquired_at: at, quantity, unit_cost: Math.floor((worth * 100) / quantity) / 100, fees: 0, currency: 'TRY', source: 'traded' }
  const other = await addRecord(stage, record.collection)
  return (await buy(stage, other, received)).status
}

/** Removes the last lot or disposal, as one does with a mistake. */
async function removeLast(stage: Stage, record: RecordPath): Promise<number> {
  const kind = oneOf(stage, ['lots', 'disposals'])
  const { data } = await mine<{ id: number | null }[]>(stage.service, 'GET', `${path(record)}/${kind}`)
  const last = data?.findLast(({ id }) => id !== null)
  return last ? (await mine(stage.service, 'DELETE', `${path(record)}/${kind}/${last.id}`)).status : 404
}

/** Merges an item with another one, or reverts such a merge. */
async function merge(stage: Stage): Promise<number> {
  const batch = below(stage, 2) === 0 ? stage.merges.shift() : undefined
  if (batch !== undefined) return (await operator(stage.service, 'POST', `/batches/${batch}/revert`)).status
  const n = below(stage, stage.items.size / 2) * 2
  const [from, into] = [stage.items.get(`item-${n}`), stage.items.get(`item-${n + 1}`)]
  const { status, data } = await operator<{ batch_id: number }>(stage.service, 'POST', `/items/${from}/merge`, { into })
  if (status === 200) stage.merges.push(data.batch_id)
  return status
}

/** With their shares of all steps. */
const STEPS: readonly [name: string, share: number, step: Step][] = [
  ['buy', 8, async (stage, record) => (await buy(stage, record)).status],
  ['sell', 8, async (stage, record) => (await dispose(stage, record)).status],
  ['sell in the market', 3, sellInMarket],
  ['trade', 2, trade],
  ['split', 1, split],
  ['remove', 2, removeLast],
  ['correct', 1, async (stage, record) => (await mine(stage.service, 'PATCH', path(record), { quantity: 1 + below(stage, 9) })).status],
  ['delete', 1, async (stage, record) => (below(stage, 4) > 0 ? 404 : (await mine(stage.service, 'DELETE', path(record))).status)],
  ['merge', 1, merge],
]
const DRAWN = STEPS.flatMap(([name, share, step]) => Array.from({ length: share }, () => ({ name, step })))

async function writeCollection(stage: Stage): Promise<number> {
  const created = await operator<{ id: number }>(stage.service, 'POST', '/collections', { account_id: stage.service.accountId, name: 'Generated' })
  for (let n = 0; n < RECORDS_PER_COLLECTION; n += 1) {
    const record = await addRecord(stage, created.data.id)
    for (let step = below(stage, STEPS_PER_RECORD * 2); step > 0; step -= 1) {
      const drawn = oneOf(stage, DRAWN)
      const isDone = (await drawn.step(stage, record)) < 300
      const counts = stage.steps.get(drawn.name) ?? { done: 0, refused: 0 }
      counts[isDone ? 'done' : 'refused'] += 1
      stage.steps.set(drawn.name, counts)
    }
  }
  return created.data.id
}

export interface Outcome {
  histories: number
  comparisons: number
  steps: Stage['steps']
  differences: string[]
}

/**
 * Enters at least this many histories, ten records a collection, and compares all profits.
 * @param atOnce collections that are written at the same time
 * @param tell called after each round with the number of histories so far
 */
export async function generateHistories(
  service: Service,
  { histories, random, atOnce, tell = () => {} }: { histories: number; random: () => number; atOnce: number; tell?: (count: number) => void },
): Promise<Outcome> {
  const stage: Stage = { service, random, items: new Map(), graded: 0, nextOrder: 1_000_000_000, merges: [], steps: new Map() }
  await makeCatalogue(stage)
  const outcome: Outcome = { histories: 0, comparisons: 0, steps: stage.steps, differences: [] }
  while (outcome.histories < histories) {
    await changeRates(stage)
    const collections = await Promise.all(Array.from({ length: atOnce }, () => writeCollection(stage)))
    await importPrices(stage)
    const given: Given = { rates: await allPages(service, '/rates'), indices: await allPages(service, '/indices?index=TRY_CPI') }
    const found = await Promise.all(collections.map((collection) => differencesOf(service, collection, given)))
    outcome.differences.push(...found.flat())
    outcome.histories += collections.length * RECORDS_PER_COLLECTION
    outcome.comparisons += collections.length * METHODS.length * MONEYS.length
    tell(outcome.histories)
  }
  return outcome
}
