// `node bench/prices/batches.ts [items]`: processor time of the node and of PostgreSQL for a posted batch of 100 prices.
import { execFileSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { MARKETS } from '#core/markets.ts'
import { startDatabaseServer } from '../database.ts'
import { copyGeneratedData, GENERATED_AT, generatedMarket, generatedMinor } from '../generated-data.ts'
import { cpuMicros, startServer } from '../processes.ts'

const OPERATOR_PORT = '18474'
const TOKEN = 'operator token of the benchmark'
const PRICES = 100
const [WARM_UP, BATCHES] = [60, 100]
/** Limit of each in ms. */
const LIMIT_MS = 6
const items = Number(process.argv[2] ?? 20_000)

const server = await startDatabaseServer()
try {
  const database = await server.create('batches')
  await copyGeneratedData(database.ctx.db, items)
  const settings = { DATABASE_URL: database.url, PORT: '0', OPERATOR_PORT, OPERATOR_TOKEN: TOKEN, RATE_LIMITS: 'off', LOG_LEVEL: 'warn' }
  const node = await startServer('src/main.ts', ['serve'], settings)
  for (let n = 0; n < WARM_UP; n += 1) await post(n)
  await firstRuns()
  const before = spent(node.pid)
  for (let n = WARM_UP; n < WARM_UP + BATCHES; n += 1) await post(n)
  const after = spent(node.pid)
  console.log('| Posted batch of 100 prices | ms of processor time | Limit | |\n|---|--:|--:|---|')
  for (const name of ['node', 'PostgreSQL'] as const) {
    const ms = (after[name] - before[name]) / 1_000 / BATCHES
    console.log(`| ${name} | ${ms.toFixed(1)} | ${LIMIT_MS} | ${ms <= LIMIT_MS ? 'met' : 'missed'} |`)
  }
  await node.stop()
  await database.close()
} finally {
  await server.close()
}

/** Prices of 100 items that differ from those of every earlier batch by a few percent. */
async function post(n: number): Promise<void> {
  const at = new Date(Date.parse(GENERATED_AT) + (n + 1) * 60_000).toISOString()
  const prices = Array.from({ length: PRICES }, (_, i) => {
    const id = ((n * PRICES + i) % items) + 1
    const price = Math.round(generatedMinor(id, 0, 0) * (1.02 + (n % 7) / 100)) / 100
    return { item_id: id, market: MARKETS[generatedMarket(id)], label: 'Near Mint', price, updated_at: at }
  })
  const response = await fetch(`http://127.0.0.1:${OPERATOR_PORT}/operator/v1/prices`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(prices),
  })
  const { data } = (await response.json()) as { data: { accepted: number } }
  if (data.accepted < PRICES / 2) throw new Error(`Only ${data.accepted} of ${PRICES} prices were accepted`)
}

/** Waits for the tasks that each node runs soon after its start and then once an hour or a day: the first dump takes 5 s of processor time. */
async function firstRuns(): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${OPERATOR_PORT}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
    const metrics = await response.text()
    if (!response.ok) throw new Error(metrics)
    if (['dumps', 'price-evidence', 'day-counts'].every((task) => new RegExp(`task_last_run_timestamp_seconds\\{[^}]*task="${task}"`).test(metrics)))
      return
    await setTimeout(100)
  }
}

/** Microseconds of processor time until now; connections of PostgreSQL stay open between batches. */
function spent(pid: number): { node: number; PostgreSQL: number } {
  const rows = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const backends = rows.map((row) => row.trim().split(/ +/).map(Number)).filter(([, parent]) => parent === server.pid)
  return { node: cpuMicros(pid), PostgreSQL: backends.reduce((sum, [child]) => sum + cpuMicros(child!), cpuMicros(server.pid)) }
}
