// The setting of workloads: a database with its data, our node on it, and the effort per measurement.
import type { BenchDatabase, BenchServer } from './database.ts'
import { type Node, type Server, startNode, startServer } from './processes.ts'

export interface Effort {
  /** seconds per round */
  seconds: number
  rounds: number
  /** number of responses whose total is checked against the database */
  totals: number
  quick: boolean
  /** directory for processor profiles; null if none are recorded */
  profiles: URL | null
}

export interface Stage {
  server: BenchServer
  database: BenchDatabase
  /** listings in the database, published and others */
  listings: number
  effort: Effort
  say: (line: string) => void
  /** our node, started on first use */
  node: () => Promise<Node>
  /** the running node; null if it has not been started */
  startedNode: () => Node | null
  /** stops the node; the next call of `node` starts a new one */
  stopNode: () => Promise<void>
  /** starts a baseline server on the same data; the caller stops it */
  startPlain: () => Promise<PlainServer>
  close: () => Promise<void>
}

export interface PlainServer extends Server {
  /** Stops the server at once, and its queries in the database. */
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
