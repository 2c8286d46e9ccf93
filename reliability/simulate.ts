// `node reliability/simulate.ts`: runs central writes against each other on a real PostgreSQL, in all orders and with lost connections.
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { allPairs, type Failure, neverReached, type PairResult, runPair, runSeed } from './interleavings/campaign.ts'
import { type Hunt, hunt, PLANTED } from './interleavings/planted.ts'
import { hashOf } from './interleavings/schedule.ts'
import { Simulation } from './interleavings/simulation.ts'
import { replaceTime } from './interleavings/time.ts'
import { Trials } from './interleavings/trial.ts'
import { conclude, count, figure, type Finding, progress } from './report.ts'
import { workDir } from './service.ts'

export interface SimulateOptions {
  /** numbers of the pairs, from 1 */
  pairs: readonly number[]
  /** seconds for the hunt for each planted fault; 0 plants none */
  planted: number
  /** maximum orders of a pair */
  orders: number
  /** orders of each pair that are repeated with every fault */
  withFaults: number
  /** number of triples by seed, from this seed on */
  triples: number
  seed: number
  /** stops after this time, whatever is left */
  seconds: number
  /** a file to which the result of each pair is appended */
  log?: string
}

/** Seeds of which the trace is compared with that of a second run: one in so many. */
const TWICE_EVERY = 50
/** Marks are required only of runs that are long enough to reach them. */
const SEEDS_FOR_MARKS = 1_000
const MOST_LINES = 20

export async function simulate(options: SimulateOptions): Promise<Finding[]> {
  const dir = workDir()
  const simulation = await Simulation.open(dir.path)
  const restoreTime = replaceTime()
  try {
    return await runAll(simulation, options)
  } finally {
    restoreTime()
    await simulation.close()
    dir.remove()
  }
}

interface Run {
  simulation: Simulation
  trials: Trials
  options: SimulateOptions
  /** whether its time is over */
  isOver: () => boolean
}

async function runAll(simulation: Simulation, options: SimulateOptions): Promise<Finding[]> {
  const startedMs = performance.now()
  const run: Run = { simulation, trials: new Trials(simulation), options, isOver: () => performance.now() - startedMs > options.seconds * 1_000 }
  const findings = [...(await runPairs(run)), ...(await runTriples(run)), ...(await runHunts(run))]
  return [...findings, ...[...simulation.marks].map(([what, times]) => figure(`Reached: ${what}`, times))]
}

async function runPairs({ trials, options: { pairs: numbers, orders, withFaults, log }, isOver }: Run): Promise<Finding[]> {
  const startedMs = performance.now()
  const all = allPairs()
  const pairs: PairResult[] = []
  for (const number of numbers) {
    if (isOver()) break
    const result = await runPair(trials, all[number - 1]!, { most: orders, withFaults })
    pairs.push(result)
    for (const failure of result.failures) show(`${result.name}, ${failure.what}`, failure)
    const { name, schedules, repeated, complete, faulty, ms } = result
    const line = `${number}. ${name}: ${schedules} orders${complete ? '' : ' (not all)'}, ${repeated} of them partly repeated, ${faulty} with faults, ${Math.round(ms)} ms`
    if (log !== undefined) appendFileSync(log, `${line}\n`)
    if (pairs.length % 10 === 0) progress(line)
  }
  const total = (of: (pair: PairResult) => number) => pairs.reduce((sum, pair) => sum + of(pair), 0)
  return [
    figure('Pairs of writes', pairs.length),
    figure('Pairs of which all orders were run', pairs.filter(({ complete }) => complete).length),
    figure(
      'Orders without faults',
      total(({ schedules }) => schedules),
    ),
    figure(
      'Orders with faults',
      total(({ faulty }) => faulty),
    ),
    count(
      'Broken promises of pairs',
      total(({ failures }) => failures.length),
      0,
    ),
    figure('Time for pairs', `${Math.round((performance.now() - startedMs) / 1_000)} s`),
  ]
}

async function runTriples({ simulation, trials, options: { triples, seed: first }, isOver }: Run): Promise<Finding[]> {
  const startedMs = performance.now()
  let seeds = 0
  let broken = 0
  let different = 0
  for (let seed = first; seed < first + triples && !isOver(); seed++) {
    const { trace, failure } = await runSeed(trials, seed)
    seeds += 1
    if (failure) {
      broken += 1
      show(failure.what, failure)
    }
    if (seed % TWICE_EVERY === 0) {
      const again = (await runSeed(trials, seed)).trace
      if (hashOf(again) !== hashOf(trace)) {
        different += 1
        const at = trace.findIndex((line, i) => line !== again[i])
        progress(`Seed ${seed} has another trace in its second run, from step ${at + 1}:\n  ${trace[at]}\n  ${again[at]}`)
      }
    }
    if (seeds % 100 === 0) progress(`${seeds} seeds`)
  }
  if (triples === 0) return []
  const missing = neverReached(simulation)
  return [
    figure('Triples by seed', seeds),
    count('Broken promises of triples', broken, 0),
    count('Seeds with another trace in a second run', different, 0),
    figure('Time for triples', `${Math.round((performance.now() - startedMs) / 1_000)} s`),
    ...(seeds >= SEEDS_FOR_MARKS ? [count('States that were never reached', missing.length, 0)] : []),
    ...(missing.length > 0 ? [figure('Not reached', missing.join('; '))] : []),
  ]
}

async function runHunts({ simulation, trials, options: { planted }, isOver }: Run): Promise<Finding[]> {
  const hunts: Hunt[] = []
  for (const fault of planted > 0 ? PLANTED : []) {
    if (isOver()) break
    const result = await hunt(simulation, trials, fault, planted)
    hunts.push(result)
    const { what, found, schedules, ms } = result
    progress(`${what}: ${found ? `found by ${found.pair}, ${found.where}` : 'NOT FOUND'} (${schedules} orders, ${Math.round(ms)} ms)`)
    for (const line of found ? [found.problem.slice(0, 200), ...found.replay].slice(0, MOST_LINES) : []) progress(`  ${line}`)
  }
  const missed = hunts.filter(({ found }) => !found).length
  return hunts.length === 0 ? [] : [figure('Planted faults', hunts.length), count('Planted faults that were not found', missed, 0)]
}

function show(what: string, { problems, replay }: Failure): void {
  progress(`BROKEN: ${what}`)
  for (const line of [...problems.map((problem) => problem.slice(0, 600)), ...replay].slice(0, MOST_LINES)) progress(`  ${line}`)
}

/** The numbers in a text such as `1-40,52`. */
function numbersIn(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number) as [number, number?]
    return Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((number) => number > 0)
  })
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      pairs: { type: 'string', default: '1-350' },
      orders: { type: 'string', default: '1000' },
      'with-faults': { type: 'string', default: '2' },
      triples: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '480' },
      planted: { type: 'string', default: '0' },
      log: { type: 'string' },
    },
  })
  const findings = await simulate({
    pairs: numbersIn(values.pairs),
    planted: Number(values.planted),
    orders: Number(values.orders),
    withFaults: Number(values['with-faults']),
    triples: Number(values.triples),
    seed: Number(values.seed),
    seconds: Number(values.minutes) * 60,
    ...(values.log !== undefined && { log: values.log }),
  })
  conclude('Simulation of concurrent writes', findings)
}
