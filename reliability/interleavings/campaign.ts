// Which schedules are run: all orders of all pairs, with faults at their commits, and triples by seed.
import { randomNumbers } from '#core/random.ts'
import { explore } from './explore.ts'
import type { Action, Choose } from './schedule.ts'
import type { Simulation } from './simulation.ts'
import { replay, type Trial, type Trials } from './trial.ts'
import { type Request, WRITES } from './writes.ts'

export interface Failure {
  what: string
  problems: string[]
  replay: string[]
}

export interface PairResult {
  name: string
  schedules: number
  /** of them, those whose end only repeats another */
  repeated: number
  faulty: number
  complete: boolean
  ms: number
  failures: Failure[]
}

/** 300 pairs of different writes, 25 of the same request sent twice, and 25 of two requests of one kind. */
export function allPairs(): [Request, Request][] {
  const pairs: [Request, Request][] = []
  WRITES.forEach((one, i) => {
    for (const other of WRITES.slice(i + 1))
      pairs.push([
        { write: one, n: 0 },
        { write: other, n: 0 },
      ])
  })
  for (const write of WRITES)
    pairs.push([
      { write, n: 0 },
      { write, n: 0 },
    ])
  for (const write of WRITES)
    pairs.push([
      { write, n: 0 },
      { write, n: 1 },
    ])
  return pairs
}

const nameOf = (requests: readonly Request[]) => requests.map(({ write, n }) => (n === 0 ? write.name : `${write.name} ${n + 1}`)).join(' × ')
/** Repeats and liveness are checked in each of so many schedules, because they cost more than the schedule. */
const DEEP_EVERY = 8
/** Failures that are reported of one pair. */
const MOST_FAILURES = 3

interface PairOptions {
  /** maximum schedules without faults */
  most: number
  /** schedules that are repeated with each fault at each commit */
  withFaults: number
}

/** Runs all orders of a pair, then some of them with lost commits, lost answers and ended server processes. */
export async function runPair(trials: Trials, pair: readonly Request[], { most, withFaults }: PairOptions): Promise<PairResult> {
  const startedMs = performance.now()
  const failures: Failure[] = []
  const plans: { who: number; isCommit: boolean }[][] = []
  const check = (trial: Trial, what: string) => {
    if (trial.problems.length > 0 && failures.length < MOST_FAILURES)
      failures.push({ what, problems: trial.problems, replay: replay(pair, trial.steps) })
    return failures.length < MOST_FAILURES
  }
  const { schedules, repeated, complete } = await explore(async (choose) => {
    const deep = plans.length % DEEP_EVERY === 0
    const trial = await trials.run(pair, choose, { sequence: true, repeated: deep, liveness: deep })
    plans.push(trial.steps.map(({ who, text }) => ({ who, isCommit: text === 'commit' })))
    return check(trial, `schedule ${plans.length}`) ? trial : null
  }, most)
  let faulty = 0
  const chosen = plans.filter((_, i) => i % Math.ceil(plans.length / Math.max(1, withFaults)) === 0)
  for (const plan of withFaults > 0 ? chosen : []) {
    const commits = plan.flatMap(({ isCommit }, i) => (isCommit ? [i] : []))
    const faults = commits.flatMap((at) => (['lose answer', 'lose request'] as const).map((action) => ({ at, action: action as Action })))
    faults.push({ at: Math.floor(plan.length / 2), action: 'terminate' })
    for (const fault of faults) {
      faulty += 1
      const trial = await trials.run(pair, followed(plan, fault), { sequence: true, repeated: true, liveness: true })
      if (!check(trial, `${fault.action} at step ${fault.at + 1}`)) break
    }
  }
  return { name: nameOf(pair), schedules, repeated, faulty, complete, ms: performance.now() - startedMs, failures }
}

/** Follows a schedule with a fault; after it, the writes may take other steps. */
function followed(plan: readonly { who: number }[], fault: { at: number; action: Action }): Choose {
  let depth = -1
  return (enabled) => {
    depth += 1
    const planned = plan[depth]?.who
    const who = planned !== undefined && enabled.includes(planned) ? planned : enabled[0]!
    return { who, action: depth === fault.at ? fault.action : 'pass' }
  }
}

const SWITCH = 0.3
const COMMIT_FAULT = 0.15
const OTHER_FAULT = 0.01
/** One in so many seeds also compares the result with those of all sequences, which takes 18 writes. */
const SEQUENCE_EVERY = 10

interface SeedResult {
  trace: string[]
  failure: Failure | null
}

/** Runs three writes in the order, and with the faults, of a seed. */
export async function runSeed(trials: Trials, seed: number, among: readonly Request[] | null = null): Promise<SeedResult> {
  const random = randomNumbers(seed)
  const below = (n: number) => Math.floor(random() * n)
  const requests = among ?? [0, 1, 2].map(() => ({ write: WRITES[below(WRITES.length)]!, n: below(2) }))
  let current = 0
  let faults = 0
  const choose: Choose = (enabled, next) => {
    if (!enabled.includes(current) || random() < SWITCH) current = enabled[below(enabled.length)]!
    const text = next.get(current)!
    const isFault = text !== '' && faults < 2 && random() < (text === 'commit' ? COMMIT_FAULT : OTHER_FAULT)
    if (isFault) faults += 1
    return { who: current, action: isFault ? (['lose answer', 'lose request', 'terminate'] as const)[below(3)]! : 'pass' }
  }
  const deep = seed % SEQUENCE_EVERY === 0
  const trial = await trials.run(requests, choose, { sequence: deep, repeated: deep, liveness: seed % DEEP_EVERY === 0 })
  const failed = trial.problems.length > 0
  return {
    trace: trial.trace,
    failure: failed ? { what: `seed ${seed}: ${nameOf(requests)}`, problems: trial.problems, replay: replay(requests, trial.steps) } : null,
  }
}

/** What the simulation must reach within 1,000 seeds; otherwise it does not test what it claims to test. */
const SOMETIMES = [
  'a write waits for another',
  'a repeated request gets the first answer',
  'the stock has run out',
  'the same request is still running',
  'an offer has been answered before',
  'a deleted listing is written',
  'one request of a group commit is refused',
  'the answer to a commit is lost',
  'a commit is lost',
  'a server process ends',
  'a caller does not know whether its write happened',
  'a period ends in another write',
  'a delivery is taken up by another worker',
] as const

export function neverReached({ marks }: Simulation): string[] {
  return SOMETIMES.filter((name) => !marks.has(name))
}
