// One Redis master, two replicas and three Sentinels as processes of this machine, from the files of deploy/ha.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { listens, program, stop } from './front.ts'
import { freePorts, until } from './service.ts'

export interface RedisServer {
  port: number
  signal: (signal: NodeJS.Signals) => void
  /** Starts it anew after it was killed. */
  start: () => void
}

export interface RedisCluster {
  /** as REDIS_URL takes it */
  url: string
  /** the master that most Sentinels name, null while they do not agree */
  master: () => Promise<RedisServer | null>
  /** changes of the master that the Sentinels have agreed on, by their own count */
  epoch: () => Promise<number>
  /** Sends a command to a server; null: no answer. */
  ask: (server: RedisServer, ...command: string[]) => Promise<unknown>
  /** Waits until all Sentinels name one master, which both replicas follow. */
  whole: () => Promise<void>
  close: () => Promise<void>
}

const FILES = new URL('../deploy/ha/', import.meta.url)
const NAME = 'mintmark'
const PASSWORD = 'change-me-redis'
const SENTINEL_PASSWORD = 'change-me-sentinel'
const WHOLE_MS = 240_000

export async function startSentinels(dir: string): Promise<RedisCluster> {
  const ports = await freePorts(6)
  const [servers, sentinels] = [ports.slice(0, 3), ports.slice(3)]
  const processes = new Map<number, ChildProcess>()
  const start = async (file: string, port: number, { replica = false } = {}) => {
    const home = join(dir, String(port))
    mkdirSync(home, { recursive: true })
    const text = readFileSync(new URL(file, FILES), 'utf8')
      .replace('bind 10.0.0.41 127.0.0.1', 'bind 127.0.0.1')
      .replace(/^port \d+$/m, `port ${port}`)
      .replace(/^dir .*$/m, `dir ${home}`)
      .replaceAll('10.0.0.41 6379', `127.0.0.1 ${servers[0]}`)
      .replace(/^#replicaof/m, replica ? 'replicaof' : '#replicaof')
    const path = join(home, file)
    writeFileSync(path, `${text}logfile ${join(home, 'log')}\n`)
    const run = () => void processes.set(port, program('redis-server', [path, ...(file === 'sentinel.conf' ? ['--sentinel'] : [])]))
    run()
    await until(`${file} on port ${port} listens`, () => listens(port), 60_000)
    return { port, signal: (signal: NodeJS.Signals) => void processes.get(port)!.kill(signal), start: run }
  }
  const nodes: RedisServer[] = []
  for (const port of servers) nodes.push(await start('redis.conf', port, { replica: port !== servers[0] }))
  for (const port of sentinels) await start('sentinel.conf', port)

  const ask = ({ port }: RedisServer, ...command: string[]) => askRedis(port, PASSWORD, command)
  const sentinel = (...command: string[]) => Promise.all(sentinels.map((port) => askRedis(port, SENTINEL_PASSWORD, ['sentinel', ...command])))
  const named = async () => {
    const answers = await sentinel('get-master-addr-by-name', NAME)
    return answers.map((answer) => Number((answer as [string, string] | null)?.[1]))
  }
  const master = async () => {
    const names = await named()
    return nodes.find(({ port }) => names.filter((name) => name === port).length >= 2) ?? null
  }
  const epoch = async () => Math.max(...(await sentinel('master', NAME)).map((answer) => Number(fields(answer)['config-epoch'] ?? 0)))
  const isWhole = async () => {
    const names = await named()
    const node = nodes.find(({ port }) => names.every((name) => name === port))
    if (!node) return false
    const replication = String(await ask(node, 'info', 'replication'))
    const following = replication.match(/^slave\d:.*state=online.*lag=[01]\r?$/gm)?.length
    const views = (await sentinel('master', NAME)).map(fields)
    const agreed = views.every((view) => view.flags === 'master' && view['num-other-sentinels'] === '2' && Number(view['num-slaves']) >= 2)
    return replication.includes('role:master') && following === 2 && agreed
  }
  const whole = async () => void (await until('the Redis cluster is whole', isWhole, WHOLE_MS))
  const close = async () => void (await Promise.all([...processes.values()].map(stop)))
  await whole()
  const hosts = sentinels.map((port) => `127.0.0.1:${port}`).join(',')
  return { url: `redis+sentinel://:${PASSWORD}@${hosts}/${NAME}?sentinel_password=${SENTINEL_PASSWORD}`, master, epoch, ask, whole, close }
}

async function askRedis(port: number, password: string, [name, ...args]: string[]): Promise<unknown> {
  const redis = new Redis({ port, host: '127.0.0.1', password, retryStrategy: () => null, enableReadyCheck: false, commandTimeout: 2_000 })
  redis.on('error', () => {})
  try {
    return await redis.call(name!, args)
  } catch {
    return null
  } finally {
    redis.disconnect()
  }
}

/** A reply of alternating names and values. */
function fields(answer: unknown): Record<string, string> {
  const list = (answer ?? []) as string[]
  return Object.fromEntries(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1]!]] : [])))
}
