// Compares the profits of a collection, by both methods and in four moneys, with what its export of lots and disposals alone says.
import { type Answers, isRateOf, type Money, MONEYS, recompute, type Recomputed, recordsOf } from './recompute-profit.ts'
import { mine, type Service } from './service.ts'

export const METHODS = ['fifo', 'average'] as const

interface Profit {
  until: string
  realised: number
  unrealised: number
  fees: number
  cost: number
  value: number
  xirr: number | null
  basis: { market: string; records: number; value: number }[]
  without_cost: number
  without_rate: number
}

export type Given = Pick<Answers, 'rates' | 'indices'>

/** What differs between the profits of a collection and its export, and for one money and method also between the profit and the listed lots. */
export async function differencesOf(service: Service, collection: number, given: Given): Promise<string[]> {
  const file = await fetch(`${service.publicUrl}/api/v1/plus/collections/${collection}/export?format=mintmark-lots`, {
    headers: { authorization: `Bearer ${service.key}` },
  }).then((response) => response.text())
  const items = await mine<{ id: number; value: { market: string; currency: string; price: number } | null }[]>(
    service,
    'GET',
    `/${collection}/items?with_value=1`,
  )
  const prices: Answers['prices'] = new Map(items.data.flatMap(({ id, value }) => (value ? [[id, value]] : [])))
  const differences: string[] = []
  for (const method of METHODS) {
    await mine(service, 'PATCH', `/${collection}`, { method })
    for (const money of MONEYS) {
      const { data: profit } = await mine<Profit>(service, 'GET', `/${collection}/profit?currency=${money}`)
      const own = recompute(file, { method, money, today: profit.until, prices, ...given })
      const found = differing(profit, own)
      // Listings take two requests a record.
      const isListed = MONEYS[collection % MONEYS.length] === money && METHODS[collection % METHODS.length] === method
      if (isListed) found.push(...differingSums(profit, await sumsOfListings(service, file, collection, money)))
      differences.push(...found.map((one) => `collection ${collection}, ${method}, ${money}: ${one}`))
    }
  }
  return differences
}

function differing(profit: Profit, own: Recomputed): string[] {
  const [minor, found] = [(value: number) => Math.round(value * 100), [] as string[]]
  const expect = (what: string, theirs: unknown, ours: unknown) => {
    if (theirs !== ours) found.push(`${what} is ${String(theirs)}, by the export ${String(ours)}`)
  }
  for (const field of ['realised', 'unrealised', 'fees', 'cost', 'value'] as const) expect(field, minor(profit[field]), Number(own[field]))
  expect('without_cost', profit.without_cost, own.withoutCost)
  expect('without_rate', profit.without_rate, own.withoutRate)
  const basis = profit.basis.map(({ market, records, value }) => `${market} ${records} ${minor(value)}`)
  const ownBasis = Array.from(own.basis, ([market, { records, value }]) => `${market} ${records} ${value}`)
  expect('basis', basis.sort().join(), ownBasis.sort().join())
  if (own.unexplained !== null && own.unexplained !== 0n) found.push(`lots differ from disposals and rest by ${own.unexplained}`)
  if (!isRateOf(own.flows, profit.xirr)) found.push(`xirr ${profit.xirr} is not a rate of the flows`)
  return found
}

interface ListedSums {
  lots: { realised: number; gain: number; rest: number }
  disposals: { realised: number }
}

/** The sums of the lots and disposals that the API lists. */
async function sumsOfListings(service: Service, file: string, collection: number, money: Money): Promise<ListedSums> {
  const sums: ListedSums = { lots: { realised: 0, gain: 0, rest: 0 }, disposals: { realised: 0 } }
  const minor = (value: number | null) => Math.round((value ?? 0) * 100)
  for (const id of recordsOf(file).keys()) {
    const query = `?currency=${money}`
    const lots = await mine<{ realised: number | null; gain: number | null; rest_cost: number | null }[]>(
      service,
      'GET',
      `/${collection}/items/${id}/lots${query}`,
    )
    for (const lot of lots.data) {
      sums.lots.realised += minor(lot.realised)
      sums.lots.gain += minor(lot.gain)
      sums.lots.rest += minor(lot.rest_cost)
    }
    const disposals = await mine<{ realised: number | null }[]>(service, 'GET', `/${collection}/items/${id}/disposals${query}`)
    for (const disposal of disposals.data) sums.disposals.realised += minor(disposal.realised)
  }
  return sums
}

function differingSums(profit: Profit, { lots, disposals }: ListedSums): string[] {
  const minor = (value: number) => Math.round(value * 100)
  const pairs: [string, number, number][] = [
    ['realised of lots', lots.realised, minor(profit.realised)],
    ['realised of disposals', disposals.realised, minor(profit.realised)],
    ['gain of lots', lots.gain, minor(profit.realised) + minor(profit.unrealised)],
    ['rest_cost of lots', lots.rest, minor(profit.cost)],
  ]
  return pairs.filter(([, listed, profits]) => listed !== profits).map(([what, listed, profits]) => `${what} is ${listed}, the profit has ${profits}`)
}
