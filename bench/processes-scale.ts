// `node bench/processes-scale.ts [seconds] [rounds] [most]`: the effect of a second process of the public listener. The load shares the
// cores, so the figure is the processor time per request of all processes, including the supervisor: n cores serve n / time requests per second.
import { execFileSync } from 'node:child_process'
import { request } from 'node:http'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { startDatabaseServer } from './database.ts'
import { copyGeneratedData } from './generated-data.ts'
import { measure, writeRequests } from './load.ts'
import { cpuMicros, pinProcess, residentMb, startNode } from './processes.ts'
import { randomNumbers } from '#core/random.ts'
import { shuffled } from './random.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const seconds = Number(positionals[0] ?? 8)
const rounds = Number(positionals[1] ?? 5)
const ITEMS = 50_000
const WARM_UP = 2
const COUNTS = [1, 2, 4].filter((count) => count <= Number(positionals[2] ?? 2))
/** clients that open a new connection for each request */
const CALLERS = 16

/** Ids of a process and its children. */
function family(pid: number): number[] {
  const rows = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  return [pid, ...rows.map((row) => row.trim().split(/ +/).map(Number)).flatMap(([child, parent]) => (parent === pid ? [child!] : []))]
}

const spent = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0)

/** Sends requests on a new connection each time for a number of seconds. @returns number of responses */
async function onNewConnections(url: string, key: string): Promise<number> {
  const ends = performance.now() + seconds * 1_000
  let answers = 0
  const caller = async () => {
    while (performance.now() < ends) {
      const status = await new Promise((resolve, reject) => {
        request(url, { agent: false, headers: { authorization: `Bearer ${key}` } }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        })
          .on('error', reject)
          .end()
      })
      if (status !== 200) throw new Error(`answered ${String(status)}`)
      answers += 1
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return answers
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

interface Figures {
  /** microseconds of processor time per request on keep-alive and on new connections; for the latter, also that of the supervisor alone */
  reused: number[]
  fresh: number[]
  supervisor: number[]
}

const server = await startDatabaseServer()
try {
  const database = await server.create('processes')
  await copyGeneratedData(database.ctx.db, ITEMS)
  const random = randomNumbers(1)
  const pages = Array.from({ length: 1_000 }, () => `/api/v1/items?per_page=20&page=${1 + Math.floor((random() * ITEMS) / 20)}`)
  const single = Array.from({ length: 1_000 }, () => `/api/v1/items/${1 + Math.floor(random() * ITEMS)}`)
  const requestsFile = writeRequests(server.dir, 'processes', shuffled([...pages, ...single]))
  const { key } = database.accounts.professional
  const nodes = []
  for (const count of COUNTS) {
    const node = await startNode(database.url, { API_PROCESSES: String(count) })
    const figures: Figures = { reused: [], fresh: [], supervisor: [] }
    // Each process has to compile its code on its own requests.
    await measure({ url: node.url, key, requestsFile }, WARM_UP * seconds * count)
    // On one core, switching between the processes would add to the processor time of each.
    for (const [i, pid] of family(node.pid).entries()) if (count > 1) pinProcess(pid, i % availableParallelism())
    nodes.push({ count, node, pids: family(node.pid), figures })
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { count, node, pids, figures } of nodes) {
      const before = spent(pids)
      const { requests } = await measure({ url: node.url, key, requestsFile }, seconds)
      const reused = (spent(pids) - before) / requests
      const [beforeAll, beforeSupervisor] = [spent(pids), cpuMicros(node.pid)]
      const answers = await onNewConnections(`${node.url}${single[0]}`, key)
      figures.reused.push(reused)
      figures.fresh.push((spent(pids) - beforeAll) / answers)
      figures.supervisor.push(count === 1 ? 0 : (cpuMicros(node.pid) - beforeSupervisor) / answers)
    }
  }
  const [alone] = nodes
  for (const { count, pids, figures } of nodes) {
    const times = (of: 'reused' | 'fresh') => ((count * median(alone!.figures[of])) / median(figures[of])).toFixed(2)
    const memory = pids.map((pid) => Math.round(residentMb(pid))).join(' + ')
    console.log(
      `API_PROCESSES=${count}: reused connections ${median(figures.reused).toFixed(1)} µs a request, ${times('reused')} times one process on ${count} cores; ` +
        `new connections ${median(figures.fresh).toFixed(1)} µs, ${times('fresh')} times, of it the supervisor ${median(figures.supervisor).toFixed(1)} µs; ` +
        `memory ${memory} MB`,
    )
  }
  for (const { node } of nodes) await node.stop()
  await database.close()
} finally {
  await server.close()
}
