// The exploration of orders finds every result of two writes, compared with all orders of random programs against a model of PostgreSQL's locks.
import { randomNumbers } from '#core/random.ts'
import { expect, test } from 'vitest'
import { explore } from '../../reliability/interleavings/explore.ts'
import { EMPTY, ending, nothing, touch, undoing } from '../../reliability/interleavings/footprint.ts'
import type { Choose, Played, Step } from '../../reliability/interleavings/schedule.ts'

/** A statement on one row; `follow` writes the row that the last read named. */
interface Statement {
  kind: 'read' | 'lock' | 'lock skip locked' | 'write' | 'follow' | 'commit'
  row: number
}

const PROGRAMS = 100
const ROWS = 3
const KINDS = ['read', 'read', 'lock', 'lock skip locked', 'write', 'write', 'follow'] as const
const TABLE = new Set(['rows'])
const NONE = new Set<string>()

/** One or two transactions of up to three statements each. */
function program(below: (n: number) => number): Statement[] {
  const transaction = (): Statement[] => {
    const statements = Array.from({ length: 1 + below(3) }, () => ({ kind: KINDS[below(KINDS.length)]!, row: below(ROWS) }))
    return [...statements, { kind: 'commit', row: 0 }]
  }
  return below(3) === 0 ? [...transaction(), ...transaction()] : transaction()
}

/** A write under way. */
class Writer {
  at = 0
  seen: number[] = []
  changed = new Map<number, number>()
  held = new Set<number>()
  touched = nothing()
  /** the row that it waits for, and the step that does */
  waits: { row: number; step: Step } | null = null
  hasFailed = false
  readonly program: readonly Statement[]

  constructor(program: readonly Statement[]) {
    this.program = program
  }

  get next(): Statement | null {
    return this.program[this.at] ?? null
  }
}

/** Runs two programs: rows are locked until the commit, reads see what is committed, and a deadlock rolls its last statement's write back. */
function play(programs: readonly (readonly Statement[])[], choose: Choose): { played: Played; result: string } {
  const committed = Array.from({ length: ROWS }, (_, row) => row)
  const writers = programs.map((one) => new Writer(one))
  const steps: Step[] = []
  const holderOf = (row: number) => writers.find(({ held }) => held.has(row))

  function end(writer: Writer): void {
    const other = writers.find((one) => one !== writer)!
    writer.held.clear()
    writer.changed.clear()
    writer.touched = nothing()
    if (!other.waits || holderOf(other.waits.row)) return
    const { row, step } = other.waits
    other.waits = null
    act(other, row)
    step.result = 'waits, then ok'
  }

  function act(writer: Writer, row: number): void {
    const { kind } = writer.next!
    if (kind !== 'read') writer.held.add(row)
    const value = writer.changed.get(row) ?? committed[row]!
    writer.seen.push(value)
    if (kind === 'write' || kind === 'follow')
      writer.changed.set(row, (value * 7 + writer.seen.reduce((sum, one) => sum * 3 + one, writer.at)) % 1_009)
    writer.at += 1
  }

  function take(who: number, enabled: number[]): void {
    const writer = writers[who]!
    const { kind, row: named } = writer.next!
    const row = kind === 'follow' ? (writer.seen.at(-1) ?? 0) % ROWS : named
    const locks = kind === 'read' || kind === 'commit' ? NONE : TABLE
    const text = writer.hasFailed ? 'rollback' : kind
    const footprint = kind === 'commit' ? EMPTY : { ...EMPTY, reads: TABLE, writes: kind === 'write' || kind === 'follow' ? TABLE : NONE, locks }
    const step: Step = { who, action: 'pass', text, values: String(row), result: 'ok', footprint, enabled }
    steps.push(step)
    if (writer.hasFailed) {
      step.footprint = undoing(EMPTY, nothing())
      writer.at = writer.program.length
    } else if (kind === 'commit') {
      step.footprint = ending(EMPTY, writer.touched)
      for (const [changed, value] of writer.changed) committed[changed] = value
      writer.at += 1
      end(writer)
    } else {
      touch(writer.touched, footprint)
      const holder = kind === 'read' ? undefined : holderOf(row)
      if (!holder || holder === writer) act(writer, row)
      else if (kind === 'lock skip locked') {
        writer.seen.push(-1)
        writer.at += 1
      } else if (holder.waits) {
        step.result = '40P01'
        step.footprint = undoing(footprint, writer.touched)
        writer.hasFailed = true
        end(writer)
      } else {
        writer.waits = { row, step }
        step.result = 'waits'
      }
    }
  }

  for (;;) {
    const enabled = writers.flatMap((writer, who) => (writer.next && !writer.waits ? [who] : []))
    if (enabled.length === 0) break
    take(choose(enabled, new Map(), steps).who, enabled)
  }
  const outcomes = writers.map(({ hasFailed, seen }) => ({ kind: hasFailed ? ('refused' as const) : ('done' as const), text: seen.join() }))
  return { played: { steps, outcomes }, result: JSON.stringify([committed, outcomes]) }
}

/** The results of all orders. */
function resultsOfAll(programs: readonly (readonly Statement[])[]): { orders: number; results: Set<string> } {
  const path: { enabled: number[]; at: number }[] = []
  const results = new Set<string>()
  for (let orders = 1; ; orders++) {
    const { result } = play(programs, (enabled, _next, { length }) => {
      const point = (path[length] ??= { enabled, at: 0 })
      return { who: point.enabled[point.at]! }
    })
    results.add(result)
    while (path.length > 0 && path.at(-1)!.at === path.at(-1)!.enabled.length - 1) path.pop()
    if (path.length === 0) return { orders, results }
    path.at(-1)!.at += 1
  }
}

test('an exploration reaches the result of every order', async () => {
  let all = 0
  let explored = 0
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const random = randomNumbers(seed)
    const below = (n: number) => Math.floor(random() * n)
    const programs = [program(below), program(below)]
    const expected = resultsOfAll(programs)
    const found = new Set<string>()
    const { schedules, complete } = await explore((choose) => {
      const { played, result } = play(programs, choose)
      found.add(result)
      return Promise.resolve(played)
    }, 100_000)
    expect(complete).toBe(true)
    expect({ seed, results: [...found].sort() }).toEqual({ seed, results: [...expected.results].sort() })
    all += expected.orders
    explored += schedules
  }
  expect(explored).toBeLessThan(all / 2)
})
