// `node bench/market/price-jobs.ts [rows] [rounds] [apart]`: plans, applies and undoes price jobs over HTTP during searches, compared to the bare SQL
// update of the same rows during the same searches, on one core and with fsync. With `apart`, PostgreSQL has the other core, which it shares with the
// readers.
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { spread } from '../answers.ts'
import { median } from '../compare.ts'
import { startDatabaseServer } from '../database.ts'
import { copyGeneratedData } from '../generated-data.ts'
import { generateListings, ownPublished } from '../generated-listings.ts'
import { startReaders } from '../paced.ts'
import { pinProcess, SERVER_CORE, startNode } from '../processes.ts'

const rows = Number(process.argv[2] ?? 10_000)
const rounds = Number(process.argv[3] ?? 5)
const apart = process.argv[4] === 'apart'
const ITEMS = 20_000
/** A fifth of the listings belong to the seller. */
const LISTINGS = Math.max(100_000, rows * 6)
const GOALS = { seconds: 2, readersP99: 10 }
const READS_A_SECOND = 200
const BARE = 'bare SQL update'
const SEARCHES = ['?sort_by=price_low', '?search=charizard&with_item=1', '?sort_by=latest&page=3', '?min_price=500&max_price=900&sort_by=price_high']

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Node's own client, because the overhead of fetch would be measured, too. */
function ask(url: string, key: string, body?: string): Promise<{ status: number; text: string }> {
  const text = body ?? ''
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const sent = httpRequest(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }))
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

interface Timed<T> {
  result: T
  ms: number
  /** latencies of the reads that were due meanwhile, ascending, each measured from its due time */
  reads: number[]
}

const server = await startDatabaseServer()
try {
  pinProcess(process.pid, 1 - SERVER_CORE)
  pinProcess(server.pid, apart ? 1 - SERVER_CORE : SERVER_CORE)
  const database = await server.create('price_jobs')
  const { kysely } = database.ctx.db
  const { id: accountId, key } = database.accounts.plus
  await copyGeneratedData(database.ctx.db, ITEMS)
  await generateListings(database.ctx.db, accountId, LISTINGS)
  const own = spread(ownPublished(LISTINGS), rows)
  const node = await startNode(database.url)
  const plus = `${node.url}/api/v1/plus`
  /** As text: bodies are built before and parsed after the measurement, because this process also times the steps. */
  const good = async (path: string, body?: string): Promise<string> => {
    const { status, text } = await ask(`${plus}${path}`, key, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`)
    return text
  }
  const readers = await startReaders({
    url: node.url,
    key,
    requests: SEARCHES.map((search) => `/api/v1/plus/listings${search}`),
    perSecond: READS_A_SECOND,
  })
  const whileReading = async <T>(step: () => Promise<T>): Promise<Timed<T>> => {
    await readers.latencies()
    const started = performance.now()
    const result = await step()
    const ms = performance.now() - started
    return { result, ms, reads: await readers.latencies() }
  }
  const jobOf = ({ result }: Timed<string>) => (JSON.parse(result) as { data: Job }).data
  const digest = async () =>
    (
      await sql<{ digest: string }>`
        select md5(string_agg(id || ':' || price || ':' || quantity || ':' || approved_price || ':' || status, ',' order by id)) as digest
        from listings where id = any(${own}::int4[])`.execute(kysely)
    ).rows[0]!.digest
  // One bare statement for the same rows, on the same core and with the same fsync; the digest below is of its result.
  const bare = async ({ ids, prices }: { ids: string; prices: string }) => {
    await sql`
      update listings l set price = g.price, approved_price = g.price, version = version + 1, updated_at = now()
      from unnest(${ids}::int4[], ${prices}::numeric[]) g(id, price)
      where l.id = g.id`.execute(kysely)
  }
  interface Job {
    id: number
    state: string
    rows_refused: number
    changed: number
    reversed: number
  }
  const figures: { what: string; ms: number[]; reads: number[] }[] = []
  const note = (what: string, { ms, reads }: Timed<unknown>) => {
    const found = figures.find((one) => one.what === what)
    if (found) found.ms.push(ms)
    else figures.push({ what, ms: [ms], reads: [] })
    figures.find((one) => one.what === what)!.reads.push(...reads)
  }
  for (let round = 0; round <= rounds; round += 1) {
    const wanted = { ids: `{${own.join(',')}}`, prices: `{${own.map((id, i) => (((id * 31 + i) % 90_000) + 100 + round) / 100).join(',')}}` }
    const updated = await whileReading(() => bare(wanted))
    await sql`vacuum listings`.execute(kysely)
    const before = await digest()
    const body = JSON.stringify({
      rows: own.map((id, i) => ({ listing_id: id, price: (((id + i * 37) % 80_000) + 200 + round) / 100, ...(i % 2 && { quantity: 3 }) })),
    })
    const calm = await whileReading(() => delay(1_000))
    const planned = await whileReading(() => good('/price-jobs', body))
    const { id, rows_refused: refused } = jobOf(planned)
    const applied = await whileReading(() => good(`/price-jobs/${id}/apply`, '{}'))
    const undone = await whileReading(() => good(`/price-jobs/${id}/undo`, '{}'))
    if (refused !== 0 || jobOf(applied).changed !== rows || jobOf(undone).reversed !== rows) throw new Error('not every row was changed and reversed')
    if ((await digest()) !== before) throw new Error('the undo is not exact')
    // The first round is a warm-up.
    if (round === 0) continue
    note('calm', calm)
    note(BARE, updated)
    note('plan', planned)
    note('apply', applied)
    note('undo', undone)
  }
  const limit = median(figures.find(({ what }) => what === BARE)!.ms)
  console.log(`${rows} rows, ${LISTINGS} listings, ${rounds} rounds, ${READS_A_SECOND} searches a second; median of the rounds`)
  for (const { what, ms, reads } of figures) {
    reads.sort((a, b) => a - b)
    const p99 = reads[Math.floor(reads.length * 0.99)]!
    const times =
      what === 'calm'
        ? ''
        : what === BARE
          ? `${limit.toFixed(0)} ms; `
          : `${median(ms).toFixed(0)} ms (goal ${GOALS.seconds * 1000}), ${(median(ms) / limit).toFixed(1)} × the bare update; `
    console.log(`${what}: ${times}readers' p99 ${p99.toFixed(1)} ms (goal ${GOALS.readersP99}), max ${reads.at(-1)!.toFixed(1)} ms`)
  }
  await readers.stop()
  await node.stop()
  await database.close()
} finally {
  agent.destroy()
  await server.close()
}
