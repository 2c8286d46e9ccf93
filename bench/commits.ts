// `node bench/commits.ts [seconds] [writers] [--flush-ms 2]`: updates of listing descriptions over two nodes on one database with fsync, one commit
// each, compared to the bare statements over as many connections. --flush-ms delays each flush of the log, as a network disk does.
import { Agent, request as httpRequest } from 'node:http'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import { spread } from './answers.ts'
import { startDatabaseServer } from './database.ts'
import { copyGeneratedData } from './generated-data.ts'
import { generateListings, ownPublished } from './generated-listings.ts'
import { startNode } from './processes.ts'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { 'flush-ms': { type: 'string', default: '0' } } })
const flushMs = Number(values['flush-ms'])
const seconds = Number(positionals[0] ?? 10)
/** per node */
const writers = Number(positionals[1] ?? 16)
const ITEMS = 2_000
const LISTINGS = 10_000
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

function patch(url: string, key: string, value: object): Promise<number> {
  const body = JSON.stringify(value)
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    httpRequest(url, { method: 'PATCH', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
      .on('error', reject)
      .end(body)
  })
}

/** Calls `write` repeatedly from each writer. @returns calls completed per second, and their latencies in milliseconds, ascending */
async function load(count: number, write: (writer: number, n: number) => Promise<void>): Promise<{ rate: number; latencies: number[] }> {
  const until = performance.now() + seconds * 1_000
  const latencies: number[] = []
  const writing = async (writer: number) => {
    for (let n = 0; performance.now() < until; n += 1) {
      const started = performance.now()
      await write(writer, n)
      latencies.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: count }, (_, writer) => writing(writer)))
  return { rate: latencies.length / seconds, latencies: latencies.sort((a, b) => a - b) }
}

const say = (what: string, { rate, latencies }: Awaited<ReturnType<typeof load>>) => {
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!.toFixed(1)
  console.log(`${what}: ${rate.toFixed(0)} commits/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
}

const server = await startDatabaseServer()
try {
  const database = await server.create('commits')
  const { id: accountId, key } = database.accounts.plus
  await copyGeneratedData(database.ctx.db, ITEMS)
  await generateListings(database.ctx.db, accountId, LISTINGS)
  const own = spread(ownPublished(LISTINGS), writers * 2)
  const nodes = [await startNode(database.url), await startNode(database.url)]
  const ours = () =>
    load(writers * 2, async (writer, n) => {
      const node = nodes[writer % 2]!
      const status = await patch(`${node.url}/api/v1/plus/listings/${own[writer]}`, key, { description: `Change ${n}` })
      if (status !== 200) throw new Error(`a write was answered with ${status}`)
    })
  if (flushMs > 0) {
    // Delays each flush by this long, whether or not others commit meanwhile.
    for (const [name, value] of [
      ['commit_delay', flushMs * 1_000],
      ['commit_siblings', 0],
    ] as const) {
      await sql`alter system set ${sql.ref(name)} = ${sql.lit(value)}`.execute(database.ctx.db.kysely)
    }
    await sql`select pg_reload_conf()`.execute(database.ctx.db.kysely)
  }
  // A first run loads the pages, so that neither measurement reads more than the other.
  await ours()
  say('two nodes', await ours())
  const clients = await Promise.all(
    own.map(async () => {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      return client
    }),
  )
  const bare = await load(writers * 2, async (writer, n) => {
    const client = clients[writer]!
    await client.query('begin')
    await client.query('select * from listings where id = $1 for update', [own[writer]])
    await client.query('update listings set description = $2, version = version + 1 where id = $1', [own[writer], `Change ${n}`])
    await client.query("insert into audit_log (actor, action, subject_type, subject_id) values ('bench', 'bench', 'listing', $1)", [own[writer]])
    await client.query('commit')
  })
  say('limit, bare statements of as many connections', bare)
  for (const client of clients) await client.end()
  for (const node of nodes) await node.stop()
  await database.close()
} finally {
  agent.destroy()
  await server.close()
}
