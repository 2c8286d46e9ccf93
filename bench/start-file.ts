// `node bench/start-file.ts`: measures starts from the database and from the start file, and the cost of writing the file.
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { answerTo } from './answers.ts'
import { startDatabaseServer } from './database.ts'
import { copyGeneratedData } from './generated-data.ts'
import { generateListings, generateSales } from './generated-listings.ts'
import { cpuMicros, type Node, residentMb, startNode } from './processes.ts'

const STARTS = 3
const MAX_WAIT_MS = 120_000

const options = new Command('bench start-file')
  .description('Measures starts from the database and from the start file')
  .option('--items <n>', 'items, each with eight prices', Number, 100_000)
  .option('--listings <n>', 'listings', Number, 0)
  .parse()
  .opts<{ items: number; listings: number }>()

const server = await startDatabaseServer()
try {
  const database = await server.create('start_file')
  const { db } = database.ctx
  say('generating')
  await copyGeneratedData(db, options.items)
  if (options.listings > 0) {
    await generateSales(db, database.accounts.plus.id)
    await generateListings(db, database.accounts.plus.id, options.listings)
  }
  const { key } = database.accounts.professional
  const dataDir = join(server.dir, 'node')
  const file = join(dataDir, 'start.columns')
  const start = async (minutes: number) => {
    const startedMs = performance.now()
    const node = await startNode(database.url, { DATA_DIR: dataDir, START_FILE_MINUTES: String(minutes), LOG_LEVEL: 'info' })
    await answerTo(node, key, '/api/v1/items/1')
    const ms = performance.now() - startedMs
    return {
      node,
      said: `first answer after ${ms.toFixed(0)} ms, ${(cpuMicros(node.pid) / 1_000).toFixed(0)} ms of the processor, ${residentMb(node.pid).toFixed(0)} MB`,
    }
  }
  for (let i = 0; i < STARTS; i += 1) {
    const { node, said } = await start(0)
    say(`from the database: ${said}`)
    await node.stop()
  }
  // The node writes the file right after its start.
  const { node } = await start(1_440)
  const waits = await latenciesUntil(node, key, () => existsSync(file))
  waits.sort((a, b) => a - b)
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!.toFixed(1)
  say(
    `written: ${(statSync(file).size / 1e6).toFixed(0)} MB; ${waits.length} reads meanwhile, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  )
  say(`memory ${residentMb(node.pid).toFixed(0)} MB, at most ${peakMb(node.pid).toFixed(0)} MB`)
  await node.stop()
  for (let i = 0; i < STARTS; i += 1) {
    const { node: again, said } = await start(1_440)
    say(`from the file: ${said}`)
    await again.stop('SIGKILL')
  }
  rmSync(dataDir, { recursive: true })
} finally {
  await server.close()
}

/** Latencies of consecutive reads until a condition is met. */
async function latenciesUntil(node: Node, key: string, done: () => boolean): Promise<number[]> {
  const waits: number[] = []
  const endMs = performance.now() + MAX_WAIT_MS
  while (!done()) {
    if (performance.now() > endMs) throw new Error('No start file was written')
    const askedMs = performance.now()
    await answerTo(node, key, '/api/v1/items/1')
    waits.push(performance.now() - askedMs)
  }
  return waits
}

/** Peak memory of a process; NaN if the system does not report it. */
function peakMb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  } catch {
    return Number.NaN
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
