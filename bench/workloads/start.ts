// Workload 11: time from the start of a node's process to its first correct response, and its memory.
import { answerTo } from '../answers.ts'
import { median } from '../compare.ts'
import { residentMb, startNode } from '../processes.ts'
import type { Stage } from '../stage.ts'
import { type Table, whole } from '../tables.ts'
import type { Workload } from '../workload.ts'
import { checkItems, detailPaths } from './items.ts'

const STARTS = 3
const GOALS = { seconds: 1.5, megabytes: 250 }

export const startWorkload: Workload = { id: '11', title: 'Start and memory of the node', goal: null, data: 'listings', prepare }

async function prepare(stage: Stage) {
  const { database, effort } = stage
  const { kysely } = database.ctx.db
  const count = async (table: 'items' | 'prices') =>
    Number(
      (
        await kysely
          .selectFrom(table)
          .select((eb) => eb.fn.countAll().as('n'))
          .executeTakeFirstOrThrow()
      ).n,
    )
  const counts = { items: await count('items'), prices: await count('prices'), listings: stage.listings }
  const [path] = await detailPaths(database.ctx.db)
  return async () => {
    // Set only if other workloads ran before.
    const afterLoad = stage.startedNode()
    const afterLoadMb = afterLoad ? residentMb(afterLoad.pid) : null
    const starts: { ms: number; mb: number }[] = []
    for (let i = 0; i < (effort.quick ? 1 : STARTS); i += 1) starts.push(await start(stage, path!))
    const figures = { ...counts, firstAnswerMs: median(starts.map(({ ms }) => ms)), memoryMb: median(starts.map(({ mb }) => mb)), afterLoadMb }
    stage.say(`11 first right answer after ${whole(figures.firstAnswerMs)} ms, ${whole(figures.memoryMb)} MB`)
    return { table: tableOf(figures), figures }
  }
}

async function start({ database }: Stage, path: string): Promise<{ ms: number; mb: number }> {
  const started = performance.now()
  const node = await startNode(database.url)
  const { status, text } = await answerTo(node, database.accounts.professional.key, path)
  const ms = performance.now() - started
  checkItems('professional', path, status, text)
  const mb = residentMb(node.pid)
  await node.stop()
  return { ms, mb }
}

interface StartFigures {
  items: number
  prices: number
  listings: number
  firstAnswerMs: number
  /** resident, without PostgreSQL */
  memoryMb: number
  /** memory of the node that ran the other workloads; null if none did */
  afterLoadMb: number | null
}

function tableOf({ items, prices, listings, firstAnswerMs, memoryMb, afterLoadMb }: StartFigures): Table {
  return {
    title: '11: start and memory of the node, without PostgreSQL',
    head: [
      'Items',
      'Prices',
      'Listings',
      `First right answer after s (goal ${GOALS.seconds})`,
      `Memory MB (goal ${GOALS.megabytes})`,
      'After the workloads MB',
    ],
    rows: [
      [...[items, prices, listings].map(whole), (firstAnswerMs / 1_000).toFixed(2), whole(memoryMb), afterLoadMb === null ? '-' : whole(afterLoadMb)],
    ],
    words: 0,
  }
}
