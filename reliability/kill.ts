// `node reliability/kill.ts [--kills 50]`: kills the process, its database or both with -9 under write load, and counts losses.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { atMost, broken, conclude, count, figure, type Finding, progress, spread } from './report.ts'
import { ask, freePorts, pause, type Service, startService, until, workDir } from './service.ts'
import { prepareWrites } from './writes.ts'

export interface KillOptions {
  kills: number
  /** maximum time under load before a kill */
  maxLifeMs?: number
}

const KINDS = ['process', 'database', 'both'] as const

/** Kills the process, the database or both in turn; after each kill, reads back every acknowledged write over the API. */
export async function killRun({ kills, maxLifeMs = 1_500 }: KillOptions): Promise<Finding[]> {
  const dir = workDir()
  const dataDir = join(dir.path, 'data')
  const [port, operatorPort] = (await freePorts(2)) as [number, number]
  const settings = { DATA_DIR: dataDir, PORT: String(port), OPERATOR_PORT: String(operatorPort) }
  const start = () => startService(settings)
  let service: Service = await start()
  const target = { publicUrl: () => `http://127.0.0.1:${port}`, operatorUrl: () => `http://127.0.0.1:${operatorPort}` }
  const starts: number[] = []
  const recoveries: number[] = []
  let exits = 0
  let lost = 0
  let last: Finding[] = []
  try {
    const writes = await prepareWrites(target)
    for (let i = 0; i < kills; i++) {
      const kind = KINDS[i % KINDS.length]!
      writes.start()
      await pause(200 + Math.random() * maxLifeMs)
      const database = databasePid(dataDir)
      const killedAt = performance.now()
      if (kind !== 'process') process.kill(database, 'SIGKILL')
      if (kind === 'database') {
        // Backends of the killed server may still respond for a moment.
        await until('the database has restarted', () => databasePid(dataDir) !== database)
        const startedAt = performance.now()
        await until('writes are accepted again', () => writes.answers.some(({ at, status }) => at > startedAt && status > 0 && status < 300))
        recoveries.push(performance.now() - killedAt)
        if (service.ended() !== null) exits += 1
      } else {
        await service.kill('SIGKILL')
        service = await start()
        starts.push(service.startMs)
      }
      await writes.stop()
      await until('the service is ready', async () => (await ask(`${target.publicUrl()}/health/ready`, null)).status === 200)
      last = await writes.verify()
      lost += broken(last).length
      progress(
        `${i + 1} of ${kills}, ${kind}: ${writes.acknowledged()} writes acknowledged${broken(last)
          .map(({ what }) => `, ${what}`)
          .join('')}`,
      )
    }
    const badErrors = writes.answers.filter(({ status, wellFormed }) => status >= 500 && (status !== 503 || !wellFormed)).length
    const requests = `${writes.answers.length} (${writes.answers.filter(({ status }) => status === 503).length} × 503, ${writes.answers.filter(({ status }) => status === 0).length} without a response)`
    return [
      figure('kills with -9', kills),
      ...last,
      count('broken promises in the checks after each kill', lost, 0),
      count('exits of the process when only its database was killed', exits, 0),
      count('errors other than 503 with envelope and Retry-After', badErrors, 0),
      figure('writes sent', requests),
      spread('start time after a kill', starts),
      ...(recoveries.length > 0
        ? [
            spread('time until writes succeed after the database was killed', recoveries),
            atMost('slowest of these recoveries', Math.max(...recoveries) / 1000, 5, ' s'),
          ]
        : []),
    ]
  } finally {
    if (service.ended() === null) await service.kill('SIGINT')
    dir.remove()
  }
}

/** Process id of the embedded server of a DATA_DIR. */
function databasePid(dataDir: string): number {
  return (JSON.parse(readFileSync(join(dataDir, 'postgres-connection.json'), 'utf8')) as { server: { pid: number } }).server.pid
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { kills: { type: 'string', default: '50' } } })
  conclude('kill -9 under write load', await killRun({ kills: Number(values.kills) }))
}
