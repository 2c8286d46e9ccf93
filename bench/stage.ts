// What workloads are measured on: a database with its data, our node over it, and how much effort a figure is worth.
import type { BenchDatabase, BenchServer } from './database.ts'
import { type Node, type Server, startNode, startServer } from './processes.ts'

export interface Effort {
  /** of a round */
  seconds: number
  rounds: number
  /** answers whose total is counted in the database, too */
  totals: number
  quick: boolean
  /** where processor profiles go, null when none are taken */
  profiles: URL | null
}

export interface Stage {
  server: BenchServer
  database: BenchDatabase
  /** published and other listings in the database */
  listings: number
  effort: Effort
  say: (line: string) => void
  /** our node, started when it is first asked for */
  node: () => Promise<Node>
  /** the same, null while nobody has asked for it */
  startedNode: () => Node | null
  /** stops it; the next call of `node` starts a new one */
  stopNode: () => Promise<void>
  /** a baseline server over the same data, to be stopped by who starts it */
  startPlain: () => Promise<PlainServer>
  close: () => Promise<void>
}

export interface PlainServer extends Server {
  /** Ends it at once, and what the database still does for it. */
  abandon: () => Promise<void>
}

export function openStage(
  server: BenchServer,
  database: BenchDatabase,
  { listings, effort, say }: Pick<Stage, 'listings' | 'effort' | 'say'>,
): Stage {
  let node: Node | null = null
  const startPlain = async () => {
    const plain = await startServer('bench/plain-server.ts', [database.url])
    const abandon = async () => {
      await plain.stop('SIGKILL')
      await database.endQueriesOf('plain')
    }
    return { ...plain, abandon }
  }
  return {
    server,
    database,
    listings,
    effort,
    say,
    node: async () => (node ??= await startNode(database.url)),
    startedNode: () => node,
    stopNode: async () => {
      await node?.stop()
      node = null
    },
    startPlain,
    close: async () => {
      await node?.stop()
      await database.close()
    },
  }
}
