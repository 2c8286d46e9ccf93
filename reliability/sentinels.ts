// One Redis master, two replicas and three Sentinels as processes of this machine, from the files of deploy/ha.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { spawnProgram } from './front.ts'
import { freePorts, until } from './service.ts'

export interface RedisServer {
  port: number
  signal: (signal: NodeJS.Signals) => void
  /** Starts it again after it was killed. */
  start: () => void
}

export interface RedisCluster {
  /** as REDIS_URL takes it */
  url: string
  /** the master that most Sentinels name, null while they do not agree */
  master: () => Promise<RedisServer | null>
  /** the Sentinels' number of the current configuration; it rises with each failover */
  epoch: () => Promise<number>
  /** Sends a command to a server; null: no reply. */
  ask: (server: RedisServer, ...command: string[]) => Promise<unknown>
  /** Waits until all Sentinels name the same master and both replicas follow it; returns this master. */
  complete: () => Promise<RedisServer>
  close: () => Promise<void>
}

/** Paths of a self-signed certificate that names 127.0.0.1, and of its key. */
export interface CertificateFiles {
  certificate: string
  key: string
}

const FILES = new URL('../deploy/ha/', import.meta.url)
const NAME = 'mintmark'
const PASSWORD = 'change-me-redis'
const SENTINEL_PASSWORD = 'change-me-sentinel'
const LONG_MS = 240_000
const TRIES = 5

/** redis-server has exited at its start, probably because another program has taken the port. */
class EndedAtStart extends Error {}

/** @param tls null: without TLS */
export async function startSentinels(dir: string, tls: CertificateFiles | null = null): Promise<RedisCluster> {
  for (let tries = 1; ; tries += 1) {
    const processes = new Map<number, ChildProcess>()
    try {
      return await startOn(await freePorts(6), join(dir, String(tries)), processes, tls)
    } catch (error) {
      await end(processes)
      if (!(error instanceof EndedAtStart) || tries === TRIES) throw error
    }
  }
}

async function startOn(ports: number[], dir: string, processes: Map<number, ChildProcess>, tls: CertificateFiles | null): Promise<RedisCluster> {
  const [servers, sentinels] = [ports.slice(0, 3), ports.slice(3)]
  const askRedis = commandSender(tls)
  const start = async (file: 'redis.conf' | 'sentinel.conf', port: number, { replica = false } = {}) => {
    const home = join(dir, String(port))
    mkdirSync(home, { recursive: true })
    const text = readFileSync(new URL(file, FILES), 'utf8')
      .replace(/^(bind|.*announce-ip) .*$/gm, '$1 127.0.0.1')
      .replace(/^port \d+$/m, `port ${port}`)
      .replace(/^dir .*$/m, `dir ${home}`)
      .replaceAll('10.0.0.41 6379', `127.0.0.1 ${servers[0]}`)
      .replace(/^#replicaof/m, replica ? 'replicaof' : '#replicaof')
    const path = join(home, file)
    writeFileSync(path, tls ? withTls(text, tls) : text)
    const run = () => void processes.set(port, spawnProgram('redis-server', [path, ...(file === 'sentinel.conf' ? ['--sentinel'] : [])]))
    const password = file === 'sentinel.conf' ? SENTINEL_PASSWORD : PASSWORD
    const answers = async () => {
      if (processes.get(port)!.exitCode !== null) throw new EndedAtStart(`redis-server ${file} exited at its start on port ${port}`)
      return (await askRedis(port, password, ['ping'])) === 'PONG'
    }
    run()
    await until(`${file} on port ${port} answers`, answers, LONG_MS)
    return { port, signal: (signal: NodeJS.Signals) => void processes.get(port)!.kill(signal), start: run }
  }
  const nodes: RedisServer[] = []
  for (const port of servers) nodes.push(await start('redis.conf', port, { replica: port !== servers[0] }))
  for (const port of sentinels) await start('sentinel.conf', port)

  const ask = ({ port }: RedisServer, ...command: string[]) => askRedis(port, PASSWORD, command)
  const sentinel = (...command: string[]) => Promise.all(sentinels.map((port) => askRedis(port, SENTINEL_PASSWORD, ['sentinel', ...command])))
  const mastersNamed = async () => {
    const answers = await sentinel('get-master-addr-by-name', NAME)
    return answers.map((answer) => Number((answer as [string, string] | null)?.[1]))
  }
  const master = async () => {
    const names = await mastersNamed()
    return nodes.find(({ port }) => names.filter((name) => name === port).length >= 2) ?? null
  }
  const epoch = async () => Math.max(...(await sentinel('master', NAME)).map((answer) => Number(fields(answer)['config-epoch'] ?? 0)))
  /** The master, once both replicas follow it and the Sentinels know each other and all servers. */
  const completeMaster = async () => {
    const names = await mastersNamed()
    const node = nodes.find(({ port }) => names.every((name) => name === port))
    if (!node) return null
    const replication = String(await ask(node, 'info', 'replication'))
    const following = replication.match(/^slave\d:.*state=online.*lag=[01]\r?$/gm)?.length
    const views = (await sentinel('master', NAME)).map(fields)
    const agreed = views.every((view) => view.flags === 'master' && view['num-other-sentinels'] === '2' && view['num-slaves'] === '2')
    return replication.includes('role:master') && following === 2 && agreed ? node : null
  }
  const complete = async () => {
    let node: RedisServer | null = null
    await until('the Redis cluster is complete', async () => (node = await completeMaster()) !== null, LONG_MS)
    return node!
  }
  await complete()
  const hosts = sentinels.map((port) => `127.0.0.1:${port}`).join(',')
  return {
    url: `${tls ? 'rediss' : 'redis'}+sentinel://:${PASSWORD}@${hosts}/${NAME}?sentinel_password=${SENTINEL_PASSWORD}`,
    master,
    epoch,
    ask,
    complete,
    close: () => end(processes),
  }
}

/** Kills all processes, because a server that is asked to stop waits for its replicas. */
async function end(processes: ReadonlyMap<number, ChildProcess>): Promise<void> {
  const ended = [...processes.values()].map(async (child) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await Promise.all(ended)
}

/** Makes the changes that the comments in the files describe. */
function withTls(text: string, { certificate, key }: CertificateFiles): string {
  const port = /^port (\d+)$/m.exec(text)![1]!
  return text
    .replace(/^port \d+$/m, 'port 0')
    .replace(/^#(?=tls-)/gm, '')
    .replace(/^tls-port .*$/m, `tls-port ${port}`)
    .replace(/^(tls-(?:ca-)?cert-file) .*$/gm, `$1 ${certificate}`)
    .replace(/^(tls-key-file) .*$/m, `$1 ${key}`)
}

/** Sends one command on a connection of its own; null: no reply. */
function commandSender(tls: CertificateFiles | null) {
  const secure = tls ? { tls: { ca: readFileSync(tls.certificate) } } : {}
  return async (port: number, password: string, [name, ...args]: string[]): Promise<unknown> => {
    const options = { port, host: '127.0.0.1', password, retryStrategy: () => null, enableReadyCheck: false, commandTimeout: 2_000, ...secure }
    const redis = new Redis(options)
    redis.on('error', () => {})
    try {
      return await redis.call(name!, args)
    } catch {
      return null
    } finally {
      redis.disconnect()
    }
  }
}

/** A reply of alternating names and values. */
function fields(answer: unknown): Record<string, string> {
  const list = (answer ?? []) as string[]
  return Object.fromEntries(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1]!]] : [])))
}
