// `node reliability/redis-failover.ts [--times 6]`: the Redis master behind Sentinels is killed or frozen while two nodes lease from it.
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createPostgres } from './postgres.ts'
import { atMost, conclude, count, figure, type Finding, progress, spread } from './report.ts'
import { type RedisCluster, type RedisServer, startSentinels } from './sentinels.ts'
import { ask, countedAlone, OPERATOR_TOKEN, pause, type Service, startService, until, workDir } from './service.ts'

export interface RedisFailoverOptions {
  /** how often the master fails: killed and frozen in turn */
  times: number
  /** whether requests continue for the whole minute of a failover, to measure how far accounts exceed their limit */
  wholeMinutes?: boolean
}

const LIMIT = 600
const OVER_PERCENT = 2
const WAYS = ['killed', 'frozen'] as const
/** Accounts that send requests during a failover: their pace as a multiple of the limit, and how long before it they start. */
const ACCOUNTS = [
  { name: 'half its limit', pace: 0.5, beforeMs: 10_000 },
  { name: 'its limit', pace: 1, beforeMs: 10_000 },
  { name: 'twice its limit', pace: 2, beforeMs: 10_000 },
  { name: 'ten times its limit', pace: 10, beforeMs: 500 },
]
const MINUTE_MS = 60_000
const PROBE_MS = 100
const LONG_MS = 240_000
/** A request without a response by then counts as failed. */
const RESPONSE_TIMEOUT_MS = 60_000

interface Account {
  id: number
  key: string
}

interface Answer {
  /** from the first request of the account until the response */
  atMs: number
  ms: number
  status: number
}

interface Scene {
  services: Service[]
  cluster: RedisCluster
  newAccount: () => Promise<Account>
  request: (n: number, account: Account) => ReturnType<typeof ask>
}

/** Two nodes over one PostgreSQL, and one Redis behind three Sentinels. */
export async function redisFailoverRun({ times, wholeMinutes = true }: RedisFailoverOptions): Promise<Finding[]> {
  const dir = workDir()
  const postgres = await createPostgres(join(dir.path, 'postgres'))
  await postgres.start()
  const cluster = await startSentinels(join(dir.path, 'redis'))
  progress('the Redis cluster is complete')
  const services: Service[] = []
  try {
    const settings = { DATABASE_URL: postgres.url, HOST: '127.0.0.1', PORT: '0', OPERATOR_PORT: '0', REDIS_URL: cluster.url }
    for (const _ of [1, 2]) services.push(await startService({ ...settings, RATE_LIMITS: `professional=${LIMIT}` }))
    const scene = openScene(services, cluster)
    const answers: Answer[] = []
    const findings: Finding[] = await measureSharedLimit(scene, 'before')
    const gaps: Gap[] = []
    const over = new Map<string, number[]>()
    for (let n = 0; n < times; n += 1) {
      const way = WAYS[n % WAYS.length]!
      const gap = await failMaster(scene, way, wholeMinutes, n < times - 1)
      gaps.push(gap)
      for (const [name, watched] of gap.watched) {
        answers.push(...watched)
        over.set(name, [...(over.get(name) ?? []), overPercent(watched)])
      }
      const last = [...over].map(([name, values]) => `${name} ${Math.round(values.at(-1)!)} %`).join(', ')
      const after = gap.leasedMs.map((ms) => Math.round(ms)).join(' and ')
      progress(`${n + 1}/${times} ${way}: new master after ${Math.round(gap.namedMs)} ms, leases after ${after} ms; over the limit: ${last}`)
    }
    findings.push(...(await measureSharedLimit(scene, 'after')))
    const failed = answers.filter(({ status }) => status !== 200 && status !== 429)
    return [
      figure('failures of the master', times),
      figure('load average at the end', `${loadavg()[0]!.toFixed(1)} over 1 minute`),
      ...WAYS.flatMap((way) => ofWay(way, gaps)),
      count(`failed requests, of ${answers.length}`, failed.length, 0),
      figure('slowest response', `${Math.round(answers.reduce((max, { ms }) => Math.max(max, ms), 0))} ms`),
      ...findings,
      ...(wholeMinutes ? [...over].map(([name, values]) => spread(`over the limit in the minute of a failover, at ${name}`, values, ' %')) : []),
      count('unexpected exits of a process', services.filter((service) => service.ended() !== null).length, 0),
    ]
  } finally {
    for (const service of services) if (service.ended() === null) await service.kill('SIGKILL')
    await cluster.close()
    await postgres.stop('immediate')
    dir.remove()
  }
}

function openScene(services: Service[], cluster: RedisCluster): Scene {
  const operator = async <T>(path: string, json: unknown): Promise<T> => {
    let data: T
    const created = async () => {
      const { status, body } = await ask<T>(`${services[0]!.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, {
        json,
        timeoutMs: RESPONSE_TIMEOUT_MS,
      })
      data = body.data
      return status === 201
    }
    await until(`${path} succeeds`, created, LONG_MS)
    return data!
  }
  const newAccount = async () => {
    const { id } = await operator<{ id: number }>('/accounts', { name: 'Limited', plan: 'professional' })
    const { key } = await operator<{ key: string }>(`/accounts/${id}/keys`, {})
    return { id, key }
  }
  const request = (n: number, { key }: Account) => ask(`${services[n]!.publicUrl}/api/v1/items`, key, { timeoutMs: RESPONSE_TIMEOUT_MS })
  return { services, cluster, newAccount, request }
}

/** Sends twice the limit to both nodes, without pauses; repeated if the master changes meanwhile. */
async function measureSharedLimit({ services, cluster, newAccount, request }: Scene, when: string): Promise<Finding[]> {
  for (;;) {
    const [account, epoch, alone] = [await newAccount(), await cluster.epoch(), await countedAlone(services)]
    const began = performance.now()
    let passed = 0
    const client = async (n: number) => {
      for (let i = 0; i < LIMIT / 2; i += 1) if ((await request(n, account)).status === 200) passed += 1
    }
    await Promise.all([client(0), client(0), client(1), client(1)])
    const minutes = Math.floor((performance.now() - began) / MINUTE_MS) + 1
    const aloneNow = (await countedAlone(services)) - alone
    if ((await cluster.epoch()) !== epoch) continue
    progress(`${passed} of ${LIMIT * 2} requests passed, limit ${LIMIT}, in ${minutes} minutes; ${aloneNow} were counted on one node alone`)
    const over = ((passed - aloneNow - LIMIT * minutes) / LIMIT) * 100
    return [
      figure(`${when} the failovers: accepted requests, limit ${LIMIT}`, passed),
      figure(`${when} the failovers: of these, counted on one node alone`, aloneNow),
      atMost(`${when} the failovers: requests over the limit, without these`, Math.max(0, over), OVER_PERCENT, ' %'),
    ]
  }
}

interface Gap {
  way: (typeof WAYS)[number]
  /** from the fault until a majority of the Sentinels named another master */
  namedMs: number
  /** from the fault until each node had leased from it */
  leasedMs: number[]
  /** responses by account */
  watched: [name: string, answers: Answer[]][]
}

/** Fails the master under load, waits until another takes over, and lets the old one return as a replica. */
async function failMaster(scene: Scene, way: Gap['way'], wholeMinutes: boolean, back: boolean): Promise<Gap> {
  const { cluster } = scene
  const old = await cluster.complete()
  const watches: ReturnType<typeof watch>[] = []
  for (const { pace } of ACCOUNTS.filter(({ beforeMs }) => beforeMs > 1_000)) watches.push(watch(scene, await scene.newAccount(), pace))
  const flooding = await scene.newAccount()
  if (wholeMinutes) await pause(ACCOUNTS[0]!.beforeMs)
  else await until('requests get responses', () => watches.every(({ answers }) => answers.length > 10), LONG_MS)
  watches.push(watch(scene, flooding, ACCOUNTS.at(-1)!.pace))
  await pause(ACCOUNTS.at(-1)!.beforeMs)
  const began = performance.now()
  old.signal(way === 'killed' ? 'SIGKILL' : 'SIGSTOP')
  const other = async () => {
    const master = await cluster.master()
    return master === old ? null : master
  }
  await until('the Sentinels name another master', async () => (await other()) !== null, LONG_MS)
  const namedMs = performance.now() - began
  const leasedMs = await Promise.all([0, 1].map((n) => leases(scene, n, other, began)))
  for (const each of watches) {
    const enough = () => each.sinceMs() > MINUTE_MS
    if (wholeMinutes) await until('a minute is over', enough, LONG_MS)
    await each.stop()
  }
  if (back && way === 'killed') old.start()
  if (back && way === 'frozen') old.signal('SIGCONT')
  return { way, namedMs, leasedMs, watched: watches.map(({ answers }, i) => [ACCOUNTS[i]!.name, answers]) }
}

/** Milliseconds from `began` until a node leases from the new master, for accounts that use only this node. */
async function leases({ cluster, newAccount, request }: Scene, n: number, other: () => Promise<RedisServer | null>, began: number): Promise<number> {
  const leased = async () => {
    const account = await newAccount()
    await request(n, account)
    const master = await other()
    if (master && (await cluster.ask(master, 'exists', `mintmark:lease:${account.id}`)) === 1) return true
    await pause(PROBE_MS)
    return false
  }
  await until(`node ${n + 1} leases from the new master`, leased, LONG_MS)
  return performance.now() - began
}

/** Sends requests to both nodes at a pace, whatever the responses. */
function watch({ request }: Scene, account: Account, pace: number) {
  const answers: Answer[] = []
  const began = performance.now()
  const gapMs = (2 * MINUTE_MS) / (LIMIT * pace)
  let running = true
  const client = async (n: number) => {
    // The first request looks up the key in the database, whose failures this run does not test.
    await until('the key is accepted', async () => (await request(n, account)).status === 200, LONG_MS)
    answers.push({ atMs: performance.now() - began, ms: 0, status: 200 })
    for (let i = 1; running; i += 1) {
      await pause(Math.max(1, began + i * gapMs - performance.now()))
      const { status, ms } = await request(n, account)
      answers.push({ atMs: performance.now() - began, ms, status })
    }
  }
  const clients = [client(0), client(1)]
  const stop = async () => {
    running = false
    await Promise.all(clients)
  }
  return { answers, stop, sinceMs: () => performance.now() - began }
}

/** Requests beyond the limit in the first minute, in percent of the limit. */
function overPercent(answers: readonly Answer[]): number {
  const passed = answers.filter(({ status, atMs }) => status === 200 && atMs < MINUTE_MS).length
  return (Math.max(0, passed - LIMIT) / LIMIT) * 100
}

function ofWay(way: Gap['way'], gaps: readonly Gap[]): Finding[] {
  const of = gaps.filter((gap) => gap.way === way)
  if (of.length === 0) return []
  const named = of.map(({ namedMs }) => namedMs)
  const leased = of.flatMap(({ leasedMs }) => leasedMs)
  const ours = of.flatMap(({ namedMs, leasedMs }) => leasedMs.map((ms) => ms - namedMs))
  return [
    spread(`master ${way}: until the Sentinels named another`, named),
    spread(`master ${way}: until a node leased from it`, leased),
    spread(`master ${way}: of that, after it was named`, ours),
  ]
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { times: { type: 'string', default: '6' } } })
  conclude('failover of Redis', await redisFailoverRun({ times: Number(values.times) }))
}
