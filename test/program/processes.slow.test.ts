// Several processes on one port under a supervisor: shared state, replacement of an ended process, and restarts that clients do not notice.
import { execFileSync } from 'node:child_process'
import { Agent, request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { processStart } from '#db/local/data-dir.ts'
import { freePorts } from '../../reliability/service.ts'
import { send, until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { endAll, freshDataDir, kill, printedKeys, run, serve, type Service, stop } from './service.ts'

afterAll(endAll)

const PROCESSES = 2
const STARTER_LIMIT = 60
const LIMITS = `starter=${STARTER_LIMIT},professional=10000000`

/** Starts the demo in this many processes. @returns it with its log output */
async function start(settings: Record<string, string>, args = ['serve']) {
  const [port, operatorPort] = (await freePorts(2)).map(String) as [string, string]
  const own = { PORT: port, OPERATOR_PORT: operatorPort, DATA_DIR: freshDataDir() }
  const service = await serve({ API_PROCESSES: String(PROCESSES), RATE_LIMITS: LIMITS, MINTMARK_DEMO: '1', ...own, ...settings }, args)
  let log = ''
  service.child.stderr!.on('data', (chunk: string) => (log += chunk))
  const keys = printedKeys(service.greeting)
  return { ...service, log: () => log, starter: keys['Starter key']!, professional: keys['Professional key']!, token: keys['Operator token']! }
}

type Started = Awaited<ReturnType<typeof start>>

/** Values of a metric by their label `process`, summed for each process. */
async function metric({ operatorUrl, token }: Started, name: string): Promise<Record<string, number>> {
  const answer = await fetch(`${operatorUrl}/metrics`, { headers: { authorization: `Bearer ${token}`, connection: 'close' } })
  const found: Record<string, number> = {}
  for (const [, labels, value] of (await answer.text()).matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const process = /process="(\w+)"/.exec(labels!)?.[1] ?? ''
    found[process] = (found[process] ?? 0) + Number(value)
  }
  return found
}

/** Ids of the program's processes below the supervisor, in the order of their start. */
function processesOf({ child }: Service): number[] {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--sort', 'start_time', '--ppid', String(child.pid)], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes('main.ts')).map((row) => Number.parseInt(row, 10))
}

/**
 * Status of a request, on a new connection or on one that the agent keeps; 0 if there is no response. A kept connection that
 * the server closed before it read the request is no failure: a client repeats the request.
 */
function askAnew(url: string, key: string, agent: Agent | false = false): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
    outgoing.on('error', ({ code }: NodeJS.ErrnoException) => resolve(outgoing.reusedSocket && code === 'ECONNRESET' ? askAnew(url, key) : 0)).end()
  })
}

/** Sends requests continuously until stopped, on kept and on new connections. @returns number of responses by status */
function traffic({ publicUrl, professional }: Started) {
  const url = `${publicUrl}/api/v1/items?per_page=20`
  const statuses: Record<number, number> = {}
  let asking = true
  const client = async (agent: Agent | false) => {
    while (asking) {
      const status = await askAnew(url, professional, agent)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  const keepAlive = new Agent({ keepAlive: true })
  const clients = [keepAlive, keepAlive, keepAlive, keepAlive, false, false].map((agent) => client(agent as Agent | false))
  return {
    statuses,
    stop: async () => {
      asking = false
      await Promise.all(clients)
      keepAlive.destroy()
      return statuses
    },
  }
}

/** A request whose body is half sent. @returns a function that sends the rest and returns the response */
async function halfSent({ publicUrl, professional }: Started): Promise<() => Promise<string>> {
  const body = JSON.stringify({ query: '{ __typename }' })
  const socket = connect(Number(new URL(publicUrl).port), '127.0.0.1')
  await once(socket, 'connect')
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${professional}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(head + body.slice(0, 10))
  return async () => {
    socket.end(body.slice(10))
    return text(socket)
  }
}

describe('two processes over one database', () => {
  test('are restarted one by one without a failed request, and replaced when they exit', async () => {
    const database = await freshDatabase()
    const service = await start({ DATABASE_URL: database.url })
    const before = processesOf(service)
    expect(before).toHaveLength(PROCESSES + 1)
    const first = traffic(service)
    await until('both serve', async () => {
      const counts = await metric(service, 'mintmark_http_request_seconds_count')
      return counts['1']! > 100 && counts['2']! > 100
    })
    expect(Object.keys(await first.stop())).toEqual(['200'])
    await expect.poll(() => metric(service, 'mintmark_process_up')).toEqual({ 1: 1, 2: 1, operator: 1 })
    // A busy process is missing from the metrics.
    const startOfFirst = async () => (await metric(service, 'mintmark_process_start_time_seconds'))['1'] ?? 0
    await until('the first tells its start', async () => (await startOfFirst()) > 0)
    const firstStart = await startOfFirst()
    // One is in progress in each of the two processes: connections alternate between them, and there are no others yet.
    const underWay = [await halfSent(service), await halfSent(service)]
    const load = traffic(service)

    service.child.kill('SIGUSR2')
    await until('another process has taken over', async () => (await startOfFirst()) > firstStart)
    expect(before.map((pid) => processStart(pid) !== null)).toEqual([true, true, true])
    const answers = await Promise.all(underWay.map((finish) => finish()))
    expect(answers.map((answer) => answer.split('\r\n', 1)[0])).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'])
    await until('all are restarted', () => service.log().includes('All processes restarted'))
    expect(before.map((pid) => processStart(pid))).toEqual([null, null, null])
    expect(Object.keys(await load.stop())).toEqual(['200'])
    await expect.poll(() => metric(service, 'mintmark_process_ends_total')).toEqual({ 1: 0, 2: 0, operator: 0 })

    // After a kill, the other process serves requests, and a new one replaces it.
    const serving = processesOf(service)
    expect(serving).toHaveLength(PROCESSES + 1)
    process.kill(serving[0]!, 'SIGKILL')
    await until('it is replaced', async () => {
      if (!service.log().includes('A process ended; starting another')) return false
      const ups = Object.values(await metric(service, 'mintmark_process_up'))
      return ups.length === PROCESSES + 1 && ups.every((up) => up === 1)
    })
    await expect.poll(async () => Object.values(await metric(service, 'mintmark_process_ends_total')).sort()).toEqual([0, 0, 1])
    expect(await askAnew(`${service.publicUrl}/health/ready`, '')).toBe(200)

    service.child.kill('SIGTERM')
    const running = processesOf(service)
    expect((await service.end).code).toBe(0)
    expect(running.map((pid) => processStart(pid))).toEqual(running.map(() => null))
    await database.drop()
  })

  test('continue if their successors cannot start', async () => {
    const database = await freshDatabase()
    const service = await start({ DATABASE_URL: database.url }, ['serve'])
    const client = new pg.Client(database.url)
    await client.connect()
    await client.query(`insert into kysely_migration (name, timestamp) values ('99991231_2359_of_a_newer_release', '')`)
    const before = processesOf(service)
    service.child.kill('SIGUSR2')
    await until('the restart is given up', () => service.log().includes('Restart failed'))
    expect(processesOf(service)).toEqual(before)
    process.kill(before[0]!, 'SIGKILL')
    await until('starts fail', () => service.log().split('Failed to start a process; retrying').length > 3)
    expect(service.log()).toContain('The database is newer than this program')
    expect(await askAnew(`${service.publicUrl}/health/ready`, '')).toBe(200)
    await expect.poll(async () => Object.values(await metric(service, 'mintmark_process_up')).sort()).toEqual([0, 1, 1])
    await client.query(`delete from kysely_migration where name like '9999%'`)
    await client.end()
    await expect.poll(async () => Object.values(await metric(service, 'mintmark_process_up'))).toEqual([1, 1, 1])
    await stop(service)
    await database.drop()
  })
})

test('two processes over the embedded database share limits, accept a new key, and exit with their supervisor', async () => {
  const service = await start({})
  const url = `${service.publicUrl}/api/v1/items?per_page=1`
  const statuses: number[] = []
  for (let n = 0; n < STARTER_LIMIT * 2; n += 1) statuses.push(await askAnew(url, service.starter))
  const [passed, refused] = [200, 429].map((expected) => statuses.filter((status) => status === expected).length) as [number, number]
  const alone = async () => Object.values(await metric(service, 'mintmark_requests_counted_alone_total'))
  await until('both processes report their metrics', async () => (await alone()).length >= PROCESSES)
  // On a busy machine, a process may have counted some requests alone.
  const together = passed - (await alone()).reduce((sum, count) => sum + count, 0)
  expect([passed >= STARTER_LIMIT, together <= STARTER_LIMIT, passed + refused]).toEqual([true, true, STARTER_LIMIT * 2])

  const { key } = (await send<{ key: string }>(`${service.operatorUrl}/operator/v1/accounts/2/keys`, service.token, { json: {} })).body.data
  const answers = await Promise.all(Array.from({ length: 4 }, () => askAnew(url, key)))
  expect(answers).toEqual([200, 200, 200, 200])
  const running = processesOf(service)
  await kill(service.child, 'SIGKILL')
  await until('nothing runs', () => running.every((pid) => processStart(pid) === null))
})

test('a port in use stops the start of all processes with one line', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const database = await freshDatabase()
  const ended = await run(['api'], { API_PROCESSES: '2', DATABASE_URL: database.url, PORT: String(port), DATA_DIR: freshDataDir() })
  expect([ended.code, ended.said]).toEqual([1, [`mintmark: Port ${port} is in use; stop the other program or set PORT`]])
  other.close()
  await database.drop()
})
