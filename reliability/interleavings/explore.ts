// Explores all orders of two writes, up to the order of steps that do not depend on each other (dynamic partial order reduction with sleep sets).
import { Commuting, type Placed, Places } from './commuting.ts'
import type { Choose, Played } from './schedule.ts'

/** A point of the schedule that is being explored. */
interface Point {
  enabled: readonly number[]
  /** writes whose step is explored here, or will be */
  wanted: Set<number>
  /** steps of which everything that can follow has been explored here, by write */
  done: Map<number, Placed>
  /** steps that would only repeat an order that was explored from an earlier point, by write */
  asleep: ReadonlyMap<number, Placed>
  chosen: number
  /** the step of the chosen write, once it was taken */
  taken: Placed | null
}

interface Explored {
  schedules: number
  /** schedules of which the end only repeats others, which is known once they run */
  repeated: number
  /** whether every order was explored */
  complete: boolean
}

/**
 * @param run plays one schedule and checks it; returns false to stop
 * @param most schedules
 */
export async function explore(run: (choose: Choose) => Promise<Played | null>, most: number): Promise<Explored> {
  const points: Point[] = []
  const commuting = new Commuting()
  let repeated = 0
  for (let schedules = 0; ; ) {
    if (schedules >= most) return { schedules, repeated, complete: false }
    const { choose, isRepetition } = follower(points, commuting)
    const played = await run(choose)
    schedules += 1
    if (!played) return { schedules, repeated, complete: false }
    // Placed anew: how a step that waited has ended is known only now.
    const { placed } = new Places().follow(played.steps)
    points.forEach((point, i) => (point.taken = placed[i]!))
    commuting.learn(placed)
    addRaces(points, commuting)
    if (cut(points, commuting) || isRepetition()) repeated += 1
    if (!next(points)) return { schedules, repeated, complete: true }
  }
}

/** Follows the points, and adds new ones until every step would repeat another order. */
function follower(points: Point[], commuting: Commuting): { choose: Choose; isRepetition: () => boolean } {
  const places = new Places()
  let isRepetition = false
  const choose: Choose = (enabled, _next, steps) => {
    const depth = steps.length
    places.follow(steps)
    const planned = points[depth]
    if (planned) {
      if (!enabled.includes(planned.chosen)) throw new Error(`Not deterministic: write ${planned.chosen} cannot take step ${depth + 1}`)
      return { who: planned.chosen }
    }
    const last = points.at(-1)
    if (last && !isRepetition) last.taken = places.placed[depth - 1]!
    const asleep = last ? asleepAfter(last, commuting) : new Map<number, Placed>()
    const who = isRepetition ? undefined : enabled.find((one) => !asleep.has(one))
    // The rest is only run so that both writes end.
    if (who === undefined) isRepetition = true
    else points.push({ enabled, wanted: new Set([who]), done: new Map(), asleep, chosen: who, taken: null })
    return { who: who ?? enabled[0]! }
  }
  return { choose, isRepetition: () => isRepetition }
}

/** The steps that are asleep after the chosen one of a point: those that it does not depend on. */
function asleepAfter({ asleep, done, chosen, taken }: Point, commuting: Commuting): Map<number, Placed> {
  return new Map([...asleep, ...done].filter(([who, step]) => who !== chosen && !commuting.areDependent(step, taken!)))
}

/** For each step, finds the last one of another write that it depends on and could have preceded, and wants that order, too. */
function addRaces(points: readonly Point[], commuting: Commuting): void {
  const taken = points.map((point) => point.taken!)
  const writes = Math.max(...taken.map(({ step }) => step.who)) + 1
  /** for each step, how many steps of each write happened before it by dependence */
  const clocks: number[][] = []
  const latest: number[][] = Array.from({ length: writes }, () => Array.from({ length: writes }, () => -1))
  taken.forEach((placed, j) => {
    const { who } = placed.step
    const before = latest[who]!
    const clock = [...before]
    let raced = false
    for (let i = j - 1; i >= 0; i--) {
      const earlier = taken[i]!
      const other = earlier.step.who
      if (other === who || !commuting.areDependent(earlier, placed)) continue
      if (!raced && before[other]! < i) {
        raced = true
        const { enabled, wanted } = points[i]!
        for (const one of enabled.includes(who) ? [who] : enabled) wanted.add(one)
      }
      clocks[i]!.forEach((at, of) => (clock[of] = Math.max(clock[of]!, at)))
    }
    clock[who] = j
    clocks.push(clock)
    latest[who] = clock
  })
}

/**
 * Ends the points where the chosen step turns out to repeat another order, by what was learned since; another write goes on from there.
 * @returns whether there was such a point
 */
function cut(points: Point[], commuting: Commuting): boolean {
  for (let at = 1; at < points.length; at++) {
    const point = points[at]!
    point.asleep = asleepAfter(points[at - 1]!, commuting)
    if (!point.asleep.has(point.chosen)) continue
    const other = point.enabled.find((who) => !point.asleep.has(who))
    if (other !== undefined) point.wanted.add(other)
    points.length = at + 1
    return true
  }
  return false
}

/** Moves to the next order. @returns false if there is none */
function next(points: Point[]): boolean {
  for (;;) {
    const last = points.at(-1)
    if (!last) return false
    last.done.set(last.chosen, last.taken!)
    const who = [...last.wanted].find((one) => !last.done.has(one) && !last.asleep.has(one))
    if (who !== undefined) {
      last.chosen = who
      return true
    }
    points.pop()
  }
}
