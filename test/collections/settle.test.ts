// The settlement of lots and disposals against an oracle that follows every copy, over generated histories in four moneys; and the yearly rate.
import { describe, expect, test } from 'vitest'
import { internalRate } from '#collections/lots/internal-rate.ts'
import { conversionBy } from '#collections/lots/moneys.ts'
import { type DisposalFlow, type LotFlow, settle, type Settlement } from '#collections/lots/settle.ts'
import { PriceIndex } from '#prices/indices/price-index.ts'
import { Rates } from '#prices/rates/rates.ts'
import { runs } from '../support/runs.ts'

const HISTORIES = runs(10_000)
const METHODS = ['fifo', 'average'] as const

/** Random numbers that are the same in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const dayOf = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10)

/** Half up, by whole division of positive and negative numbers. */
function halfUp(numerator: bigint, denominator: bigint): bigint {
  const [n, d] = [numerator * 2n + denominator, denominator * 2n]
  const rest = ((n % d) + d) % d
  return (n - rest) / d
}

/** A copy, with the position that decides which one leaves first. */
interface Copy {
  lot: number
  position: number
  cost: bigint | null
}

interface Expected {
  rest: { copies: number; cost: bigint; unknown: number }
  gains: Map<number, bigint>
  costs: Map<number, bigint>
}

/** Follows every copy: it is bought, leaves and comes back on its own. */
function simulate(method: 'fifo' | 'average', lots: LotFlow[], disposals: DisposalFlow[], until: string): Expected {
  const ordered = [...lots].sort((a, b) => (a.day === b.day ? (a.id ?? 0) - (b.id ?? 0) : a.day < b.day ? -1 : 1))
  const future: Copy[] = ordered.flatMap(({ quantity, cost }, lot) =>
    Array.from({ length: quantity }, (_, i) => ({
      lot,
      position: i,
      cost: cost === null ? null : halfUp(cost * BigInt(i + 1), BigInt(quantity)) - halfUp(cost * BigInt(i), BigInt(quantity)),
    })),
  )
  const isFuture = new Set(future)
  let atHand: Copy[] = []
  /** what the copies at hand cost together: with averages, a copy has no cost of its own */
  let poolCost = 0n
  const gone = new Map<number, { copies: Copy[]; costs: (bigint | null)[] }>()
  const gains = new Map<number, bigint>()
  const costs = new Map<number, bigint>()
  const buy = (day: string) => {
    for (const copy of isFuture) {
      if (ordered[copy.lot]!.day > day) continue
      isFuture.delete(copy)
      atHand.push(copy)
      poolCost += copy.cost ?? 0n
    }
    atHand.sort((a, b) => a.lot - b.lot || a.position - b.position)
  }
  const leave = (count: number) => {
    const own = atHand.slice(0, count)
    const early = [...isFuture].slice(0, count - own.length)
    const known = own.filter(({ cost }) => cost !== null)
    const everyKnown = atHand.filter(({ cost }) => cost !== null)
    atHand = atHand.slice(own.length)
    for (const copy of early) isFuture.delete(copy)
    const pooled = known.length === 0 ? 0n : halfUp(poolCost * BigInt(known.length), BigInt(everyKnown.length))
    let nth = 0
    const costsOf = own.map(({ cost }) => {
      if (cost === null) return null
      nth += 1
      if (method === 'fifo') return cost
      return halfUp(pooled * BigInt(nth), BigInt(known.length)) - halfUp(pooled * BigInt(nth - 1), BigInt(known.length))
    })
    for (const cost of costsOf) poolCost -= cost ?? 0n
    return { copies: [...own, ...early], costs: [...costsOf, ...early.map(({ cost }) => cost)] }
  }
  const events = disposals
    .flatMap((flow) => [
      { day: flow.day, back: 0, flow },
      { day: flow.returnedDay ?? '9999', back: 1, flow },
    ])
    .filter(({ day }) => day <= until)
    .sort((a, b) => (a.day === b.day ? a.back - b.back || a.flow.id - b.flow.id : a.day < b.day ? -1 : 1))
  for (const { day, back, flow } of events) {
    buy(day)
    if (back === 0) {
      const left = leave(flow.quantity)
      gone.set(flow.id, left)
      let gain = 0n
      let spent = 0n
      left.costs.forEach((cost, i) => {
        if (cost === null || flow.proceeds === null) return
        const [n, all] = [BigInt(i), BigInt(flow.quantity)]
        gain += halfUp(flow.proceeds * (n + 1n), all) - halfUp(flow.proceeds * n, all) - cost
        spent += cost
      })
      gains.set(flow.id, gain)
      costs.set(flow.id, spent)
    } else {
      const { copies, costs: paid } = gone.get(flow.id)!
      atHand.push(...copies)
      atHand.sort((a, b) => a.lot - b.lot || a.position - b.position)
      for (const cost of paid) poolCost += cost ?? 0n
      gains.set(flow.id, 0n)
      costs.set(flow.id, 0n)
    }
  }
  buy(until)
  const unknown = atHand.filter(({ cost }) => cost === null).length
  return { rest: { copies: atHand.length, cost: poolCost, unknown }, gains, costs }
}

/** A flow as entered: in a currency of its own. */
interface Entered {
  currency: string
  minor: bigint | null
}

interface History {
  lots: (Omit<LotFlow, 'cost'> & Entered)[]
  disposals: (Omit<DisposalFlow, 'proceeds'> & Entered)[]
}

/** Purchases, sales, trades, refunds and removed lots, as the API would have accepted them: never more copies out than there are. */
function history(next: () => number): History {
  const below = (n: number) => Math.floor(next() * n)
  const amount = (most: number): Entered => ({ currency: ['TRY', 'TRY', 'USD', 'EUR'][below(4)]!, minor: BigInt(below(most)) })
  const lots: History['lots'] = []
  const disposals: History['disposals'] = []
  const count = 1 + below(5)
  for (let i = 0; i < count; i += 1) {
    const paid = amount(50_000)
    lots.push({ id: i === 0 ? null : i, day: dayOf(below(120)), quantity: 1 + below(7), ...paid, minor: below(6) === 0 ? null : paid.minor })
  }
  for (let i = 0, sales = below(7); i < sales; i += 1) {
    const owned = lots.reduce((sum, lot) => sum + lot.quantity, 0)
    const out = disposals.reduce((sum, one) => sum + (one.returnedDay === null ? one.quantity : 0), 0)
    if (owned === out) break
    const day = below(120)
    const received = amount(60_000)
    disposals.push({
      id: i + 1,
      day: dayOf(day),
      // Fees above the price make the proceeds negative.
      ...received,
      minor: received.minor! - (below(10) === 0 ? 70_000n : 0n),
      quantity: 1 + below(owned - out),
      returnedDay: below(4) === 0 ? dayOf(day + below(60)) : null,
    })
  }
  // A reverted import: its lot goes if its copies are still there.
  const removed = below(3) === 0 ? lots.at(-1)! : null
  if (removed && lots.length > 1) {
    const owned = lots.reduce((sum, lot) => sum + lot.quantity, 0)
    const out = disposals.reduce((sum, one) => sum + (one.returnedDay === null ? one.quantity : 0), 0)
    if (owned - out >= removed.quantity) lots.pop()
  }
  return { lots, disposals }
}

const sum = (values: Iterable<bigint>) => [...values].reduce((all, one) => all + one, 0n)

function checkSums({ lots, disposals }: Settlement): void {
  // Without disposals of copies that were not acquired yet on the last day, every known lot is divided into what left and what is left.
  const lotsOfKnownCost = lots.filter(({ flow }) => flow.cost !== null)
  const taken = sum(disposals.map(({ cost }) => cost))
  const incomplete = disposals.some(({ flow, returned }) => flow.proceeds === null && !returned)
  if (!incomplete && lots.every(({ acquired }) => acquired)) {
    expect(sum(lotsOfKnownCost.map(({ flow }) => flow.cost!))).toBe(taken + sum(lotsOfKnownCost.map(({ restCost }) => restCost!)))
  }
  expect(sum(lots.map(({ realised }) => realised))).toBe(sum(disposals.map(({ realised }) => realised)))
  expect(sum(lots.map(({ soldCost }) => soldCost))).toBe(taken)
}

test(`settles ${HISTORIES} histories in four moneys as an oracle does that follows every copy`, () => {
  const next = random(34)
  const rates = new Rates()
  for (let day = 5; day < 200; day += 3) {
    rates.add('USD', Date.parse(dayOf(day)), 40 + Math.round(next() * 5_000_000) / 1_000_000)
    rates.add('EUR', Date.parse(dayOf(day)), 45 + Math.round(next() * 5_000_000) / 1_000_000)
  }
  const index = new PriceIndex([
    { month: '2026-01', value: '100.500000' },
    { month: '2026-02', value: '104.250000' },
    { month: '2026-04', value: '111.000001' },
  ])
  const moneys = (['TRY', 'USD', 'EUR', 'TRY_REAL'] as const).map((money) => conversionBy(rates, money, money === 'TRY_REAL' ? index : null))
  const seen = { returned: 0, unknown: 0, early: 0, shortOfNow: 0 }
  for (let n = 0; n < HISTORIES; n += 1) {
    const entered = history(next)
    const { convert } = moneys[n % moneys.length]!
    const until = dayOf(n % 3 === 0 ? 60 : 200)
    const lots = entered.lots.map(({ minor, currency, ...lot }) => ({ ...lot, cost: minor === null ? null : convert(minor, currency, lot.day) }))
    const disposals = entered.disposals.map(({ minor, currency, ...one }) => ({ ...one, proceeds: convert(minor!, currency, one.day) }))
    for (const method of METHODS) {
      const settled = settle(method, { lots, disposals }, until)
      checkSums(settled)
      // A refunded sale may leave a later one, entered for an earlier day, without copies until the refund: the oracle does not wait for them.
      const isShort = settled.disposals.some(({ flow }) => {
        const outThen = disposals.filter((one) => one.day <= flow.day && (one.returnedDay === null || one.returnedDay >= flow.day))
        return outThen.reduce((all, one) => all + one.quantity, 0) > lots.reduce((all, lot) => all + lot.quantity, 0)
      })
      if (isShort) {
        seen.shortOfNow += 1
        continue
      }
      const expected = simulate(method, lots, disposals, until)
      const known = settled.lots.filter(({ restCost }) => restCost !== null)
      expect({
        rest: {
          copies: settled.lots.reduce((all, { rest }) => all + rest, 0),
          cost: sum(known.map(({ restCost }) => restCost!)),
          unknown: settled.lots.reduce((all, { rest, restCost }) => all + (restCost === null ? rest : 0), 0),
        },
        gains: new Map(settled.disposals.map(({ flow, realised }) => [flow.id, realised])),
        costs: new Map(settled.disposals.map(({ flow, cost }) => [flow.id, cost])),
      }).toEqual(expected)
      seen.returned += Number(settled.disposals.some(({ returned }) => returned))
      seen.unknown += Number(settled.disposals.some(({ unknown }) => unknown > 0))
      seen.early += Number(settled.lots.some(({ acquired, soldCost }) => !acquired && soldCost > 0n))
    }
  }
  expect(Math.min(seen.returned, seen.unknown, seen.early)).toBeGreaterThan(HISTORIES / 100)
  expect(seen.shortOfNow).toBeLessThan(HISTORIES / 2)
})

describe('a settlement', () => {
  const lots: LotFlow[] = [
    { id: null, day: '2026-01-01', quantity: 3, cost: 1_000n },
    { id: 1, day: '2026-02-01', quantity: 2, cost: 1_400n },
  ]
  const disposal = (fields: Partial<DisposalFlow>): DisposalFlow => ({
    id: 1,
    day: '2026-03-01',
    returnedDay: null,
    quantity: 4,
    proceeds: 4_000n,
    ...fields,
  })
  const gainsOf = ({ disposals }: Settlement) => disposals.map(({ cost, realised }) => [cost, realised])

  test('takes the oldest copies, or the average of those at hand', () => {
    const disposals = [disposal({})]
    expect(gainsOf(settle('fifo', { lots, disposals }, '2026-12-31'))).toEqual([[1_700n, 2_300n]])
    // 4 of 5 copies that cost 24.00 together.
    expect(gainsOf(settle('average', { lots, disposals }, '2026-12-31'))).toEqual([[1_920n, 2_080n]])
  })

  test('does not change past gains by later purchases and refunds', () => {
    const disposals = [disposal({ day: '2026-01-15', quantity: 2, returnedDay: '2026-06-01' }), disposal({ id: 2, day: '2026-03-01', quantity: 2 })]
    for (const method of METHODS) {
      const before = settle(method, { lots, disposals }, '2026-05-31')
      const after = settle(method, { lots, disposals }, '2026-12-31')
      expect(before.disposals[0]).toMatchObject({ returned: false, cost: 667n })
      expect(after.disposals[0]).toMatchObject({ returned: true, cost: 0n, realised: 0n })
      expect(after.disposals[1]!.cost).toBe(before.disposals[1]!.cost)
      const later: LotFlow = { id: 2, day: '2026-04-01', quantity: 5, cost: 99_999n }
      expect(gainsOf(settle(method, { lots: [...lots, later], disposals }, '2026-12-31'))).toEqual(gainsOf(after))
    }
  })

  test('gives copies that came back to a sale that found too few', () => {
    const disposals = [disposal({ quantity: 5, returnedDay: '2026-04-01' }), disposal({ id: 2, day: '2026-03-10', quantity: 5, proceeds: 5_000n })]
    expect(settle('fifo', { lots, disposals }, '2026-03-31').disposals[1]).toMatchObject({ unknown: 5, realised: 0n })
    expect(settle('fifo', { lots, disposals }, '2026-04-01').disposals[1]).toMatchObject({ unknown: 0, cost: 2_400n, realised: 2_600n })
  })
})

describe('the yearly rate', () => {
  const rate = (flows: Record<string, number>) => internalRate(new Map(Object.entries(flows).map(([day, amount]) => [day, BigInt(amount)])))

  test('is that of known cases', () => {
    expect(rate({ '2025-01-01': -100_000, '2026-01-01': 112_000 })).toBe(0.12)
    expect(rate({ '2025-01-01': -100_000, '2026-01-01': 50_000 })).toBe(-0.5)
    expect(rate({ '2025-01-01': -100_000, '2026-01-01': 100_000 })).toBe(0)
    // The example of the function XIRR in spreadsheets.
    expect(rate({ '2008-01-01': -10_000, '2008-03-01': 2_750, '2008-10-30': 4_250, '2009-02-15': 3_250, '2009-04-01': 2_750 })).toBeCloseTo(
      0.373363,
      5,
    )
  })

  test('is never -1, at which nothing but the last day has a worth', () => {
    expect(rate({ '2026-01-01': -999_999, '2027-01-01': 1 })).toBe(-0.999999)
    expect(rate({ '2026-01-01': -100_000_000, '2026-02-05': 1 })).toBe(-0.999999)
  })

  test('is found where the flows have two rates close to each other, above 0 and below', () => {
    // (1/(1+r) - x)(1/(1+r) - y) as flows of three years: the rates are 1/x - 1 and 1/y - 1.
    for (const [x, y] of [
      [0.9, 0.91],
      [0.9, 0.9001],
      [1.2, 1.19],
      [1.7, 1.701],
      [0.3, 0.29],
      [0.99, 1.2],
    ] as const) {
      const flows = { '2021-01-01': x * y, '2022-01-01': -(x + y), '2023-01-01': 1 }
      const nearest = Math.abs(Math.log(x)) < Math.abs(Math.log(y)) ? x : y
      const whole = Object.fromEntries(Object.entries(flows).map(([day, amount]) => [day, Math.round(amount * 1e12)]))
      expect(rate(whole)).toBeCloseTo(1 / nearest - 1, 5)
      expect(rate(Object.fromEntries(Object.entries(whole).map(([day, amount]) => [day, -amount])))).toBeCloseTo(1 / nearest - 1, 5)
    }
  })

  test('is null below 30 days, without a change of sign, and without flows', () => {
    expect(rate({})).toBeNull()
    expect(rate({ '2026-01-01': -100, '2026-01-30': 200 })).toBeNull()
    expect(rate({ '2026-01-01': -100, '2026-01-31': 200 })).not.toBeNull()
    expect(rate({ '2026-01-01': -100, '2027-01-01': -5 })).toBeNull()
  })

  test('survives total losses, enormous gains and long times', () => {
    expect(rate({ '2026-01-01': -1_000_000_000_000, '2026-01-31': 1 })).toBe(-0.999999)
    expect(rate({ '2026-01-01': -1, '2026-01-31': 1_000_000_000_000 })).toBeGreaterThan(1e100)
    expect(rate({ '1970-01-01': -1, '2026-01-31': 1_000_000_000_000 })).toBeCloseTo(0.6365, 3)
    expect(rate({ '2026-01-01': 100, '2026-06-01': -300, '2026-12-31': 100 })).not.toBeNaN()
  })
})
