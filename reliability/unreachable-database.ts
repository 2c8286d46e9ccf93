// `node reliability/unreachable-database.ts [--rounds 50] [--silent 20]`: repeatedly makes the database unreachable without any error, and measures recovery.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { canUseNamespaces, openNodeHost } from './node-hosts.ts'
import { createPostgres } from './postgres.ts'
import { atMost, conclude, count, type Finding, percentile, progress, spread } from './report.ts'
import { pause, type Settings, startService, until, workDir } from './service.ts'
import { openNetworkProxy, viaProxy } from './network-proxy.ts'
import { prepareWrites } from './writes.ts'

export interface SilencesOptions {
  /** total number of rounds, spread over the kinds of silence */
  rounds: number
  /** duration of each silence */
  silentSeconds: number
}

/** A running database and its kind of silence. */
interface Scene {
  settings: Settings
  command?: string[]
  begin: () => void
  end: () => void | Promise<void>
  /** connections accepted so far; null if none arrive during the silence */
  accepted: (() => number) | null
  close: () => Promise<void>
}

interface Kind {
  name: string
  open: (dir: string) => Promise<Scene>
}

interface Round {
  /** milliseconds until writes were accepted again; null if they were not */
  recoveryMs: number | null
  connectionsPerSecond: number | null
}

const MAX_RECOVERY_MS = 5_000
const GIVE_UP_MS = 30_000
const BETWEEN_MS = 500
const WRITES_AFTER = 10

const KINDS: Kind[] = [
  { name: 'silent network, then resets', open: (dir) => silentNetwork(dir, 'reset') },
  { name: 'silent network, lost connections stay silent', open: (dir) => silentNetwork(dir, 'forget') },
  { name: 'dead database server, replaced', open: (dir) => replaced(dir) },
  ...(canUseNamespaces() ? [{ name: 'packets dropped between network namespaces', open: dropped }] : []),
]

/** Runs all kinds of silence concurrently, each with a service and a database of its own. */
export async function silencesRun({ rounds, silentSeconds }: SilencesOptions): Promise<Finding[]> {
  const dir = workDir()
  try {
    const runs = await Promise.all(
      KINDS.map(async ({ name, open }, i) => {
        const share = Math.floor((rounds + i) / KINDS.length)
        return { name, done: await runRounds(name, await open(join(dir.path, String(i))), share, silentSeconds * 1_000) }
      }),
    )
    const all = runs.flatMap(({ done }) => done)
    const rates = all.flatMap(({ connectionsPerSecond }) => connectionsPerSecond ?? [])
    return [
      ...runs.map(({ name, done }) =>
        spread(
          `${name}: time until writes succeed`,
          done.map(({ recoveryMs }) => recoveryMs ?? GIVE_UP_MS),
        ),
      ),
      count(
        `rounds of ${all.length} in which writes succeeded within ${MAX_RECOVERY_MS / 1_000} s`,
        all.filter(({ recoveryMs }) => recoveryMs !== null && recoveryMs <= MAX_RECOVERY_MS).length,
        all.length,
      ),
      atMost('connection attempts per second during silence, median', percentile(rates, 0.5), 1),
      atMost('connection attempts per second during silence, peak', Math.max(...rates), 1),
    ]
  } finally {
    dir.remove()
  }
}

async function runRounds(name: string, scene: Scene, rounds: number, silentMs: number): Promise<Round[]> {
  const done: Round[] = []
  const service = await startService({ PORT: '0', OPERATOR_PORT: '0', ...scene.settings }, { command: scene.command })
  try {
    const writes = await prepareWrites({ publicUrl: () => service.publicUrl, operatorUrl: () => service.operatorUrl }, { pauseMs: 50 })
    writes.start()
    for (let round = 1; round <= rounds; round++) {
      await pause(BETWEEN_MS)
      scene.begin()
      const before = scene.accepted?.() ?? 0
      await pause(silentMs)
      const connectionsPerSecond = scene.accepted ? (scene.accepted() - before) / (silentMs / 1_000) : null
      await scene.end()
      const ended = performance.now()
      const accepted = () => writes.answers.filter(({ at, status }) => at > ended && status > 0 && status < 300).length >= WRITES_AFTER
      const recoveryMs = await until('writes are accepted', accepted, GIVE_UP_MS).catch(() => null)
      done.push({ recoveryMs, connectionsPerSecond })
      progress(
        `${name}, round ${round}: ${recoveryMs === null ? 'NO WRITES' : `writes after ${Math.round(recoveryMs)} ms`}, ${connectionsPerSecond ?? '-'} connections per second`,
      )
    }
    await writes.stop()
    return done
  } finally {
    if (service.ended() === null) await service.kill('SIGINT')
    await scene.close()
  }
}

async function silentNetwork(dir: string, lost: 'reset' | 'forget'): Promise<Scene> {
  const postgres = await createPostgres(dir)
  await postgres.start()
  const proxy = await openNetworkProxy({ host: '127.0.0.1', port: postgres.port })
  const close = async () => {
    await proxy.close()
    await postgres.stop('immediate')
  }
  return {
    settings: { DATABASE_URL: viaProxy(postgres.url, proxy) },
    begin: () => proxy.drop('all'),
    end: () => proxy.restore(lost),
    accepted: proxy.accepted,
    close,
  }
}

/** Nothing responds at the address until a new server starts; old connections are never notified. */
async function replaced(dir: string): Promise<Scene> {
  const postgres = await createPostgres(dir)
  await postgres.start()
  const proxy = await openNetworkProxy({ host: '127.0.0.1', port: postgres.port })
  const end = async () => {
    await postgres.stop('immediate')
    await postgres.start()
    proxy.restore('forget')
  }
  const close = async () => {
    await proxy.close()
    await postgres.stop('immediate')
  }
  return { settings: { DATABASE_URL: viaProxy(postgres.url, proxy) }, begin: () => proxy.drop('all'), end, accepted: proxy.accepted, close }
}

async function dropped(dir: string): Promise<Scene> {
  const postgres = await createPostgres(dir, { host: '0.0.0.0' })
  await postgres.start()
  const nodeHost = await openNodeHost(postgres.port)
  const { host: address, databaseHost, command, partition, heal } = nodeHost
  const close = async () => {
    await nodeHost.remove()
    await postgres.stop('immediate')
  }
  const settings = {
    DATABASE_URL: `postgresql://mintmark:x@${databaseHost}:${postgres.port}/mintmark?sslmode=disable`,
    HOST: address,
    OPERATOR_HOST: address,
  }
  return { settings, command, begin: partition, end: heal, accepted: null, close }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '50' }, silent: { type: 'string', default: '20' } } })
  conclude('silences of the database', await silencesRun({ rounds: Number(values.rounds), silentSeconds: Number(values.silent) }))
}
