// `node reliability/price-jobs.ts [--kills 50] [--rows 2000]`: kills the process with -9 while price jobs are applied and undone; a job must be
// applied completely or not at all, and an undo must restore the exact values.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { conclude, count, figure, type Finding, progress, spread } from './report.ts'
import { ask, freePorts, OPERATOR_TOKEN, pause, type Reply, startService, until, workDir } from './service.ts'

export interface PriceJobKillOptions {
  kills: number
  rows: number
}

interface Job {
  id: number
  state: 'planned' | 'applied' | 'undone'
  changed: number
  reversed: number
  rows: { listing_id: number; outcome: string | null }[]
}
interface Listing {
  id: number
  price: number
  quantity: number
  changed_by: { id: number } | null
}

/** Concurrent requests while listings are created. */
const CONCURRENCY = 20
const OLD = { price: 100, quantity: 3 }

/** Kills at random times within the duration of the last complete step; after each kill every listing is read back. */
export async function priceJobKills({ kills, rows }: PriceJobKillOptions): Promise<Finding[]> {
  const dir = workDir()
  const [port, operatorPort] = (await freePorts(2)) as [number, number]
  const settings = { DATA_DIR: join(dir.path, 'data'), PORT: String(port), OPERATOR_PORT: String(operatorPort) }
  const start = () => startService(settings)
  let service = await start()
  const operatorUrl = `http://127.0.0.1:${operatorPort}/operator/v1`
  const plusUrl = `http://127.0.0.1:${port}/api/v1/plus`
  const good = <T>({ status, body }: Reply<T>): T => {
    if (status < 200 || status > 299) throw new Error(`${status} ${JSON.stringify(body.error)}`)
    return body.data
  }
  const operator = async <T = { id: number }>(path: string, json: unknown) => good(await ask<T>(`${operatorUrl}${path}`, OPERATOR_TOKEN, { json }))
  const stepMs = { apply: 0, undo: 0 }
  const killedIn = { apply: 0, undo: 0, committed: 0 }
  let [torn, inexact, wrongState, lost] = [0, 0, 0, 0]
  try {
    const { id: accountId } = await operator('/accounts', { name: 'Seller', plan: 'plus' })
    const { key } = await operator<{ key: string }>(`/accounts/${accountId}/keys`, {})
    const category = await operator('/categories', { game: 'pokemon', market: 'service', ref: 'base', name: 'Base Set' })
    const item = await operator('/items', { ref: 'card', name: 'Card', market: 'service', category_id: category.id })
    const ids: number[] = []
    const make = async (i: number) => {
      const { id } = await operator('/listings', { seller_id: accountId, item_id: item.id, title: 'Card', ...OLD })
      // Half of them are published.
      if (i % 2 === 0) await operator(`/listings/${id}/approve`, {})
      return id
    }
    for (let from = 0; from < rows; from += CONCURRENCY) {
      ids.push(...(await Promise.all(Array.from({ length: Math.min(CONCURRENCY, rows - from) }, (_, i) => make(i)))))
    }
    const plus = <T>(path: string, method = 'GET', json?: unknown) =>
      ask<T>(`${plusUrl}${path}`, key, { method, ...(json !== undefined && { json }) })
    const listings = async (): Promise<Map<number, Listing>> => {
      const found = new Map<number, Listing>()
      for (let page = 1; found.size < rows; page += 1) {
        for (const listing of good(await plus<Listing[]>(`/my-listings?per_page=100&page=${page}`))) found.set(listing.id, listing)
      }
      return found
    }
    const target = (id: number, n: number) => ({ price: 100 + ((id + n) % 900) + 1, quantity: 4 + (n % 5) })
    const planned = async (n: number) => {
      const { id } = good(await plus<Job>('/price-jobs', 'POST', { rows: ids.map((id) => ({ listing_id: id, ...target(id, n) })) }))
      return id
    }
    const run = async (id: number, what: 'apply' | 'undo') => {
      const reply = await plus<Job>(`/price-jobs/${id}/${what}`, 'POST', {})
      if (reply.status === 200) stepMs[what] = reply.ms
      return reply
    }
    // The duration of a step without a kill.
    const first = await planned(kills)
    for (const what of ['apply', 'undo'] as const) good(await run(first, what))
    for (let i = 0; i < kills; i += 1) {
      const step = i % 2 === 0 ? 'apply' : 'undo'
      const jobId = await planned(i)
      if (step === 'undo') good(await run(jobId, 'apply'))
      const answer = run(jobId, step)
      await pause(Math.random() * 1.1 * stepMs[step])
      await service.kill('SIGKILL')
      const acknowledged = (await answer).status === 200
      service = await start()
      await until('the service is ready', async () => (await ask(`http://127.0.0.1:${port}/health/ready`, null)).status === 200)
      killedIn[step] += 1
      const job = await jobOf(plus, jobId)
      const now = await listings()
      const isNew = (id: number) => now.get(id)!.price === target(id, i).price && now.get(id)!.quantity === target(id, i).quantity
      const isOld = (id: number) => now.get(id)!.price === OLD.price && now.get(id)!.quantity === OLD.quantity && now.get(id)!.changed_by === null
      const [newOnes, oldOnes] = [ids.filter(isNew).length, ids.filter(isOld).length]
      if (newOnes !== rows && oldOnes !== rows) torn += 1
      if ((job.state === 'applied') !== (newOnes === rows)) wrongState += 1
      if (acknowledged && job.state !== (step === 'apply' ? 'applied' : 'undone')) lost += 1
      if (job.state === (step === 'apply' ? 'applied' : 'undone')) killedIn.committed += 1
      if (job.state === 'applied') good(await run(jobId, 'undo'))
      const after = await listings()
      if (!ids.every((id) => after.get(id)!.price === OLD.price && after.get(id)!.quantity === OLD.quantity && after.get(id)!.changed_by === null))
        inexact += 1
      progress(`${i + 1} of ${kills}, ${step}: ${job.state}, ${newOnes} of ${rows} listings changed`)
    }
    return [
      figure(
        'kills with -9',
        `${killedIn.apply} while applying, ${killedIn.undo} while undoing; in ${killedIn.committed} of them the step had committed`,
      ),
      figure('rows of a job', rows),
      count('jobs applied or undone only in part', torn, 0),
      count('jobs whose state does not match their listings', wrongState, 0),
      count('acknowledged steps lost', lost, 0),
      count('undos that did not restore the previous values', inexact, 0),
      spread('duration of a step without a kill', [stepMs.apply, stepMs.undo]),
    ]
  } finally {
    if (service.ended() === null) await service.kill('SIGINT')
    dir.remove()
  }
}

async function jobOf(plus: <T>(path: string) => Promise<Reply<T>>, id: number): Promise<Job> {
  const { status, body } = await plus<Job>(`/price-jobs/${id}`)
  if (status !== 200) throw new Error(`GET /price-jobs/${id}: ${status}`)
  return body.data
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { kills: { type: 'string', default: '50' }, rows: { type: 'string', default: '2000' } } })
  conclude('kill -9 while price jobs are applied and undone', await priceJobKills({ kills: Number(values.kills), rows: Number(values.rows) }))
}
