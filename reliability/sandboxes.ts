// `npx node reliability/sandboxes.ts [--count 100]`: creates many sandboxes on one service and measures their creation, start, advance, memory and size.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { atMost, conclude, count, figure, percentile, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, type Service, startService, until, workDir } from './service.ts'

const PER_ACCOUNT = 3
const DAYS = 30
/** Sandboxes that are advanced. */
const ADVANCED = 10

interface Sandbox {
  id: number
  key: string
  status: string
  now: string
}

const { values } = parseArgs({ options: { count: { type: 'string', default: '100' } } })
const total = Number(values.count)
const dir = workDir()
const service = await startService({
  DATA_DIR: join(dir.path, 'data'),
  PORT: '0',
  OPERATOR_PORT: '0',
  SANDBOXES: String(total),
  MINTMARK_DEMO: '0',
  RATE_LIMITS: 'off',
})
try {
  const operator = <T>(path: string, json: object) => ask<T>(`${service.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json })
  const live: string[] = []
  for (let n = 0; n * PER_ACCOUNT < total; n++) {
    const { body } = await operator<{ id: number }>('/accounts', { name: `Integrator ${n}`, plan: 'plus' })
    live.push((await operator<{ key: string }>(`/accounts/${body.data.id}/keys`, {})).body.data.key)
  }
  const before = memoryMb(service)
  const created: number[] = []
  const sandboxes: (Sandbox & { live: string })[] = []
  let refused = 0
  for (let n = 0; n < total; n++) {
    const key = live[Math.floor(n / PER_ACCOUNT)]!
    const started = performance.now()
    const { status, body } = await ask<Sandbox>(`${service.publicUrl}/api/v1/sandbox`, key, { json: { at: '2027-01-01T00:00:00Z', seed: n } })
    created.push(performance.now() - started)
    if (status === 201) sandboxes.push({ ...body.data, live: key })
    else refused += 1
    if (n % 20 === 19) progress(`${n + 1} sandboxes, ${memoryMb(service)} MB resident`)
  }
  const afterCreation = memoryMb(service)
  const [first, again]: [number[], number[]] = [[], []]
  for (const { key } of sandboxes) {
    for (const times of [first, again]) {
      const started = performance.now()
      const { status } = await ask(`${service.publicUrl}/api/v1/plus/my-listings`, key)
      if (status !== 200) refused += 1
      times.push(performance.now() - started)
    }
  }
  const afterUse = memoryMb(service)
  const advanced: number[] = []
  for (const { key } of sandboxes.slice(0, ADVANCED)) {
    await ask(`${service.publicUrl}/api/v1/plus/my-listings`, key)
    const started = performance.now()
    await ask(`${service.publicUrl}/api/v1/sandbox/advance`, key, { json: { by: `P${DAYS}D` } })
    await until(
      'the sandbox is ready',
      async () => (await ask<Sandbox[]>(`${service.publicUrl}/api/v1/sandbox`, key)).body.data[0]!.status === 'ready',
    )
    advanced.push(performance.now() - started)
  }
  const removed: number[] = []
  for (const { id, live: key } of sandboxes) {
    const started = performance.now()
    await ask(`${service.publicUrl}/api/v1/sandbox/${id}`, key, { method: 'DELETE' })
    removed.push(performance.now() - started)
  }
  const left = (await ask(`${service.operatorUrl}/operator/v1/sandboxes`, OPERATOR_TOKEN)).body.pagination!.total
  const spread = (times: number[]) => `p50 ${Math.round(percentile(times, 0.5))} ms, slowest ${Math.round(Math.max(...times))} ms`
  conclude(`${total} sandboxes`, [
    count('refused or failed requests', refused, 0),
    figure('creation, the first one with the template', `${Math.round(created[0]!)} ms`),
    figure('creation of the others', spread(created.slice(1))),
    figure('first request, which opens the sandbox', spread(first)),
    figure('second request', spread(again)),
    atMost(`advance of ${DAYS} days, median`, Math.round(percentile(advanced, 0.5)), 2_000, ' ms'),
    figure(`advance of ${DAYS} days`, spread(advanced)),
    figure('memory before, after all creations, after use of all', `${before}, ${afterCreation}, ${afterUse} MB resident`),
    figure('deletion', spread(removed)),
    count('sandboxes left', left, 0),
  ])
} finally {
  await service.kill('SIGTERM')
  dir.remove()
}

/** Of the process of the service, without its database. */
function memoryMb({ child }: Service): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kilobytes) / 1024)
}
