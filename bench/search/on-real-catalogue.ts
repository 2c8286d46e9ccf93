// Measures requests on the real catalogue, at a fixed rate and at full load, compared to bare node:http with responses of the same size.
import { type BenchDatabase, startDatabaseServer } from '../database.ts'
import { type LoadFigures, measure, writeRequests } from '../load.ts'
import { paced, type PacedFigures } from '../paced.ts'
import { pinProcess, type Server, SERVER_CORE, startNode, startServer } from '../processes.ts'
import { importRealData } from '../real-data.ts'

const FORMATS = ['tcgdex', 'pokemontcg', 'punk-records', 'tcgplayer-sealed', 'cardmarket-products', 'pokemontcg-prices']
const LOAD_CORE = 1
const WARM_SECONDS = 2

export interface Measurement {
  title: string
  plan: 'starter' | 'professional'
  /** lines of a requests file */
  requests: (database: BenchDatabase) => Promise<string[]>
  perSecond: number
  /** goal for the 99th percentile at that rate, in milliseconds */
  goalMs: number
}

/** Runs the measurements one after the other, `seconds` each, and prints the figures. */
export async function measureOnRealCatalogue(measurements: readonly Measurement[], seconds: number): Promise<void> {
  const server = await startDatabaseServer()
  try {
    pinProcess(server.pid, SERVER_CORE)
    pinProcess(process.pid, LOAD_CORE)
    const database = await server.create('search')
    await importRealData(database.ctx, ({ file }) => process.stderr.write(`imported ${file}\n`), FORMATS)
    const node = await startNode(database.url)
    for (const { title, plan, requests: make, perSecond, goalMs } of measurements) {
      const requests = await make(database)
      const { key } = database.accounts[plan]
      const atRate = (of: Server, lasting: number) => paced({ url: of.url, key, requests, perSecond, seconds: lasting })
      await atRate(node, WARM_SECONDS)
      const ours = await atRate(node, seconds)
      const bare = await startServer('bench/bare-server.ts', [String(ours.bytes)])
      await atRate(bare, WARM_SECONDS)
      const limit = await atRate(bare, seconds)
      console.log(`${title}: ${requests.length} different requests, ${ours.bytes} bytes, ${perSecond} a second for ${seconds} s`)
      say('ours', ours, `, goal of p99 ${goalMs} ms: ${ours.p99 <= goalMs ? 'reached' : 'missed'}`)
      say('limit', limit)
      const requestsFile = writeRequests(server.dir, 'search', requests)
      const full = (of: Server) => measure({ url: of.url, pid: of.pid, key, requestsFile }, seconds)
      const [fast, fastest] = [await full(node), await full(bare)]
      sayRate('ours', fast, `, ${(fast.requestsPerSecond / fastest.requestsPerSecond).toFixed(2)} of the limit`)
      sayRate('limit', fastest)
      await bare.stop()
    }
    await node.stop()
    await database.close()
  } finally {
    await server.close()
  }
}

function say(who: string, { p50, p99, max }: PacedFigures, more = ''): void {
  console.log(`  ${who.padEnd(6)} p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, max ${max.toFixed(1)} ms${more}`)
}

function sayRate(who: string, { requestsPerSecond, p50, p99 }: LoadFigures, more = ''): void {
  console.log(
    `  ${who.padEnd(6)} at full load ${Math.round(requestsPerSecond)} requests/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms${more}`,
  )
}
