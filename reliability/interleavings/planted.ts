// Faults that are planted in statements on their way to the server, to prove that the simulation finds such faults. The service knows nothing of them.
import { randomNumbers } from '#core/random.ts'
import type { Rewrite } from './messages.ts'
import { allPairs, runPair } from './campaign.ts'
import type { Simulation } from './simulation.ts'
import type { Trials } from './trial.ts'
import { type Request, WRITES } from './writes.ts'

interface PlantedFault {
  what: string
  pattern: RegExp
  replacement: string
}

export const PLANTED: readonly PlantedFault[] = [
  { what: 'An order does not lock its listings', pattern: / for update of "l"$/, replacement: '' },
  { what: 'An action does not lock its listing', pattern: /(from "listings" where "id" = \$1) for update$/, replacement: '$1' },
  {
    what: 'New prices do not lock their listings',
    pattern: /(from "listings" where "id" = any\(\S+\) order by "id") for update$/,
    replacement: '$1',
  },
  {
    what: 'The answer to an offer ignores its status',
    pattern: /^(update "offers" [\s\S]*) and "status" = (\$\d+) and/,
    replacement: '$1 and $2::text is not null and',
  },
  { what: 'A highlight ignores the balance of credits', pattern: /"highlight_credits" > (\$\d+)/, replacement: '$1::int is not null' },
  { what: 'A repeated request is not recognised', pattern: /(requested\(scope, key\) using \(scope, key\)\s+where )/, replacement: '$1 false and ' },
  { what: 'The same request may run twice at once', pattern: /pg_try_advisory_xact_lock\(hashtextextended\(name, 0\)\)/, replacement: 'true' },
  { what: 'A worker takes deliveries that another one has leased', pattern: / and q\.lease_until is null/, replacement: '' },
  {
    what: 'A change is not logged for the nodes',
    pattern: /insert into change_log \(([^)]+)\) values ([\s\S]*)\) select 1$/,
    replacement: 'insert into change_log ($1) select * from (values $2) as v where false) select 1',
  },
  {
    what: 'A change has no audit row',
    pattern: /(insert into audit_log [\s\S]*?::text\[\]\))(\)(, logged| select 1$))/,
    replacement: '$1 where false$2',
  },
  {
    what: 'A node skips transactions that commit late',
    pattern: /not pg_visible_in_snapshot\(c\.xact, (\$\d+)::pg_snapshot\)/,
    replacement: 'c.xact >= pg_snapshot_xmax($1::pg_snapshot)',
  },
  { what: 'The end of periods does not lock the listings', pattern: / for update skip locked$/, replacement: '' },
  { what: 'A price job is not locked', pattern: /^(\s*select from price_jobs where id = \$\d+) for update/, replacement: '$1' },
]

export interface Hunt {
  what: string
  /** null if no schedule breaks a promise */
  found: { pair: string; where: string; problem: string; replay: string[] } | null
  schedules: number
  ms: number
}

/** Orders of a pair that are tried before the next one. */
const MOST_ORDERS = 25

/** Plants a fault and runs pairs of the writes that it concerns until a promise is broken: equal ones first, then those with other writes. */
export async function hunt(simulation: Simulation, trials: Trials, { what, pattern, replacement }: PlantedFault, seconds: number): Promise<Hunt> {
  const startedMs = performance.now()
  const concerned = await concernedWrites(simulation, pattern)
  const isConcerned = ({ write }: Request) => concerned.has(write.name)
  const all = allPairs().filter((pair) => pair.some(isConcerned))
  // Two requests of one kind collide soonest, then other writes with the same statement.
  const rank = ([one, other]: readonly [Request, Request]) => (one.write === other.write ? 0 : isConcerned(one) && isConcerned(other) ? 1 : 2)
  const random = randomNumbers(1)
  const shuffled = all.map((pair) => ({ pair, at: concerned.size < WRITES.length ? rank(pair) + random() : random() }))
  const pairs = shuffled.toSorted((a, b) => a.at - b.at).map(({ pair }) => pair)
  const rewrite: Rewrite = (text) => text.replace(pattern, replacement)
  await simulation.rewrite(rewrite)
  trials.forget()
  let schedules = 0
  try {
    for (const pair of pairs) {
      if (performance.now() - startedMs > seconds * 1_000) break
      const result = await runPair(trials, pair, { most: MOST_ORDERS, withFaults: 0 })
      schedules += result.schedules
      const [failure] = result.failures
      if (!failure) continue
      const found = { pair: result.name, where: failure.what, problem: failure.problems[0]!, replay: failure.replay }
      return { what, found, schedules, ms: performance.now() - startedMs }
    }
    return { what, found: null, schedules, ms: performance.now() - startedMs }
  } finally {
    await simulation.rewrite((text) => text)
    trials.forget()
  }
}

/** The writes that send the statement; a statement of the node itself concerns all. */
async function concernedWrites(simulation: Simulation, pattern: RegExp): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const write of WRITES) {
    const { steps } = await simulation.play([{ write, n: 0 }], ([who]) => ({ who: who! }))
    await simulation.reset()
    if (steps.some(({ text }) => pattern.test(text))) names.add(write.name)
  }
  return names.size > 0 ? names : new Set(WRITES.map(({ name }) => name))
}
