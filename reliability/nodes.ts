// `node reliability/nodes.ts [--times 20] [--rounds 1]`: runs three nodes with nginx and a replica, and measures how fast changes reach
// all nodes and which requests fail during restarts and failures.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installed, openReceiver, startNginx, startTraffic, type Traffic } from './proxy-and-clients.ts'
import { openNodeHosts } from './node-hosts.ts'
import { createPostgres } from './postgres.ts'
import { atMost, conclude, count, figure, type Finding, progress, spread } from './report.ts'
import { ask, countedAlone, freePorts, OPERATOR_TOKEN, pause, type Service, startService, until, workDir } from './service.ts'
import { openNetworkProxy } from './network-proxy.ts'
import { prepareWrites, type Writes } from './writes.ts'

export interface NodesOptions {
  /** repetitions of each kind of change */
  times: number
  /** number of rolling restarts of all nodes */
  rounds?: number
  /** how long a worker is disconnected from the database; longer than a lease of 10 s */
  partitionMs?: number
}

const STARTER_LIMIT = 60
const MAX_PROPAGATION_MS = 1_000
const RECEIVER_DELAY_MS = 300
const MAX_FAILED_UNDER_LOAD = 1

interface Scene {
  services: Service[]
  writes: Writes
  operator: <T>(path: string, json?: unknown, method?: string) => Promise<T>
}

/** Runs all parts one after the other on the same hosts. */
export async function nodesRun({ times, rounds = 1, partitionMs = 14_000 }: NodesOptions): Promise<Finding[]> {
  const dir = workDir()
  const postgres = await createPostgres(join(dir.path, 'postgres'))
  await postgres.start()
  const address = await openNetworkProxy({ host: '127.0.0.1', port: postgres.port }, '0.0.0.0')
  const hosts = await openNodeHosts(address.port)
  const findings: Finding[] = [figure('nodes', `3 in ${hosts[0]!.describe}, ${postgres.describe}`)]
  // Fixed ports for each node, so that it keeps them after a restart.
  const ports = await freePorts(hosts.length * 2)
  const start = (n: number) => {
    const { host, command, databaseHost, databasePort } = hosts[n]!
    return startService(
      {
        DATABASE_URL: `postgresql://mintmark:x@${databaseHost}:${databasePort}/mintmark?sslmode=disable`,
        HOST: host,
        OPERATOR_HOST: host,
        PORT: String(ports[2 * n]),
        OPERATOR_PORT: String(ports[2 * n + 1]),
        RATE_LIMITS: `starter=${STARTER_LIMIT},enterprise=100000000`,
        WEBHOOK_ALLOW_CIDRS: '10.77.0.0/16,127.0.0.0/8',
        WEBHOOK_RETRY_DELAYS: '1s,2s',
      },
      { command },
    )
  }
  const services = await Promise.all([start(0), start(1), start(2)])
  try {
    const scene = await openScene(services)
    findings.push(...(await measurePropagation(scene, times)))
    findings.push(...(await measureSharedLimits(scene)))
    findings.push(...(await restartAndKill(scene, start, rounds, join(dir.path, 'nginx'))))
    findings.push(...(await partition(scene, hosts, partitionMs)))
    if (postgres.describe.includes('Debian')) {
      const replica = await postgres.replica(join(dir.path, 'replica'))
      await replica.start()
      try {
        findings.push(...(await failover(scene, postgres, replica, address)))
      } finally {
        await replica.stop('immediate')
      }
    } else progress('pg_basebackup is not installed; skipping the failover')
    findings.push(count('unexpected exits of a process', services.filter((service) => service.ended() !== null).length, 0))
    return findings
  } finally {
    for (const service of services) if (service.ended() === null) await service.kill('SIGINT')
    for (const host of hosts) await host.remove()
    await address.close()
    await postgres.stop('immediate')
    dir.remove()
  }
}

async function openScene(services: Service[]): Promise<Scene> {
  const operator = async <T>(path: string, json?: unknown, method?: string): Promise<T> => {
    const { status, body } = await ask<T>(`${services[0]!.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json, method })
    if (status < 200 || status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body.error)}`)
    return body.data
  }
  const writes = await prepareWrites({ publicUrl: () => services[0]!.publicUrl, operatorUrl: () => services[0]!.operatorUrl })
  return { services, writes, operator }
}

/** Milliseconds from the response of one node until all nodes show the change. */
async function measurePropagation({ services, writes, operator }: Scene, times: number): Promise<Finding[]> {
  const on = (path: string, key: string) => (service: Service) => ask<unknown>(`${service.publicUrl}/api/v1${path}`, key)
  const seen = async (
    what: string,
    read: (service: Service) => ReturnType<typeof ask>,
    isSeen: (reply: Awaited<ReturnType<typeof ask>>) => boolean,
  ) => {
    const each = await Promise.all(services.map((service) => until(what, async () => isSeen(await read(service)))))
    return Math.max(...each)
  }
  const revoked: number[] = []
  const paused: number[] = []
  const priced: number[] = []
  const category = await operator<{ id: number }>('/categories', { game: 'pokemon', market: 'source_c', ref: 'seen', name: 'Seen' })
  const item = await operator<{ id: number }>('/items', { ref: 'seen', name: 'Seen', market: 'source_c', category_id: category.id })
  for (let i = 0; i < times; i++) {
    const key = await operator<{ id: number; key: string }>(`/accounts/${writes.accountId}/keys`, {})
    await seen('the key is accepted', on(`/items/${item.id}`, key.key), ({ status }) => status === 200)
    await operator(`/keys/${key.id}`, undefined, 'DELETE')
    revoked.push(await seen('the key is rejected', on(`/items/${item.id}`, key.key), ({ status }) => status === 401))

    const title = `Paused ${i}`
    const { id } = await operator<{ id: number }>('/listings', {
      seller_id: writes.accountId,
      item_id: writes.itemId,
      title,
      price: 100,
      quantity: 1,
    })
    await operator(`/listings/${id}/approve`, {})
    const found = on(`/plus/listings?search=${encodeURIComponent(title)}`, writes.key)
    await seen('the listing is found', found, ({ body }) => (body.data as { id: number }[]).some((each) => each.id === id))
    const pausing = await ask(`${services[0]!.publicUrl}/api/v1/plus/listings/${id}/status`, writes.key, { json: { action: 'pause' } })
    if (pausing.status !== 200) throw new Error(`pausing: ${pausing.status} ${JSON.stringify(pausing.body.error)}`)
    paused.push(await seen('the listing is hidden', found, ({ body }) => !(body.data as { id: number }[]).some((each) => each.id === id)))

    const price = 100 + i
    await operator('/prices', [
      { item_id: item.id, market: 'source_c', label: 'Near Mint', price, updated_at: new Date(Date.UTC(2026, 0, 1) + i).toISOString() },
    ])
    priced.push(
      await seen('the price is returned', on(`/items/${item.id}`, writes.key), ({ body }) =>
        (body.data as { prices: { price: number }[] }).prices.some((each) => each.price === price),
      ),
    )
  }
  progress('changes have reached all nodes')
  const kinds = [
    ['a revoked key is rejected by all nodes', revoked],
    ['a paused listing is hidden on all nodes', paused],
    ['a new price is returned by all nodes', priced],
  ] as const
  return kinds.flatMap(([what, values]) => [spread(what, values), atMost(`slowest: ${what}`, Math.max(...values), MAX_PROPAGATION_MS, ' ms')])
}

/** One account sends requests to all nodes in turn. */
async function measureSharedLimits({ services, operator }: Scene): Promise<Finding[]> {
  const { id } = await operator<{ id: number }>('/accounts', { name: 'Limited', plan: 'starter' })
  const { key } = await operator<{ key: string }>(`/accounts/${id}/keys`, {})
  const request = (n: number) => ask(`${services[n % services.length]!.publicUrl}/api/v1/items`, key)
  const began = performance.now()
  const aloneBefore = await countedAlone(services)
  let accepted = 0
  for (let i = 0; i < STARTER_LIMIT * 2; i++) if ((await request(i)).status === 200) accepted += 1
  // On a busy machine a lease may take longer than a node waits, and the requests longer than a minute.
  const alone = (await countedAlone(services)) - aloneBefore
  const minutes = Math.floor((performance.now() - began) / 60_000) + 1
  progress('shared limits measured')
  return [atMost(`requests accepted by three nodes together in ${minutes} min`, accepted - alone, STARTER_LIMIT * minutes)]
}

/** A rolling restart and a kill, under traffic directly to the nodes and through nginx. */
async function restartAndKill(
  { services, writes, operator }: Scene,
  start: (n: number) => Promise<Service>,
  rounds: number,
  dir: string,
): Promise<Finding[]> {
  const { id } = await operator<{ id: number }>('/listings', {
    seller_id: writes.accountId,
    item_id: writes.itemId,
    title: 'Rolled',
    price: 100,
    quantity: 1,
  })
  await operator(`/listings/${id}/approve`, {})
  const request = (n: number) =>
    n % 3 === 0
      ? { method: 'PATCH' as const, path: `/api/v1/plus/listings/${id}/price`, key: writes.key, body: `{"price":${100 + (n % 50)}}` }
      : { method: 'GET' as const, path: `/api/v1/items/${writes.itemId}`, key: writes.key }
  const urls = services.map(({ publicUrl }) => publicUrl)
  const nginx = installed('nginx', '-v') ? await startNginx(dir, urls) : null
  const findings: Finding[] = []
  const report = (what: string, name: string, { sent, retried, failures }: Traffic, promised: 'all' | 'reads' | 'none') => {
    const kinds = [...new Set(failures)].map((kind) => `${failures.filter((each) => each === kind).length} × ${kind}`).join(', ')
    const reads = failures.filter((kind) => kind.startsWith('GET')).length
    // Any server loses a connection that arrives between its last check for connections and the closing of its listener.
    if (promised === 'all')
      findings.push(atMost(`${what}, ${name}: failed requests of ${sent} (${retried} retried)`, failures.length, 0, '', MAX_FAILED_UNDER_LOAD))
    if (promised === 'reads') findings.push(count(`${what}, ${name}: failed reads of ${sent} requests`, reads, 0))
    if (promised !== 'all' || failures.length > 0) findings.push(figure(`${what}, ${name}: failed requests`, `${failures.length} ${kinds}`))
  }
  const withTraffic = async (what: string, run: () => Promise<void>, promised: { direct: 'all' | 'none'; proxied: 'reads' | 'none' }) => {
    const direct = startTraffic(urls, request)
    const proxied = nginx && startTraffic([nginx.url], request)
    await pause(500)
    await run()
    await pause(1_000)
    await direct.stop()
    await proxied?.stop()
    report(what, 'direct', direct, promised.direct)
    if (proxied) report(what, 'through nginx', proxied, promised.proxied)
    progress(what)
  }
  let reportedNotReady = 0
  await withTraffic(
    'rolling restart',
    async () => {
      for (const n of Array.from({ length: rounds }, () => [...services.keys()]).flat()) {
        const { publicUrl } = services[n]!
        // An open connection: without one, the node would stop at once.
        const connection = await openConnection(publicUrl)
        const ended = services[n]!.kill('SIGTERM')
        let status = 200
        await until('the node reports not ready', async () => {
          ;({ status } = await ask(`${publicUrl}/health/ready`, null))
          return status !== 200
        })
        if (status === 503) reportedNotReady += 1
        await ended
        connection.destroy()
        services[n] = await start(n)
      }
    },
    { direct: 'all', proxied: 'reads' },
  )
  findings.push(count('nodes that reported not ready before they stopped listening', reportedNotReady, services.length * rounds))
  // Requests in progress in the killed process are lost; nginx retries the reads among them.
  await withTraffic(
    'a node killed with -9',
    async () => {
      await services[2]!.kill('SIGKILL')
      await pause(1_000)
      services[2] = await start(2)
    },
    { direct: 'none', proxied: 'reads' },
  )
  await nginx?.close()
  return findings
}

/** A connection that stays open after one request. */
async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname, () => socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'))
  await once(socket, 'data')
  return socket.on('error', () => {}).resume()
}

/** Disconnects a worker with pending notifications from the database until its leases have expired. */
async function partition({ services, operator }: Scene, hosts: Awaited<ReturnType<typeof openNodeHosts>>, partitionMs: number): Promise<Finding[]> {
  const receiver = await openReceiver(RECEIVER_DELAY_MS)
  const sellers = 6
  const orders: number[] = []
  const listings: number[] = []
  for (let i = 0; i < sellers; i++) {
    const { id } = await operator<{ id: number }>('/accounts', { name: `Partition ${i}`, plan: 'plus' })
    const { key } = await operator<{ key: string }>(`/accounts/${id}/keys`, {})
    const url = `http://${hosts[0]!.receiverHost}:${receiver.port}/`
    const saved = await ask(`${services[0]!.publicUrl}/api/v1/plus/webhook`, key, { method: 'PUT', json: { url, on_sale: true } })
    if (saved.status !== 200) throw new Error(`webhook: ${saved.status} ${JSON.stringify(saved.body.error)}`)
    const category = await operator<{ id: number }>('/categories', { game: 'pokemon', market: 'service', ref: `p${i}`, name: `Partition ${i}` })
    const item = await operator<{ id: number }>('/items', { ref: `p${i}`, name: `Partition ${i}`, market: 'service', category_id: category.id })
    const listing = await operator<{ id: number }>('/listings', {
      seller_id: id,
      item_id: item.id,
      title: 'Partition',
      price: 100,
      quantity: 100_000,
    })
    await operator(`/listings/${listing.id}/approve`, {})
    listings.push(listing.id)
  }
  let selling = true
  const sales = (async () => {
    for (let n = 0; selling; n++) {
      const orderId = 5_000_000 + n
      await operator('/orders', { order_id: orderId, lines: [{ listing_id: listings[n % sellers]!, quantity: 1 }] })
      orders.push(orderId)
      await pause(20)
    }
  })()
  await pause(500)
  const cut = performance.now()
  hosts[2]!.partition()
  await pause(partitionMs)
  hosts[2]!.heal()
  const recoveryMs = await until('the node is ready again', async () => (await ask(`${services[2]!.publicUrl}/health/ready`, null)).status === 200)
  selling = false
  await sales
  await until('all notifications arrived', () => receiver.deliveries.size >= orders.length)
  const posts = [...receiver.deliveries.values()].reduce((sum, times) => sum + times, 0)
  await receiver.close()
  progress('worker reconnected')
  return [
    figure('worker disconnected from the database', `${Math.round((performance.now() - cut) / 1_000)} s in total, ${orders.length} sales meanwhile`),
    count('sales without a notification', orders.length - receiver.deliveries.size, 0),
    figure('notifications repeated with the same id', posts - receiver.deliveries.size),
    atMost('maximum deliveries of one event', Math.max(...receiver.deliveries.values()), 3, '', 10),
    atMost('disconnected node ready after the end', recoveryMs / 1_000, 5, ' s'),
  ]
}

/** Stops the primary during writes, promotes its replica, and switches the address to it. */
async function failover(
  { services, writes }: Scene,
  primary: Awaited<ReturnType<typeof createPostgres>>,
  replica: Awaited<ReturnType<typeof createPostgres>>,
  address: Awaited<ReturnType<typeof openNetworkProxy>>,
): Promise<Finding[]> {
  await primary.query("alter system set synchronous_standby_names = '*'")
  await primary.query('select pg_reload_conf()::text')
  await until('the replica is synchronous', async () => (await primary.query('select sync_state from pg_stat_replication')).includes('sync'))
  writes.start()
  await pause(500)
  const died = performance.now()
  await primary.stop('immediate')
  replica.promote()
  address.redirect({ host: '127.0.0.1', port: replica.port })
  await replica.query('alter system reset synchronous_standby_names')
  await replica.query('select pg_reload_conf()::text')
  const redirected = performance.now()
  await until('writes are accepted again', () => writes.answers.some(({ at, status }) => at > redirected && status > 0 && status < 300))
  const recoveryMs = performance.now() - redirected
  await pause(1_000)
  await writes.stop()
  const ready = async (service: Service) => (await ask(`${service.publicUrl}/health/ready`, null)).status === 200
  await until('all nodes are ready', async () => (await Promise.all(services.map(ready))).every(Boolean))
  progress('replica promoted')
  const verified = await writes.verify()
  return [
    figure(
      'failover to a synchronous replica',
      `${Math.round(performance.now() - died)} ms from the end of the primary until all writes were verified`,
    ),
    atMost('writes accepted again after the address points to the replica', recoveryMs / 1_000, 5, ' s'),
    ...verified.map(({ what, ...rest }) => ({ what: `failover: ${what}`, ...rest })),
  ]
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { times: { type: 'string', default: '20' }, rounds: { type: 'string', default: '1' } } })
  conclude('multiple nodes', await nodesRun({ times: Number(values.times), rounds: Number(values.rounds) }))
}
