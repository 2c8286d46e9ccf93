// XIRR: the yearly rate at which the dated flows of a collection add up to nothing.
import { DAY_MS } from '#core/duration.ts'

const YEAR_MS = 365 * DAY_MS
const LEAST_DAYS = 30
/** Growth a year, as the logarithm of 1 + rate, beyond which no rate is stated. */
const STEEPEST = 640
/** At -1, nothing but the flows of the last day would have a worth. */
const LOWEST = -0.999999
const ROUNDS = 200

/**
 * The yearly rate, such as 0.12 for 12 %, by 365 days a year, to six decimals and at least -0.999999; of several ones, the one nearest to 0.
 * @param flows by day (YYYY-MM-DD): received positive, paid negative, in minor units
 * @returns null below 30 days between the first and the last flow, without a change of sign
 */
export function internalRate(flows: ReadonlyMap<string, bigint>): number | null {
  const dated = [...flows].filter(([, amount]) => amount !== 0n).map(([day, amount]) => ({ atMs: Date.parse(day), amount: Number(amount) }))
  if (!dated.some(({ amount }) => amount > 0) || !dated.some(({ amount }) => amount < 0)) return null
  const first = dated.reduce((least, { atMs }) => Math.min(least, atMs), Infinity)
  const last = dated.reduce((most, { atMs }) => Math.max(most, atMs), -Infinity)
  if (last - first < LEAST_DAYS * DAY_MS) return null
  const years = dated.map(({ atMs, amount }) => ({ fromFirst: (atMs - first) / YEAR_MS, fromLast: (atMs - last) / YEAR_MS, amount }))
  const sumAt: SumAt = (growth, below) => {
    let [sum, slope] = [0, 0]
    for (const { fromFirst, fromLast, amount } of years) {
      // With growth below 0, amounts are valued on the last day: the sign stays the same, and no power overflows.
      const at = below ? fromLast : fromFirst
      const worth = amount * Math.exp(-growth * at)
      sum += worth
      slope -= worth * at
    }
    return { growth, sum, slope }
  }
  const bracket = bracketOf(sumAt)
  return bracket && rounded(Math.expm1(rootIn((growth) => sumAt(growth, growth < 0).sum, bracket)))
}

interface Point {
  growth: number
  sum: number
  /** of the sum, by the growth */
  slope: number
}

type SumAt = (growth: number, below: boolean) => Point

/** The interval nearest to 0 at whose ends the sum has different signs. */
function bracketOf(sumAt: SumAt): [number, number] | null {
  let [low, high] = [sumAt(0, true), sumAt(0, false)]
  if (high.sum === 0) return [0, 0]
  for (let step = 0.05; high.growth < STEEPEST; step *= 1.2) {
    const growth = Math.min(high.growth + step, STEEPEST)
    const [below, above] = [sumAt(-growth, true), sumAt(growth, false)]
    const found = changeBetween(sumAt, high, above) ?? changeBetween(sumAt, low, below)
    if (found) return [Math.min(...found), Math.max(...found)]
    ;[low, high] = [below, above]
  }
  return null
}

/** An interval between two points, the nearer one first, at whose ends the sum has different signs; the sum may turn once in between. */
function changeBetween(sumAt: SumAt, near: Point, far: Point): [number, number] | null {
  if (near.sum * far.sum <= 0) return [near.growth, far.growth]
  // Of the same sign, it can only change if it first approaches 0 and then departs from it.
  const approach = Math.sign(near.sum) * Math.sign(near.growth - far.growth)
  if (near.slope * approach <= 0 || far.slope * approach >= 0) return null
  let [from, to] = [near.growth, far.growth]
  for (let round = 0; round < ROUNDS; round += 1) {
    const turn = sumAt((from + to) / 2, far.growth < 0)
    if (turn.sum * near.sum <= 0) return [near.growth, turn.growth]
    if (turn.growth === from || turn.growth === to) break
    if (turn.slope * approach > 0) from = turn.growth
    else to = turn.growth
  }
  return null
}

function rootIn(sumAt: (growth: number) => number, [from, to]: [number, number]): number {
  let [low, high] = [from, to]
  const rises = sumAt(high) > sumAt(low)
  for (let round = 0; round < ROUNDS && low < high; round += 1) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (sumAt(middle) > 0 === rises) high = middle
    else low = middle
  }
  return (low + high) / 2
}

function rounded(rate: number): number {
  return rate < 1e9 ? Math.max(LOWEST, Number(rate.toFixed(6))) : Number(rate.toPrecision(10))
}
