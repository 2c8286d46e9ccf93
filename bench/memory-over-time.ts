// `npm run bench -- --soak=MINUTES`: memory of a node after its start, and after each turn of all workloads over HTTP under the highest load.
import { heldMemory } from './inspect.ts'
import { type Load, measure, writeRequests } from './load.ts'
import { postingPrices } from './posted-prices.ts'
import { residentMb } from './processes.ts'
import type { Stage } from './stage.ts'
import { type Table, whole } from './tables.ts'
import type { HttpWorkload } from './workload.ts'

/** Of each workload in a turn. */
const SECONDS = 5

/** Runs the workloads in turn for a number of minutes; prices arrive during every second turn. */
export async function memoryOverTime(stage: Stage, workloads: readonly HttpWorkload[], minutes: number): Promise<{ table: Table; figures: unknown }> {
  const { database, server } = stage
  const loads: Omit<Load, 'url'>[] = []
  for (const workload of workloads) {
    const { plan, requests } = await workload.traffic(stage)
    loads.push({ key: database.accounts[plan].key, requestsFile: writeRequests(server.dir, workload.id, requests) })
  }
  // The first node has served the requests that prepared the workloads.
  await stage.stopNode()
  const node = await stage.node()
  const turns = [{ turn: 0, minutes: 0, mb: residentMb(node.pid), mostMb: residentMb(node.pid) }]
  const started = performance.now()
  for (let turn = 1; performance.now() - started < minutes * 60_000; turn += 1) {
    const feed = turn % 2 === 0 ? postingPrices(database, node) : null
    let mostMb = 0
    for (const load of loads) {
      await measure({ ...load, url: node.url }, SECONDS)
      mostMb = Math.max(mostMb, residentMb(node.pid))
    }
    await feed?.stop()
    turns.push({ turn, minutes: (performance.now() - started) / 60_000, mb: residentMb(node.pid), mostMb })
    stage.say(`turn ${turn}: ${whole(mostMb)} MB at most`)
  }
  const held = (await heldMemory(node)).held / 1024 / 1024
  const table: Table = {
    title: `Memory of a node under ${loads.length} workloads in turn, ${SECONDS} s each; objects and buffers in use at the end: ${whole(held)} MB`,
    head: ['Turn', 'Minutes', 'Memory MB', 'Most MB in the turn'],
    rows: turns.map((one) => [String(one.turn), one.minutes.toFixed(1), whole(one.mb), whole(one.mostMb)]),
    words: 0,
  }
  return { table, figures: turns }
}
