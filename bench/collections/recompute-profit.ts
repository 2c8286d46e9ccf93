// Computes the profit of a collection again from its exported lots and disposals, as a stranger would with the rules in docs/decisions/collections.md
// alone: copy by copy, with arithmetic of its own. It imports nothing from src/.

export type Money = 'TRY' | 'USD' | 'EUR' | 'TRY_REAL'
export const MONEYS: readonly Money[] = ['TRY', 'USD', 'EUR', 'TRY_REAL']

/** What the API says beside the export. */
export interface Answers {
  method: 'fifo' | 'average'
  money: Money
  /** the day of the profit, which is today: `until` */
  today: string
  /** GET /operator/v1/rates: lira for one unit, from that day on */
  rates: readonly { currency: string; day: string; rate: number }[]
  /** GET /operator/v1/indices?index=TRY_CPI */
  indices: readonly { month: string; value: number }[]
  /** GET /plus/collections/{id}/items?with_value=1: the price of a copy, by record; records without a trusted price are missing */
  prices: ReadonlyMap<number, { market: string; currency: string; price: number }>
}

/** In minor units of the money. */
export interface Recomputed {
  realised: bigint
  unrealised: bigint
  fees: bigint
  cost: bigint
  value: bigint
  basis: Map<string, { records: number; value: bigint }>
  withoutCost: number
  withoutRate: number
  /** by day: received less paid */
  flows: Map<string, bigint>
  /** what the lots of known cost cost less what left and what is left of it; null if an amount is unknown, so that they need not be equal */
  unexplained: bigint | null
}

interface Row {
  record: number
  kind: string
  id: number
  day: string
  quantity: number
  unitCost: bigint | null
  gross: bigint
  fees: bigint
  shipping: bigint
  currency: string
  source: string
  returnedAt: string | null
}

/** A copy of a lot; `cost` is that of its share in the lot. */
interface Copy {
  lot: number
  position: number
  cost: bigint | null
}

/** A sale with the copies that it got so far, and what each cost. */
interface Sale {
  row: Row
  net: bigint | null
  copies: Copy[]
  costs: (bigint | null)[]
  returned: boolean
}

type Convert = (minor: bigint, currency: string, day: string) => bigint | null

/** Half up, also below 0. */
function divided(numerator: bigint, denominator: bigint): bigint {
  const [top, bottom] = [2n * numerator + denominator, 2n * denominator]
  const rest = ((top % bottom) + bottom) % bottom
  return (top - rest) / bottom
}

/** The share of the nth of `all` copies, from 0, in an amount. */
function nthShare(amount: bigint, n: number, all: number): bigint {
  return divided(amount * BigInt(n + 1), BigInt(all)) - divided(amount * BigInt(n), BigInt(all))
}

/** `12.3` → 1230n for two decimals. */
function scaledText(text: string, decimals: number): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!
  return BigInt(`${sign}${whole}${fraction.padEnd(decimals, '0')}`)
}

const minorOf = (text: string) => scaledText(text, 2)
const sum = (amounts: Iterable<bigint | null>) => [...amounts].reduce<bigint>((all, amount) => all + (amount ?? 0n), 0n)
const earlier = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** The rows of the export by record; its cells have neither commas nor quotes, except in labels. */
export function recordsOf(file: string): Map<number, Row[]> {
  const [head = '', ...lines] = file.trimEnd().split('\n')
  const names = head.split(',')
  const records = new Map<number, Row[]>()
  for (const line of lines) {
    const cells = [...line.matchAll(/(?:^|,)("(?:[^"]|"")*"|[^,]*)/g)].map(([, cell]) => cell!)
    const cell = (name: string) => cells[names.indexOf(name)]!
    const amount = (name: string) => (cell(name) === '' ? 0n : minorOf(cell(name)))
    const record = Number(cell('record_id'))
    const row: Row = {
      record,
      kind: cell('kind'),
      id: Number(cell('id')),
      day: cell('day'),
      quantity: Number(cell('quantity')),
      unitCost: cell('unit_cost') === '' ? null : minorOf(cell('unit_cost')),
      gross: amount('gross'),
      fees: amount('fees'),
      shipping: amount('shipping'),
      currency: cell('currency'),
      source: cell('source'),
      returnedAt: cell('returned_at') === '' ? null : cell('returned_at'),
    }
    const ofRecord = records.get(record)
    if (ofRecord) ofRecord.push(row)
    else records.set(record, [row])
  }
  return records
}

/** Converts by the last rate and the last index of a day or earlier; with real lira to those of the last published month. */
function converter({ money, rates, indices }: Pick<Answers, 'money' | 'rates' | 'indices'>): Convert {
  const target = money === 'TRY_REAL' ? 'TRY' : money
  const oldestFirst = rates.toSorted((a, b) => earlier(a.day, b.day))
  const byCurrency = Map.groupBy(oldestFirst, ({ currency }) => currency)
  const months = indices.toSorted((a, b) => earlier(a.month, b.month))
  const liraFor = (currency: string, day: string): bigint | null => {
    if (currency === 'TRY') return 1_000_000n
    const rate = byCurrency.get(currency)?.findLast((one) => one.day <= day)
    return rate ? scaledText(String(rate.rate), 6) : null
  }
  const levelIn = (month: string) => {
    const level = months.findLast((one) => one.month <= month)
    return level ? scaledText(String(level.value), 6) : null
  }
  const factors = new Map<string, [bigint, bigint] | null>()
  const factorOf = (currency: string, day: string): [bigint, bigint] | null => {
    const [from, to] = currency === target ? [1n, 1n] : [liraFor(currency, day), liraFor(target, day)]
    const [newest, then] = money === 'TRY_REAL' ? [levelIn('9999-12'), levelIn(day.slice(0, 7))] : [1n, 1n]
    return from === null || to === null || newest === null || then === null ? null : [from * newest, to * then]
  }
  return (minor, currency, day) => {
    const key = currency + day
    if (!factors.has(key)) factors.set(key, factorOf(currency, day))
    const factor = factors.get(key)
    return factor ? divided(minor * factor[0], factor[1]) : null
  }
}

/** Follows every copy of a record: it is bought, leaves and comes back on its own. */
function follow(lots: readonly { row: Row; cost: bigint | null }[], rows: readonly Row[], convert: Convert, { method, today }: Answers) {
  const future = lots.flatMap(({ row, cost }, lot) =>
    Array.from({ length: row.quantity }, (_, i): Copy => ({ lot, position: i, cost: cost === null ? null : nthShare(cost, i, row.quantity) })),
  )
  const atHand: Copy[] = []
  /** what the copies at hand cost together: with averages, a copy has no cost of its own */
  let pool = 0n
  const sales: Sale[] = []
  const arrive = (day: string) => {
    while (future.length > 0 && lots[future[0]!.lot]!.row.day <= day) {
      const copy = future.shift()!
      atHand.push(copy)
      pool += copy.cost ?? 0n
    }
    atHand.sort((a, b) => a.lot - b.lot || a.position - b.position)
  }
  const leave = (sale: Sale) => {
    const count = sale.row.quantity - sale.copies.length
    const pooledCopies = atHand.filter(({ cost }) => cost !== null).length
    const own = atHand.splice(0, count)
    const priced = own.filter(({ cost }) => cost !== null).length
    const share = priced === 0 ? 0n : divided(pool * BigInt(priced), BigInt(pooledCopies))
    let nth = 0
    const costs = own.map(({ cost }) => (cost === null || method === 'fifo' ? cost : nthShare(share, nth++, priced)))
    pool -= sum(costs)
    // Entered for a day before its purchase: the copies come from the next lots.
    const early = future.splice(0, count - own.length)
    sale.copies.push(...own, ...early)
    sale.costs.push(...costs, ...early.map(({ cost }) => cost))
  }
  const events = rows
    .filter(({ kind }) => kind === 'disposal')
    .flatMap((row) => [{ row, day: row.day, back: 0 }, ...(row.returnedAt === null ? [] : [{ row, day: row.returnedAt, back: 1 }])])
    .filter(({ day }) => day <= today)
    .sort((a, b) => earlier(a.day, b.day) || a.back - b.back || a.row.id - b.row.id)
  for (const { row, day, back } of events) {
    arrive(day)
    if (back === 0) {
      const sale: Sale = { row, net: convert(row.gross - row.fees - row.shipping, row.currency, row.day), copies: [], costs: [], returned: false }
      sales.push(sale)
      leave(sale)
      continue
    }
    const sale = sales.find((one) => one.row === row)!
    sale.returned = true
    atHand.push(...sale.copies)
    pool += sum(sale.costs)
    arrive(day)
    for (const late of sales) if (!late.returned && late.copies.length < late.row.quantity) leave(late)
  }
  arrive(today)
  const left = method === 'fifo' ? atHand.map(({ cost }) => cost) : averaged(atHand, pool)
  return { sales, left, atHand }
}

/** What each copy at hand costs if they share the pool. */
function averaged(atHand: readonly Copy[], pool: bigint): (bigint | null)[] {
  const priced = atHand.filter(({ cost }) => cost !== null).length
  let nth = 0
  return atHand.map(({ cost }) => (cost === null ? null : nthShare(pool, nth++, priced)))
}

export function recompute(file: string, answers: Answers): Recomputed {
  const convert = converter(answers)
  const total: Recomputed = {
    realised: 0n,
    unrealised: 0n,
    fees: 0n,
    cost: 0n,
    value: 0n,
    basis: new Map(),
    withoutCost: 0,
    withoutRate: 0,
    flows: new Map(),
    unexplained: 0n,
  }
  for (const rows of recordsOf(file).values()) addRecord(total, rows, convert, answers)
  return total
}

function addRecord(total: Recomputed, rows: readonly Row[], convert: Convert, answers: Answers): void {
  const unitOf = ({ unitCost, source }: Row) => unitCost ?? (source === 'pulled' || source === 'gift' ? 0n : null)
  const lots = rows
    .filter(({ kind }) => kind === 'lot')
    .map((row) => {
      const unit = unitOf(row)
      return { row, cost: unit === null ? null : convert(unit * BigInt(row.quantity) + row.fees, row.currency, row.day) }
    })
    .sort((a, b) => earlier(a.row.day, b.row.day) || a.row.id - b.row.id)
  const { sales, left, atHand } = follow(lots, rows, convert, answers)
  const price = left.length === 0 ? undefined : answers.prices.get(rows[0]!.record)
  const value = price ? convert(minorOf(String(price.price)) * BigInt(left.length), price.currency, answers.today) : null
  const values = left.map((_, i) => (value === null ? null : nthShare(value, i, left.length)))
  for (const { row } of lots) total.fees += convert(row.fees, row.currency, row.day) ?? 0n
  let sold = 0n
  for (const { row, net, costs, returned } of sales) {
    if (returned) continue
    total.fees += convert(row.fees + row.shipping, row.currency, row.day) ?? 0n
    costs.forEach((cost, n) => {
      if (cost === null || net === null) return
      total.realised += nthShare(net, n, row.quantity) - cost
      sold += cost
    })
  }
  total.cost += sum(left)
  total.unrealised += sum(left.map((cost, n) => (cost === null || values[n] === null ? null : values[n]! - cost)))
  total.withoutCost += Number(lots.some(({ row }) => unitOf(row) === null))
  const unconverted = lots.some(({ row, cost }) => cost === null && unitOf(row) !== null) || sales.some(({ net }) => net === null)
  total.withoutRate += Number(unconverted || (price !== undefined && value === null))
  if (price && value !== null) {
    total.value += value
    const ofMarket = total.basis.get(price.market) ?? { records: 0, value: 0n }
    total.basis.set(price.market, { records: ofMarket.records + 1, value: ofMarket.value + value })
  }
  if (sales.some(({ net, returned }) => net === null && !returned)) total.unexplained = null
  else if (total.unexplained !== null) total.unexplained += sum(lots.map(({ cost }) => cost)) - sold - sum(left)
  addFlows(total.flows, { lots, sales, left, values, atHand, today: answers.today })
}

interface Followed extends ReturnType<typeof follow> {
  lots: readonly { row: Row; cost: bigint | null }[]
  values: readonly (bigint | null)[]
  today: string
}

/** The dated flows of the copies that are in a gain: paid negative, received positive. */
function addFlows(flows: Map<string, bigint>, { lots, sales, left, values, atHand, today }: Followed): void {
  const add = (day: string, amount: bigint) => flows.set(day, (flows.get(day) ?? 0n) + amount)
  const live = sales.filter(({ returned }) => !returned)
  const isWhole =
    lots.every(({ cost }) => cost !== null) &&
    values.every((value) => value !== null) &&
    live.every(({ row, copies, net }) => net !== null && copies.length === row.quantity)
  if (isWhole) for (const { row, cost } of lots) add(row.day, -cost!)
  for (const { row, net, copies, costs } of live) {
    copies.forEach((copy, n) => {
      if (costs[n] === null || net === null) return
      add(row.day, nthShare(net, n, row.quantity))
      if (!isWhole) add(lots[copy.lot]!.row.day, -costs[n]!)
    })
  }
  left.forEach((cost, n) => {
    if (cost === null || values[n] === null) return
    add(today, values[n]!)
    if (!isWhole) add(lots[atHand[n]!.lot]!.row.day, -cost)
  })
}

/** Yearly growth, as a logarithm, up to which a rate must be found. */
const STEEPEST = 12
const STEP = 0.01
/** Growth down to which a rate may lie that is stated. */
const BEYOND = 640

/** Whether a yearly rate is one at which the flows add up to nothing, to six decimals; for null, whether there is none. */
export function isRateOf(flows: ReadonlyMap<string, bigint>, rate: number | null): boolean {
  const dated = [...flows]
    .filter(([, amount]) => amount !== 0n)
    .map(([day, amount]) => ({ days: Date.parse(day) / 86_400_000, amount: Number(amount) }))
  const first = dated.reduce((least, { days }) => Math.min(least, days), Infinity)
  const last = dated.reduce((most, { days }) => Math.max(most, days), -Infinity)
  // Below 0, valued on the last day: the sign is the same, and no power overflows.
  const worthAt = (growth: number) =>
    dated.reduce((all, { days, amount }) => all + amount * Math.exp((growth * ((growth < 0 ? last : first) - days)) / 365), 0)
  const changesSign = (from: number, to: number) =>
    new Set(Array.from({ length: Math.ceil((to - from) / STEP) }, (_, n) => Math.sign(worthAt(from + n * STEP)))).size > 1
  // Several rates this near to -1 are equal by six decimals, and all below -0.999999 are stated as it.
  if (rate !== null && rate < -0.9999) return changesSign(-BEYOND, Math.log1p(rate) + 0.5)
  if (rate !== null) {
    const off = Math.max(1e-6, Math.abs(rate) * 1e-9)
    return worthAt(Math.log1p(rate - off)) * worthAt(Math.log1p(rate + off)) <= 0
  }
  return dated.every(({ days }) => days - first < 30) || !changesSign(-STEEPEST, STEEPEST)
}
