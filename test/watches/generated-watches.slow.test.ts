// A thousand generated watches over several days of changing prices and listings, compared with an oracle that looks at one watch after the other.
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MARKETS } from '#core/markets.ts'
import { randomNumbers } from '#core/random.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { followChanges } from '#watches/follow-changes.ts'
import { DAY_MS, pending, plus, published } from '../market/kit.ts'
import { setEvidence } from '../support/evidence.ts'
import { msPastMidnight, startTestNode, type TestNode } from '../support/node.ts'
import { events, newItems, setPrice, type StatedPrice, type Watch, watching } from './kit.ts'

const ITEMS = 40
const WATCHES = 1_000
const DAYS = 3
const LABELS = ['Near Mint', 'Lightly Played', 'PSA 10'] as const
const SOURCES = ['source_a', 'source_b', 'source_c'] as const
const CURRENCIES: Record<string, string> = { service: 'TRY', source_a: 'USD', source_b: 'EUR', source_c: 'USD' }

let random = randomNumbers(0)
const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
const oneOf = <T>(values: readonly T[]): T => values[whole(0, values.length - 1)]!
const cents = () => whole(8_000, 12_000) / 100

let node: TestNode
beforeEach(async () => {
  node = await startTestNode()
})
afterEach(() => node.close())

interface Facts {
  prices: { item_id: number; market: string; label: string; minor: number; isTrusted: boolean }[]
  listings: { id: number; item_id: number; seller_id: number; label: string; language: string | null; minor: number; isOnSale: boolean }[]
}

/** What is stored, without any condition. */
async function facts(): Promise<Facts> {
  const { kysely } = node.db
  const prices = await kysely
    .selectFrom('prices')
    .innerJoin('groups as g', 'g.id', 'label_id')
    .select(['item_id', 'market', 'g.name', 'price', 'state'])
    .orderBy('item_id')
    .orderBy('market')
    .orderBy('label_id')
    .execute()
  const listings = await kysely
    .selectFrom('listings as l')
    .innerJoin('groups as g', 'g.id', 'label_id')
    .selectAll('l')
    .select('g.name')
    .orderBy('l.id')
    .execute()
  return {
    prices: prices.map((row) => ({
      item_id: row.item_id,
      market: MARKETS[row.market]!,
      label: row.name,
      minor: Math.round(Number(row.price) * 100),
      isTrusted: STATES[row.state] === 'trusted',
    })),
    listings: listings.map((row) => ({
      id: row.id,
      item_id: row.item_id,
      seller_id: row.seller_id,
      label: row.name,
      language: row.language?.toLowerCase() ?? null,
      minor: Math.round(Number(row.price) * 100),
      isOnSale: row.status === 'active' && row.quantity > 0 && row.expires_at! > node.clock.now(),
    })),
  }
}

/** What best meets a watch, as `price market listing`; null for nothing. */
function bestOf(watch: Watch & { accountId: number }, { prices, listings }: Facts): string | null {
  const amount = Math.round(watch.amount * 100)
  if (watch.kind === 'offer_below') {
    const [best] = listings
      .filter((one) => one.item_id === watch.item_id && one.isOnSale && one.seller_id !== watch.accountId && one.minor <= amount)
      .filter((one) => (watch.label === null || one.label === watch.label) && (watch.language === null || one.language === watch.language))
      .sort((a, b) => a.minor - b.minor || a.id - b.id)
    return best ? `${best.minor} null ${best.id}` : null
  }
  const isBelow = watch.kind === 'price_below'
  const [best] = prices
    .filter((one) => one.item_id === watch.item_id && one.label === watch.label && one.isTrusted && CURRENCIES[one.market] === watch.currency)
    .filter((one) => (isBelow ? one.minor <= amount : one.minor >= amount))
    .sort((a, b) => (isBelow ? a.minor - b.minor : b.minor - a.minor) || (a.market < b.market ? -1 : 1))
  return best ? `${best.minor} ${best.market} null` : null
}

async function generateWatches(items: readonly number[]): Promise<(Watch & { accountId: number })[]> {
  const all: (Watch & { accountId: number })[] = []
  for (const plan of ['plus', 'enterprise'] as const) {
    const rows = Array.from({ length: WATCHES / 2 }, () => {
      const kind = oneOf(['offer_below', 'price_below', 'price_above'])
      const of = { kind, item_id: oneOf(items), amount: cents() }
      if (kind !== 'offer_below') return { ...of, label: oneOf(LABELS), currency: oneOf(['USD', 'EUR']) }
      return { ...of, label: oneOf([null, ...LABELS]), language: oneOf([null, 'en', 'ja']) }
    })
    const { body } = await watching<Watch[]>(node, 'PUT', '', rows, node.keys[plan])
    for (const watch of new Map(body.data.map((one) => [one.id, one])).values()) all.push({ ...watch, accountId: node.accounts[plan] })
  }
  return all
}

async function addListing(itemId: number, grades: ReadonlyMap<string, number>): Promise<void> {
  const seller = oneOf(['plus', 'enterprise'] as const)
  const fields = { seller_id: node.accounts[seller], price: cents(), grade_id: grades.get(oneOf(LABELS))!, language: oneOf([null, 'en', 'JA']) }
  if (random() < 0.2) await pending(node, itemId, fields)
  else {
    const { id } = await published(node, itemId, { ...fields, quantity: oneOf([0, 1, 3]) })
    if (random() < 0.2) await plus(node, 'POST', `/listings/${id}/status?action=pause`, undefined, { key: node.keys[seller] })
  }
}

/** Up to a fifth more or less, and always another price. */
function changed(minor: number): string {
  const other = Math.round(minor * (0.8 + random() * 0.4))
  return ((other === minor ? minor + 1 : other) / 100).toFixed(2)
}

/** Changes some prices, their states, and listings. */
async function change(items: readonly number[], grades: ReadonlyMap<string, number>): Promise<void> {
  const { prices, listings } = await facts()
  for (const { item_id: itemId, market, label, minor } of prices) {
    if (random() < 0.2) await setPrice(node, itemId, changed(minor), { market: market as StatedPrice['market'], label })
    if (random() < 0.15) await setEvidence(node, { itemId, market: market as StatedPrice['market'], label }, { state: oneOf(STATES) })
  }
  for (const { id, seller_id: seller } of listings) {
    const key = seller === node.accounts.plus ? node.keys.plus : node.keys.enterprise
    if (random() < 0.3) await plus(node, 'PATCH', `/listings/${id}`, { price: cents(), quantity: oneOf([0, 2]) }, { key })
    else if (random() < 0.1) await plus(node, 'DELETE', `/listings/${id}`, undefined, { key })
  }
  for (let n = 0; n < 10; n += 1) await addListing(oneOf(items), grades)
}

test.for([34, 35, 36, 37])('every day, exactly those are told that the oracle finds, with what it finds (seed %i)', async (seed) => {
  random = randomNumbers(seed)
  node.clock.advance(msPastMidnight(node.clock.now()))
  const stated = Array.from({ length: ITEMS }, () =>
    SOURCES.flatMap((market) => LABELS.flatMap((label) => (random() < 0.5 ? [{ market, label, price: cents().toFixed(2) }] : []))),
  )
  const items = await newItems(node, stated)
  // Whatever the rules of evidence say: some of each state, most of them trusted.
  await sql`update prices set state = case when (item_id * 7 + label_id * 3 + market) % 5 = 0 then 1 + item_id % 3 else 0 end`.execute(node.db.kysely)
  const groups = await node.db.kysely.selectFrom('groups').select(['id', 'name']).where('parent_id', 'is not', null).execute()
  const grades = new Map(groups.map(({ id, name }) => [name, id]))
  for (let n = 0; n < ITEMS; n += 1) await addListing(oneOf(items), grades)
  const watches = await generateWatches(items)
  expect(watches.length).toBeGreaterThan(500)
  const last = new Map<number, string>()
  let earlier: string[] = []
  for (let day = 0; day < DAYS; day += 1) {
    const current = await facts()
    const expected: string[] = []
    for (const watch of watches) {
      const best = bestOf(watch, current)
      if (best === null) last.delete(watch.id)
      else if (last.get(watch.id) !== best) {
        last.set(watch.id, best)
        expected.push(`${watch.id}: ${best}`)
      }
    }
    await followChanges(node.ctx)
    const all = [...(await events(node)), ...(await events(node, node.keys.plus))]
    const told = all.map(({ watch_id: id, price, market, listing_id: listing }) => `${id}: ${Math.round(price * 100)} ${market} ${listing}`)
    // A line can occur on several days.
    const fresh = [...told]
    for (const line of earlier) fresh.splice(fresh.indexOf(line), 1)
    expect(fresh.sort(), `day ${day}`).toEqual(expected.sort())
    earlier = told
    // The same again on the same day tells nothing more.
    await followChanges(node.ctx)
    expect((await events(node)).length + (await events(node, node.keys.plus)).length).toBe(told.length)
    await change(items, grades)
    node.clock.advance(DAY_MS)
  }
  expect(earlier.length).toBeGreaterThan(100)
})
