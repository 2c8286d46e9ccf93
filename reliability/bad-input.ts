// `node reliability/bad-input.ts`: sends thousands of invalid requests to the program; no response may be a 5xx, slow, or without the envelope.
import { Command, InvalidArgumentError } from 'commander'
import { attackKeepAlive } from './bad-input-keep-alive.ts'
import { startProgram } from './bad-input-program.ts'
import { type Attack, attack } from './bad-input-run.ts'
import { prepareTarget } from './bad-input-target.ts'

/** Applies to an idle machine only; tests do not check it. */
const SLOWEST_MS = 2_000

const options = new Command('bad-input')
  .description('Sends invalid requests, generated from the OpenAPI documents and the GraphQL schema, to the program')
  .option('--requests <n>', 'requests per seed', wholeNumber, 20_000)
  .option('--seeds <n>', 'number of seeds', wholeNumber, 3)
  .option('--seed <n>', 'only this seed', wholeNumber)
  .parse()
  .opts<{ requests: number; seeds: number; seed?: number }>()

const seeds = options.seed === undefined ? Array.from({ length: options.seeds }, (_, i) => i + 1) : [options.seed]
let breaches = 0
for (const seed of seeds) breaches += await attackWith(seed)
console.log(breaches === 0 ? 'No violations' : `${breaches} violations`)
process.exitCode = breaches === 0 ? 0 : 1

/** Each seed runs on its own program, because an address that sends many wrong credentials is blocked for a while. */
async function attackWith(seed: number): Promise<number> {
  const program = await startProgram()
  try {
    const target = await prepareTarget(program)
    const started = performance.now()
    const onProgress = (sent: number) => process.stderr.write(`\rseed ${seed}: ${sent} of ${options.requests}`)
    const result = await attack(target, { requests: options.requests, seed, onProgress })
    process.stderr.write('\r')
    console.log(`Seed ${seed}: ${options.requests} requests in ${Math.round((performance.now() - started) / 1_000)} s`)
    show(result)
    const uncovered = [...result.requestsByName].filter(([, times]) => times === 0)
    for (const [name] of uncovered) console.log(`NOT COVERED ${name}`)
    const keepAlive = await attackKeepAlive(target)
    console.log(
      `${keepAlive.sent} refused compressed bodies, each followed by a request on the same connection: ${keepAlive.breaches.length} violations`,
    )
    for (const line of keepAlive.breaches.slice(0, 20)) console.log(`VIOLATION ${line}`)
    if (!program.alive()) console.log('The program has exited')
    const errors = program.errors()
    if (errors.length > 0) console.log(`Errors in its log: ${errors.length}\n${errors.slice(0, 10).join('\n')}`)
    const hasFailed = !program.alive() || errors.length > 0
    const slow = result.slowest.filter(({ milliseconds }) => milliseconds > SLOWEST_MS)
    for (const { milliseconds, request } of slow) console.log(`VIOLATION ${request} answered after ${Math.round(milliseconds)} ms`)
    return slow.length + result.breachCount + uncovered.length + keepAlive.breaches.length + Number(hasFailed)
  } finally {
    await program.stop()
  }
}

function show({ statuses, codes, requestsByName, refusals, named, slowest, p99Ms, refused, breaches: found, breachCount }: Attack): void {
  const allStatuses = [...new Set([...statuses.values()].flatMap((row) => [...row.keys()]))].sort((a, b) => a - b)
  console.table(
    Object.fromEntries(
      [...statuses]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([group, row]) => [group, Object.fromEntries(allStatuses.map((status) => [status, row.get(status) ?? 0]))]),
    ),
  )
  console.log(
    [...codes]
      .sort((a, b) => b[1] - a[1])
      .map(([code, count]) => `${code} ${count}`)
      .join(', '),
  )
  console.log(`p99 ${p99Ms.toFixed(1)} ms, slowest ${slowest[0]!.milliseconds.toFixed(0)} ms; ${named} of ${refusals} refused inputs name the field`)
  const counts = [...requestsByName.values()].sort((a, b) => a - b)
  console.log(`${requestsByName.size} operations, fields and tools, each covered ${counts[0]} to ${counts.at(-1)} times`)
  console.log(`${refused} more requests with a value that must be refused`)
  for (const { milliseconds, request } of slowest) console.log(`${milliseconds.toFixed(0)} ms ${request.slice(0, 200)}`)
  for (const line of found) console.log(`VIOLATION ${line}`)
  if (breachCount > found.length) console.log(`and ${breachCount - found.length} more`)
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('It must be an integer of at least 1.')
  return Number(text)
}
