// `node reliability/database.ts [--frozen 60]`: restarts, disconnects, freezes and silences the database under load, and measures every response.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createPostgres, type Postgres } from './postgres.ts'
import { atMost, broken, conclude, count, figure, type Finding, percentile, progress } from './report.ts'
import { ask, pause, startService, until, workDir } from './service.ts'
import { openNetworkProxy, viaProxy } from './network-proxy.ts'
import { prepareWrites } from './writes.ts'

export interface DatabaseOptions {
  /** how long the database is frozen, and how long the network is silent */
  frozenSeconds: number
}

interface Fault {
  name: string
  begin: () => void | Promise<void>
  lastsMs: number
  end: () => void | Promise<void>
  /** whether /health/ready must respond with 503, which takes 3 s */
  noticed: boolean
}

const READY_AFTER_MS = 5_000
const READ_PAUSE_MS = 20
/** Pause without faults, so that each response belongs to one fault. */
const BETWEEN_MS = 500

/** Injects each fault in turn, over a proxy that can drop packets silently. */
export async function databaseRun({ frozenSeconds }: DatabaseOptions): Promise<Finding[]> {
  const dir = workDir()
  const postgres = await createPostgres(join(dir.path, 'postgres'))
  await postgres.start()
  const proxy = await openNetworkProxy({ host: '127.0.0.1', port: postgres.port })
  const findings: Finding[] = [figure('database', postgres.describe)]
  const frozenMs = frozenSeconds * 1_000
  const faults: Fault[] = [
    { name: 'immediate restart', begin: () => restart(postgres), lastsMs: 0, end: () => {}, noticed: false },
    { name: 'all connections terminated', begin: () => terminate(postgres), lastsMs: 0, end: () => {}, noticed: false },
    { name: `stopped for ${frozenSeconds} s`, begin: postgres.freeze, lastsMs: frozenMs, end: postgres.thaw, noticed: true },
    { name: `network silent for ${frozenSeconds} s`, begin: () => proxy.drop('all'), lastsMs: frozenMs, end: proxy.restore, noticed: true },
    { name: 'open connections silent', begin: () => proxy.drop('open'), lastsMs: Math.min(frozenMs, 10_000), end: proxy.restore, noticed: false },
  ]
  const service = await startService({ DATABASE_URL: viaProxy(postgres.url, proxy), PORT: '0', OPERATOR_PORT: '0' })
  try {
    const writes = await prepareWrites({ publicUrl: () => service.publicUrl, operatorUrl: () => service.operatorUrl })
    const reads: { at: number; ms: number; status: number }[] = []
    let reading = true
    const reader = (async () => {
      while (reading) {
        const at = performance.now()
        const { status, ms } = await ask(`${service.publicUrl}/api/v1/items/${writes.itemId}`, writes.key)
        reads.push({ at, ms, status })
        await pause(READ_PAUSE_MS)
      }
    })()
    writes.start()
    await pause(BETWEEN_MS)
    for (const fault of faults) {
      const from = performance.now()
      await fault.begin()
      let noticed = false
      while (performance.now() - from < fault.lastsMs) {
        await pause(100)
        noticed ||= (await ask(`${service.publicUrl}/health/ready`, null)).status === 503
      }
      await fault.end()
      const ended = performance.now()
      const recoveryMs = await until('writes are accepted again', () => haveWritesRecovered(writes.answers, ended))
      await until('the node is ready', async () => (await ask(`${service.publicUrl}/health/ready`, null)).status === 200)
      const answers = writes.answers.filter(({ at, ms }) => at + ms >= from)
      const refused = answers.filter(({ status }) => status === 503)
      const during = reads.filter(({ at }) => at >= from)
      const name = (what: string) => `${fault.name}: ${what}`
      findings.push(
        count(name(`failed reads from memory of ${during.length}`), during.filter(({ status }) => status !== 200).length, 0),
        figure(name('slowest read'), `${Math.round(Math.max(...during.map(({ ms }) => ms)))} ms`),
        figure(
          name('writes'),
          `${answers.filter(({ status }) => status < 300).length} accepted, ${refused.length} × 503 (p50 ${Math.round(
            percentile(
              refused.map(({ ms }) => ms),
              0.5,
            ) || 0,
          )} ms)`,
        ),
        atMost(name('slowest 503'), Math.max(0, ...refused.map(({ ms }) => ms)) / 1_000, 3, ' s'),
        count(
          name('responses other than success and 503 with envelope and Retry-After'),
          answers.filter(({ status, wellFormed }) => status === 0 || (status >= 300 && status !== 503) || !wellFormed).length,
          0,
        ),
        atMost(name('time to recover'), recoveryMs / 1_000, READY_AFTER_MS / 1_000, ' s'),
        ...(fault.noticed && fault.lastsMs > 5_000 ? [count(name('readiness responded with 503'), noticed ? 1 : 0, 1)] : []),
      )
      progress(
        `${fault.name}: recovered after ${Math.round(recoveryMs)} ms${broken(findings)
          .map(({ what }) => `; BROKEN ${what}`)
          .join('')}`,
      )
      await pause(BETWEEN_MS)
    }
    await writes.stop()
    reading = false
    await reader
    findings.push(...(await writes.verify()), count('unexpected exits of the process', service.ended() === null ? 0 : 1, 0))
    return findings
  } finally {
    postgres.thaw()
    proxy.restore()
    if (service.ended() === null) await service.kill('SIGINT')
    await proxy.close()
    await postgres.stop('immediate')
    dir.remove()
  }
}

/** Whether ten writes sent after that time succeeded. */
function haveWritesRecovered(answers: readonly { at: number; status: number }[], ended: number): boolean {
  return answers.filter(({ at, status }) => at > ended && status > 0 && status < 300).length >= 10
}

async function restart(postgres: Postgres): Promise<void> {
  await postgres.stop('immediate')
  await postgres.start()
}

async function terminate(postgres: Postgres): Promise<void> {
  await postgres.query(
    "select pg_terminate_backend(pid)::text from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  )
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { frozen: { type: 'string', default: '60' } } })
  conclude('faults of the database', await databaseRun({ frozenSeconds: Number(values.frozen) }))
}
