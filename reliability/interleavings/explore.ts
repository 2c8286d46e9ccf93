// Explores all orders of two writes, up to the order of steps that do not depend on each other (dynamic partial order reduction with sleep sets).
import { areDependent, type Footprint } from './footprint.ts'
import type { Choose, Played, Step } from './schedule.ts'

/** A point of the schedule that is being explored. */
interface Point {
  /** writes whose step is explored here, or will be */
  wanted: Set<number>
  explored: Set<number>
  /** writes whose step here would only repeat an order that was explored before, with that step's footprint */
  asleep: Map<number, Footprint>
  chosen: number
  footprint: Footprint
}

interface Explored {
  schedules: number
  /** whether every order was explored */
  complete: boolean
}

/**
 * @param run plays one schedule and checks it; returns false to stop
 * @param most schedules
 */
export async function explore(run: (choose: Choose) => Promise<Played | null>, most: number): Promise<Explored> {
  const points: Point[] = []
  for (let schedules = 0; ; ) {
    if (schedules >= most) return { schedules, complete: false }
    const prefix = points.map(({ chosen }) => chosen)
    let depth = 0
    const choose: Choose = (enabled) => {
      const planned = prefix[depth]
      depth += 1
      if (planned === undefined) return { who: enabled.find((who) => !asleepAt(points, depth - 1, prefix.length).has(who)) ?? enabled[0]! }
      if (!enabled.includes(planned)) throw new Error(`Not deterministic: write ${planned} cannot take step ${depth}`)
      return { who: planned }
    }
    const played = await run(choose)
    schedules += 1
    if (!played) return { schedules, complete: false }
    follow(points, played.steps)
    addRaces(points, played.steps)
    if (!next(points)) return { schedules, complete: true }
  }
}

/** Known only for the first point after the prefix; a later one would need footprints of steps that have not run yet. */
function asleepAt(points: readonly Point[], depth: number, known: number): ReadonlySet<number> {
  return depth === known && depth > 0 ? new Set(inherited(points[depth - 1]!).keys()) : new Set()
}

/** The writes that are asleep after the chosen step of a point. */
function inherited({ asleep, chosen, footprint }: Point): Map<number, Footprint> {
  return new Map([...asleep].filter(([who, step]) => who !== chosen && !areDependent(step, footprint)))
}

/** Continues the points with the steps that were taken. */
function follow(points: Point[], steps: readonly Step[]): void {
  steps.forEach(({ who, footprint }, i) => {
    const point = points[i]
    if (point) point.footprint = footprint
    else {
      const asleep = i === 0 ? new Map<number, Footprint>() : inherited(points[i - 1]!)
      points.push({ wanted: new Set([who]), explored: new Set(), asleep, chosen: who, footprint })
    }
  })
}

/** For each step, finds the last one of another write that it depends on and could have preceded, and wants that order, too. */
function addRaces(points: readonly Point[], steps: readonly Step[]): void {
  const writes = Math.max(...steps.map(({ who }) => who)) + 1
  /** for each step, how many steps of each write happened before it by dependence */
  const clocks: number[][] = []
  const latest: number[][] = Array.from({ length: writes }, () => Array.from({ length: writes }, () => -1))
  steps.forEach((step, j) => {
    const before = latest[step.who]!
    const clock = [...before]
    let raced = false
    for (let i = j - 1; i >= 0; i--) {
      const earlier = steps[i]!
      if (earlier.who === step.who || !canMatter(earlier, step)) continue
      if (!raced && before[earlier.who]! < i) {
        raced = true
        const enabled = earlier.enabled
        for (const who of enabled.includes(step.who) ? [step.who] : enabled) points[i]!.wanted.add(who)
      }
      clocks[i]!.forEach((at, who) => (clock[who] = Math.max(clock[who]!, at)))
    }
    clock[step.who] = j
    clocks.push(clock)
    latest[step.who] = clock
  })
}

/**
 * Whether the order of two steps can matter. While a write waits for a lock, steps of the other that neither end its transaction nor
 * wait themselves could as well have come before: the write would have waited for the same lock.
 */
function canMatter(earlier: Step, step: Step): boolean {
  if (!areDependent(earlier.footprint, step.footprint)) return false
  const isHeldUp = earlier.result.startsWith('waits')
  return !isHeldUp || step.footprint.ends !== null || !step.result.startsWith('ok')
}

/** Moves to the next order. @returns false if there is none */
function next(points: Point[]): boolean {
  for (;;) {
    const last = points.at(-1)
    if (!last) return false
    last.explored.add(last.chosen)
    last.asleep.set(last.chosen, last.footprint)
    const who = [...last.wanted].find((one) => !last.explored.has(one) && !last.asleep.has(one))
    if (who !== undefined) {
      last.chosen = who
      return true
    }
    points.pop()
  }
}
