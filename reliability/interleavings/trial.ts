// One schedule with all its checks: what holds always, and that the result is that of the same writes one after another.
import type { TableChange } from './baseline.ts'
import { brokenInvariants } from './checks.ts'
import { type Choose, type Outcome, type Played, type Step, traceOf } from './schedule.ts'
import type { Simulation } from './simulation.ts'
import { overdue } from './liveness.ts'
import type { Request } from './writes.ts'

export interface Trial extends Played {
  trace: string[]
  /** sentences; empty if everything holds */
  problems: string[]
}

/** The result of some writes: what their callers learned, and what is stored. */
interface Result {
  outcomes: Outcome[]
  changes: TableChange[]
}

const FIRST: Choose = ([who]) => ({ who: who! })

/** Which checks run that cost more than the schedule itself. */
interface Depth {
  /** whether the result must be that of a sequence */
  sequence: boolean
  /** whether every request is repeated */
  repeated: boolean
  /** whether everything due is done afterwards */
  liveness: boolean
}

export class Trials {
  readonly #simulation: Simulation
  readonly #serial = new Map<string, Result[]>()

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  /** Results of before a planted fault, or of another one, do not count. */
  forget(): void {
    this.#serial.clear()
  }

  /** Plays a schedule, repeats what was lost, checks the result, and puts everything back. */
  async run(requests: readonly Request[], choose: Choose, { sequence, repeated, liveness }: Depth): Promise<Trial> {
    const serial = sequence ? await this.#resultsInSequence(requests) : null
    const simulation = this.#simulation
    const { xid } = simulation.baseline
    const played = await simulation.play(requests, choose)
    const outcomes = await this.#repeatLost(requests, played)
    // After a write whose end it does not know, a node reads the log at its next regular time.
    if (played.outcomes.some(({ kind }) => kind === 'lost')) await simulation.world.node.feed.pull()
    const problems = outcomes.flatMap(({ kind, text }, i) =>
      kind === 'failed' || kind === 'lost' ? `${requests[i]!.write.name} failed: ${text}` : [],
    )
    const restocks = requests.some(({ write }) => write.name === 'stock')
    problems.push(...(await brokenInvariants(simulation.world, xid, restocks)))
    const changes = serial || repeated ? await simulation.baseline.changes(simulation.written) : []
    if (repeated) problems.push(...(await this.#brokenIdempotency(requests, outcomes, changes)))
    // The worker of a lost task has started what the next one must not repeat, so that its results are those of no sequence.
    const isLostTask = requests.some(({ write }, i) => write.task && played.outcomes[i]!.kind === 'lost')
    if (serial && !isLostTask) problems.push(...differences(requests, { outcomes, changes }, serial))
    const endedPeriod = changes.some(({ table, added }) => table === 'audit_log' && added.some((row) => row.includes('listing.expire')))
    if (endedPeriod && requests.every(({ write }) => write.name !== 'expire')) simulation.mark('a period ends in another write')
    this.#markReached(played, outcomes)
    if (liveness) problems.push(...(await overdue(simulation)))
    await simulation.reset()
    return { ...played, outcomes, trace: traceOf({ steps: played.steps, outcomes }), problems }
  }

  async #repeatLost(requests: readonly Request[], { outcomes }: Played): Promise<Outcome[]> {
    const after: Outcome[] = []
    for (const [i, outcome] of outcomes.entries()) {
      // The end of periods skips listings that another write has locked, and the next run ends them.
      const hasSkipped = requests[i]!.write.name === 'expire' && outcome.text === '0'
      after.push(outcome.kind === 'lost' || hasSkipped ? (await this.#simulation.play([requests[i]!], FIRST)).outcomes[0]! : outcome)
    }
    return after
  }

  /** A repeated request gets the first answer and changes nothing. */
  async #brokenIdempotency(requests: readonly Request[], outcomes: readonly Outcome[], before: readonly TableChange[]): Promise<string[]> {
    const problems: string[] = []
    for (const [i, request] of requests.entries()) {
      const first = outcomes[i]!
      if (request.write.task || first.kind !== 'done' || request.write.name === 'price') continue
      const {
        outcomes: [again],
      } = await this.#simulation.play([request], FIRST) // prettier-ignore
      if (again!.text !== first.text) problems.push(`${request.write.name} repeated answers ${again!.text}, not ${first.text}`)
      else this.#simulation.mark('a repeated request gets the first answer')
    }
    const changed = tablesThatDiffer(before, await this.#simulation.baseline.changes(this.#simulation.written))
    if (changed.length > 0) problems.push(`Repeated requests changed ${changed.join(', ')}`)
    return problems
  }

  async #resultsInSequence(requests: readonly Request[]): Promise<Result[]> {
    const key = requests.map(({ write, n }) => `${write.name} ${n}`).join(' | ')
    const known = this.#serial.get(key)
    if (known) return known
    const results: Result[] = []
    for (const order of permutations(requests.map((_, i) => i))) {
      const outcomes: Outcome[] = []
      for (const i of order) outcomes[i] = (await this.#simulation.play([requests[i]!], FIRST)).outcomes[0]!
      results.push({ outcomes, changes: await this.#simulation.baseline.changes(this.#simulation.written) })
      await this.#simulation.reset()
    }
    this.#serial.set(key, results)
    return results
  }

  #markReached({ steps, outcomes: first }: Played, outcomes: readonly Outcome[]): void {
    for (const { action, text } of steps) {
      if (action === 'lose answer' && text === 'commit') this.#simulation.mark('the answer to a commit is lost')
      if (action === 'lose request' && text === 'commit') this.#simulation.mark('a commit is lost')
      if (action === 'terminate') this.#simulation.mark('a server process ends')
    }
    if (first.some(({ kind }) => kind === 'lost')) this.#simulation.mark('a caller does not know whether its write happened')
    for (const { text } of outcomes) for (const [name, pattern] of REFUSALS) if (pattern.test(text)) this.#simulation.mark(name)
  }
}

const REFUSALS: readonly [string, RegExp][] = [
  ['the stock has run out', /not for sale|only active|has only|sold/i],
  ['the same request is still running', /IDEMPOTENCY_CONFLICT/],
  ['an offer has been answered before', /offer.*(accepted|withdrawn|declined)/i],
  ['a deleted listing is written', /NOT_FOUND|no listing|unknown listing/i],
  ['one request of a group commit is refused', /Changed since it was read/],
]

function permutations(values: number[]): number[][] {
  if (values.length <= 1) return [values]
  return values.flatMap((value) => permutations(values.filter((other) => other !== value)).map((rest) => [value, ...rest]))
}

function differences(requests: readonly Request[], result: Result, serial: readonly Result[]): string[] {
  const found = serial.map((one) => {
    const answers = one.outcomes.flatMap(({ kind, text }, i) =>
      areSameAnswers(requests, result.outcomes[i]!, { kind, text })
        ? []
        : `${requests[i]!.write.name} answered ${result.outcomes[i]!.text}, not ${text}`,
    )
    return [...answers, ...tableDifferences(one.changes, result.changes)]
  })
  if (found.some((one) => one.length === 0)) return []
  const nearest = found.toSorted((a, b) => a.length - b.length)[0]!
  return [`The result is that of no sequence: ${nearest.join('; ')}`]
}

/** A request whose twin was still running is refused, and its caller repeats it. */
function areSameAnswers(requests: readonly Request[], { kind, text }: Outcome, expected: Outcome): boolean {
  if (/Idempotency-Key is still running/.test(text)) return requests.some((one, i) => requests.findIndex((other) => isSame(one, other)) !== i)
  return kind === expected.kind && text === expected.text
}

const isSame = (one: Request, other: Request) => one.write === other.write && one.n === other.n

function tableDifferences(expected: readonly TableChange[], found: readonly TableChange[]): string[] {
  return tablesThatDiffer(expected, found).map((name) => {
    const rowsOf = (changes: readonly TableChange[]) => changes.find(({ table }) => table === name)?.added ?? []
    const [one, other] = [rowsOf(expected), rowsOf(found)]
    const more = other.filter((row) => !one.includes(row))
    const less = one.filter((row) => !other.includes(row))
    return `${name}: ${[...more.map((row) => `+${row}`), ...less.map((row) => `-${row}`)].join(' ')}`
  })
}

function tablesThatDiffer(one: readonly TableChange[], other: readonly TableChange[]): string[] {
  const names = new Set([...one, ...other].map(({ table }) => table))
  const textOf = (changes: readonly TableChange[], name: string) => JSON.stringify(changes.find(({ table }) => table === name) ?? null)
  return [...names].filter((name) => textOf(one, name) !== textOf(other, name))
}

/** What happened, one line for each run of steps by the same write. */
export function replay(requests: readonly Request[], steps: readonly Step[]): string[] {
  const lines: string[] = []
  let from = 0
  while (from < steps.length) {
    let to = from
    while (to + 1 < steps.length && steps[to + 1]!.who === steps[from]!.who && steps[to]!.action === 'pass') to += 1
    const { who, action, text, result } = steps[to]!
    const name = `${String.fromCharCode(65 + who)} (${requests[who]!.write.name})`
    lines.push(`${name}: ${to > from ? `${to - from} steps, then ` : ''}${short(text)}${action === 'pass' ? '' : ` [${action}]`} → ${result}`)
    from = to + 1
  }
  return lines
}

function short(text: string): string {
  const words = text.replace(/\s+/g, ' ').trim()
  const target = /\b(insert into|update|delete from|from) "?([a-z_]+)/.exec(words)?.[2]
  const head = /^\w+/.exec(words)?.[0] ?? ''
  return words.length < 70 ? words : `${head} … ${target ?? ''}${/\bfor (no key )?update/.test(words) ? ' for update' : ''}`
}
