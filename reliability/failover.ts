// `node reliability/failover.ts [--kills 30] [--others 1]`: kills, freezes and disconnects the primary, an etcd member and HAProxy during
// writes.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { type Cluster, type ClusterNode, missingRequirement, startCluster } from './cluster.ts'
import { openMachines } from './machines.ts'
import { atMost, broken, conclude, count, figure, type Finding, percentile, progress, spread } from './report.ts'
import { ask, pause, type Service, startService, until, workDir } from './service.ts'
import { prepareWrites, type Writes } from './writes.ts'

export interface FailoverOptions {
  /** number of failures of the primary, alternating between the kinds */
  kills: number
  /** number of failures of each kind for an etcd member and HAProxy */
  others: number
}

const WAYS = ['killed', 'PostgreSQL killed', 'frozen', 'disconnected'] as const
type Way = (typeof WAYS)[number]

interface Gap {
  way: Way
  /** from the fault until a standby was promoted */
  promotedMs: number
  /** from the promotion until a plain client, which tries every 20 ms, could write */
  plainMs: number
  /** from the promotion until the nodes acknowledged a write: the one that lists the machines, and the one behind HAProxy */
  nodesMs: number[]
  /** from the fault until both nodes had acknowledged a write */
  totalMs: number
}

const READ_PAUSE_MS = 20
const WRITE_PAUSE_MS = 40
const PROBE_MS = 20
/** How long a fault lasts after writes succeed again, and how long other components are down. */
const AFTER_MS = 2_000
const DOWN_MS = 8_000
const NOTIFIED_MS = 120_000

/** Runs two nodes and a worker on a cluster of three, with one fault after the other. */
export async function failoverRun({ kills, others }: FailoverOptions): Promise<Finding[]> {
  const dir = workDir()
  const machines = openMachines()
  const services: Service[] = []
  const findings: Finding[] = []
  try {
    const cluster = await startCluster(machines, dir.path)
    progress('the cluster is complete')
    const direct = cluster.postgres.map(({ machine }) => `${machine.address}:5432`)
    // One node and the worker list the database machines, the other node uses HAProxy.
    const urls = [cluster.url(...direct), cluster.url(`${cluster.haproxy.machine.address}:5000`)]
    const receiver = await openSales(machines.own)
    const settings = { HOST: machines.own, PORT: '0', OPERATOR_PORT: '0', WEBHOOK_ALLOW_CIDRS: `${machines.net}0/24`, WEBHOOK_RETRY_DELAYS: '1s,2s' }
    for (const url of urls) services.push(await startService({ ...settings, DATABASE_URL: url }))
    services.push(await startService({ ...settings, DATABASE_URL: urls[0]! }, { role: 'work' }))
    const nodes = services.slice(0, 2)
    const writes: Writes[] = []
    for (const [series, node] of nodes.entries()) {
      const written = await prepareWrites(
        { publicUrl: () => node.publicUrl, operatorUrl: () => node.operatorUrl },
        { pauseMs: WRITE_PAUSE_MS, series },
      )
      const json = { url: `http://${machines.own}:${receiver.port}/`, on_sale: true }
      const saved = await ask(`${node.publicUrl}/api/v1/plus/webhook`, written.key, { method: 'PUT', json })
      if (saved.status !== 200) throw new Error(`webhook: ${saved.status} ${JSON.stringify(saved.body.error)}`)
      writes.push(written)
    }
    const reads = nodes.map((node, n) => readAll(`${node.publicUrl}/api/v1/items/${writes[n]!.itemId}`, writes[n]!.key))
    for (const written of writes) written.start()
    await pause(1_000)

    const gaps: Gap[] = []
    for (let n = 0; n < kills; n++) {
      const way = WAYS[n % WAYS.length]!
      const gap = await failPrimary(cluster, writes, way).catch((error: Error) => {
        progress(error.message)
        return null
      })
      // The findings so far are reported anyway.
      if (gap === null) {
        findings.push(count(`recovered after ${n + 1} of ${kills} (${way})`, 0, 1))
        break
      }
      gaps.push(gap)
      // Writers are stopped, so that consecutive reads agree.
      await Promise.all(writes.map((written) => written.stop()))
      const verified = (await Promise.all(writes.map((written) => written.verify()))).flat()
      for (const written of writes) written.start()
      const lost = broken(verified).map(({ what, value }) => `; BROKEN ${what}: ${value}`)
      const nodeTimes = gap.nodesMs.map((ms) => Math.round(ms)).join(' and ')
      progress(
        `${n + 1}/${kills} primary ${gap.way}: standby promoted after ${Math.round(gap.promotedMs)} ms; first write by a plain client ${Math.round(gap.plainMs)} ms later, by the nodes ${nodeTimes} ms later${lost.join('')}`,
      )
      findings.push(...broken(verified).map(({ what, ...rest }) => ({ what: `after ${n + 1} (${gap.way}): ${what}`, ...rest })))
    }
    for (let round = 0; round < others && gaps.length === kills; round++) findings.push(...(await failOtherComponents(cluster, writes)))

    await Promise.all(writes.map((written) => written.stop()))
    const orders = writes.flatMap((written) => written.orders)
    await until('all notifications arrived', () => orders.every((order) => receiver.events.has(order)), NOTIFIED_MS).catch(() => {})
    const read = (await Promise.all(reads.map((reader) => reader.stop()))).flat()
    const answers = writes.flatMap((written) => written.answers)
    const events = [...receiver.events.values()]
    const posts = events.flatMap((times) => [...times.values()]).reduce((sum, times) => sum + times, 0)
    const verified = await Promise.all(writes.map((written) => written.verify()))
    findings.unshift(
      figure('failures of the primary', gaps.length),
      figure('load average at the end', `${loadavg()[0]!.toFixed(1)} over 1 minute`),
      ...ofGaps(gaps),
      ...verified.flatMap((each, n) => each.map(({ what, ...rest }) => ({ what: `node ${n + 1}: ${what}`, ...rest }))),
      count('acknowledged sales without a notification', orders.filter((order) => !receiver.events.has(order)).length, 0),
      count('sales notified under several ids', events.filter((ids) => ids.size > 1).length, 0),
      figure('notifications repeated with the same id', posts - events.reduce((sum, ids) => sum + ids.size, 0)),
      count(`failed reads from memory of ${read.length}`, read.filter(({ status }) => status !== 200).length, 0),
      figure('slowest read', `${Math.round(Math.max(...read.map(({ ms }) => ms)))} ms`),
      ...ofAnswers(answers),
      count('unexpected exits of a process', services.filter((service) => service.ended() !== null).length, 0),
    )
    await receiver.close()
    return findings
  } finally {
    for (const service of services) if (service.ended() === null) await service.kill('SIGKILL')
    machines.remove()
    dir.remove()
  }
}

function ofGaps(gaps: readonly Gap[]): Finding[] {
  if (gaps.length === 0) return []
  const of = (way: Way) => gaps.filter((gap) => gap.way === way)
  const direct = gaps.map(({ nodesMs }) => nodesMs[0]!)
  const proxied = gaps.map(({ nodesMs }) => nodesMs[1]!)
  return [
    ...WAYS.filter((way) => of(way).length > 0).map((way) =>
      spread(
        `primary ${way}: until a standby was promoted`,
        of(way).map(({ promotedMs }) => promotedMs),
      ),
    ),
    spread(
      'from the promotion until a plain client wrote',
      gaps.map(({ plainMs }) => plainMs),
    ),
    spread('from the promotion until the node without HAProxy wrote', direct),
    atMost('slowest time from the promotion until the node without HAProxy wrote', Math.max(...direct) / 1_000, 1, ' s'),
    spread('from the promotion until the node behind HAProxy wrote', proxied),
    atMost('slowest time from the fault until writes succeeded', Math.max(...gaps.map(({ totalMs }) => totalMs)) / 1_000, 30, ' s'),
  ]
}

function ofAnswers(answers: Writes['answers']): Finding[] {
  const refused = answers.filter(({ status }) => status === 503).map(({ ms }) => ms)
  return [
    figure(
      'writes answered 503',
      `${refused.length}, p50 ${Math.round(percentile(refused, 0.5) || 0)} ms, p99 ${Math.round(percentile(refused, 0.99) || 0)} ms`,
    ),
    // A commit that waits for a standby is given up after 5 s; before it, a request may wait for the database for 3.5 s.
    atMost('slowest response to a write', Math.max(0, ...answers.map(({ ms }) => ms)) / 1_000, 8.5, ' s'),
    count(
      'responses to writes other than success and 503 with envelope and Retry-After',
      answers.filter(({ status, wellFormed }) => status === 0 || (status >= 300 && status !== 503) || !wellFormed).length,
      0,
    ),
  ]
}

/** Fails the primary, waits until another node has taken over, and lets the failed one return as a standby. */
async function failPrimary(cluster: Cluster, writes: readonly Writes[], way: Way): Promise<Gap> {
  const old = await cluster.primary()
  const others = cluster.postgres.filter((node) => node !== old)
  const watches = await Promise.all(others.map(async (node) => watchStandby(await cluster.connect(node))))
  const began = performance.now()
  inject(old, way)
  const promoted = await Promise.race(watches.map(({ promoted }) => promoted))
  const wrote = Promise.race(watches.map(({ wrote }) => wrote))
  const firstAfter = async ({ answers }: Writes) => {
    const first = () => answers.findLast(({ at, ms, status }) => status > 0 && status < 300 && at + ms > promoted)
    await until('a node accepts writes again', () => first() !== undefined, 60_000)
    return Math.min(...answers.filter(({ at, ms, status }) => status > 0 && status < 300 && at + ms > promoted).map(({ at, ms }) => at + ms))
  }
  const nodeTimes = await Promise.all(writes.map(firstAfter))
  const plain = await wrote
  await pause(AFTER_MS)
  for (const watch of watches) watch.stop()
  recover(old, way)
  await cluster.untilComplete()
  return {
    way,
    promotedMs: promoted - began,
    plainMs: plain - promoted,
    nodesMs: nodeTimes.map((at) => at - promoted),
    totalMs: Math.max(...nodeTimes) - began,
  }
}

function inject({ machine }: ClusterNode, way: Way): void {
  if (way === 'killed') machine.signal('SIGKILL')
  else if (way === 'PostgreSQL killed') machine.signal('SIGKILL', /bin\/postgres /)
  else if (way === 'frozen') machine.signal('SIGSTOP')
  else machine.partition()
}

function recover(node: ClusterNode, way: Way): void {
  if (way === 'killed') node.start()
  else if (way === 'frozen') node.machine.signal('SIGCONT')
  else if (way === 'disconnected') node.machine.heal()
}

/** When a standby was promoted and when a plain client wrote to it, as performance.now(). */
function watchStandby(client: pg.Client): { promoted: Promise<number>; wrote: Promise<number>; stop: () => void } {
  let running = true
  const when = async (statement: string) => {
    while (running) {
      const isTrue = await client.query<{ isTrue: boolean }>(statement).then(
        ({ rows }) => rows[0]!.isTrue,
        () => false,
      )
      if (isTrue) return performance.now()
      await pause(PROBE_MS)
    }
    // After `stop`, nothing awaits the result.
    return new Promise<number>(() => {})
  }
  const promoted = when('select not pg_is_in_recovery() as "isTrue"')
  const wrote = promoted.then(() => when('insert into probe default values returning true as "isTrue"'))
  const stop = () => {
    running = false
    void client.end().catch(() => {})
  }
  return { promoted, wrote, stop }
}

/** Fails the etcd leader and HAProxy for 8 s each, and measures the longest time without an acknowledged write by node. */
async function failOtherComponents(cluster: Cluster, writes: readonly Writes[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const what of ['etcd leader', 'HAProxy'] as const) {
    for (const way of ['killed', 'frozen', 'disconnected'] as const) {
      const node = what === 'HAProxy' ? cluster.haproxy : await cluster.etcdLeader()
      const primary = await cluster.primary()
      const began = performance.now()
      inject(node, way)
      await pause(DOWN_MS)
      recover(node, way)
      await pause(AFTER_MS)
      await cluster.untilComplete()
      const longest = writes.map(({ answers }) => longestGap(answers, began, performance.now()))
      progress(`${what} ${way}: longest time without a write ${longest.map((ms) => Math.round(ms)).join(' and ')} ms`)
      findings.push(
        atMost(`${what} ${way}: longest time without a write`, longest[0]! / 1_000, 2, ' s'),
        // This node fails with its HAProxy, and must recover soon after it.
        atMost(
          `${what} ${way}: longest time without a write behind HAProxy`,
          longest[1]! / 1_000,
          what === 'HAProxy' ? DOWN_MS / 1_000 + 3 : 2,
          ' s',
        ),
        count(`${what} ${way}: changes of the primary`, (await cluster.primary()) === primary ? 0 : 1, 0),
      )
    }
  }
  return findings
}

function longestGap(answers: Writes['answers'], from: number, to: number): number {
  const times = answers.filter(({ status }) => status > 0 && status < 300).map(({ at, ms }) => at + ms)
  const within = [from, ...times.filter((time) => time > from && time < to).toSorted((a, b) => a - b), to]
  return Math.max(...within.slice(1).map((time, i) => time - within[i]!))
}

function readAll(url: string, key: string) {
  const answers: { ms: number; status: number }[] = []
  let running = true
  const reading = (async () => {
    while (running) {
      const { status, ms } = await ask(url, key)
      answers.push({ ms, status })
      await pause(READ_PAUSE_MS)
    }
  })()
  const stop = async () => {
    running = false
    await reading
    return answers
  }
  return { stop }
}

/** A receiver that counts the deliveries of each sale by event id. */
async function openSales(host: string) {
  const events = new Map<number, Map<string, number>>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const order = (JSON.parse(text) as { data: { order_id: number } }).data.order_id
      const times = events.get(order) ?? new Map<string, number>()
      const id = String(request.headers['webhook-id'])
      events.set(order, times.set(id, (times.get(id) ?? 0) + 1))
      response.end('ok')
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { port: (server.address() as AddressInfo).port, events, close }
}

if (import.meta.main) {
  const requirement = missingRequirement()
  if (requirement !== null) throw new Error(`this run needs ${requirement}`)
  const { values } = parseArgs({ options: { kills: { type: 'string', default: '30' }, others: { type: 'string', default: '1' } } })
  conclude('failover of the database', await failoverRun({ kills: Number(values.kills), others: Number(values.others) }))
}
