// `node reliability/rolling-upgrade.ts [--seconds 60]`: upgrades from the previous release to this one, node by node, under load.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openReceiver, startTraffic } from './proxy-and-clients.ts'
import { createPostgres } from './postgres.ts'
import { PREVIOUS_RELEASE, unpackPreviousRelease } from './previous-release.ts'
import { conclude, count, figure, type Finding, progress } from './report.ts'
import { ask, freePorts, OPERATOR_TOKEN, pause, runCommand, type Service, startService, until, workDir } from './service.ts'
import { prepareWrites } from './writes.ts'

export interface RollingUpgradeOptions {
  /** how long both releases serve side by side on the new schema */
  seconds: number
}

/** The three processes of a node, one per role. */
interface Node {
  api: Service
  operator: Service
  worker: Service
}

const ALONE_MS = 1_500
const DONE_MS = 60_000
const FAILED = /"level":(50|60)/

/** Runs the old release alone, migrates the schema, runs both releases side by side, then the new release alone. */
export async function rollingUpgradeRun({ seconds }: RollingUpgradeOptions): Promise<Finding[]> {
  const dir = workDir()
  const previous = unpackPreviousRelease(join(dir.path, 'previous'))
  const postgres = await createPostgres(join(dir.path, 'postgres'))
  await postgres.start()
  const receiver = await openReceiver(0)
  const settings = { DATABASE_URL: postgres.url, DATA_DIR: join(dir.path, 'data'), WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }
  const started: Service[] = []
  const startNode = async (main?: string): Promise<Node> => {
    const [port, operatorPort] = (await freePorts(2)) as [number, number]
    const start = async (role: string) => {
      const service = await startService({ ...settings, PORT: String(port), OPERATOR_PORT: String(operatorPort) }, { role, ...(main && { main }) })
      started.push(service)
      return service
    }
    const api = await start('api')
    const [operator, worker] = await Promise.all([start('operator'), start('work')])
    return { api, operator, worker }
  }
  const services = ({ api, operator, worker }: Node) => [api, operator, worker]
  const errors = (node: Node) =>
    services(node)
      .flatMap((service) => service.log())
      .filter((line) => FAILED.test(line))
  try {
    const old = await startNode(previous)
    const serving = [old]
    const apis = [old.api.publicUrl]
    let turn = 0
    const next = () => serving[turn++ % serving.length]!
    const target = { publicUrl: () => next().api.publicUrl, operatorUrl: () => next().operator.operatorUrl }
    const writes = await prepareWrites(target)
    const { status } = await ask(`${target.publicUrl()}/api/v1/plus/webhook`, writes.key, {
      method: 'PUT',
      json: { url: `http://127.0.0.1:${receiver.port}/`, on_sale: true },
    })
    if (status !== 200) throw new Error(`webhook: ${status}`)

    const reads = [
      `/items/${writes.itemId}`,
      '/items?sort_by=price',
      '/items/search?q=card',
      '/plus/listings?search=card&with_item=1',
      '/plus/my-listings',
      '/plus/recent-sales',
      '/plus/collections',
      '/plus/webhook/logs',
    ]
    writes.start()
    const traffic = startTraffic(apis, (n) => ({ method: 'GET', path: `/api/v1${reads[Math.floor(n / 4) % reads.length]}`, key: writes.key }), 4)
    const imports = startImports(target)
    await pause(ALONE_MS)
    progress(`old release (${PREVIOUS_RELEASE}) is serving`)

    const migrated = await runCommand(settings, 'migrate')
    if (migrated.code !== 0) throw new Error(`migrate: ${migrated.output}`)
    const now = await startNode()
    serving.push(now)
    apis.push(now.api.publicUrl)
    await pause(seconds * 1_000)
    progress('both releases have served the new schema')
    await writes.stop()
    await imports.stop()
    const findings: Finding[] = []
    for (const node of [old, now]) {
      serving.splice(0, serving.length, node)
      const name = node === old ? 'the old release' : 'the new release'
      findings.push(...(await writes.verify()).map((finding) => ({ ...finding, what: `read from ${name}: ${finding.what}` })))
    }

    writes.start()
    apis.splice(0, apis.length, now.api.publicUrl)
    await pause(ALONE_MS)
    const oldErrors = errors(old)
    for (const service of services(old)) await service.kill('SIGTERM')
    await pause(ALONE_MS)
    await writes.stop()
    await traffic.stop()
    progress('only the new release is serving')
    const { orders } = writes.mark()
    await until('all notifications arrived', () => receiver.deliveries.size >= orders, DONE_MS).catch(() => {})
    const refused = writes.answers.filter(({ status: answered }) => answered < 200 || answered >= 300)
    const kinds = (failures: readonly (string | number)[]) =>
      [...new Set(failures)].map((kind) => `${failures.filter((each) => each === kind).length} × ${kind}`).join(', ')
    if (refused.length > 0) findings.push(figure('statuses of failed writes', kinds(refused.map((each) => each.status))))
    if (traffic.failures.length > 0) findings.push(figure('failed reads', kinds(traffic.failures)))
    const failedImports = imports.outcomes.filter((outcome) => outcome !== 'done')
    if (failedImports.length > 0) findings.push(figure('failed imports', kinds(failedImports)))
    for (const line of [...oldErrors, ...errors(now)].slice(0, 5)) findings.push(figure('log line', line))
    return [
      figure('output of migrate under load', migrated.output.replaceAll('\n', '; ')),
      count(`failed reads of ${traffic.sent}`, traffic.failures.length, 0),
      count(`failed writes of ${writes.answers.length}`, refused.length, 0),
      count(`failed imports of ${imports.outcomes.length}`, failedImports.length, 0),
      count(`sales without a notification, of ${orders}`, Math.max(0, orders - receiver.deliveries.size), 0),
      count('errors logged by the old release', oldErrors.length, 0),
      count('errors logged by the new release', errors(now).length, 0),
      ...findings,
      ...(await writes.verify()).map((finding) => ({ ...finding, what: `at the end: ${finding.what}` })),
    ]
  } finally {
    for (const service of started) if (service.ended() === null) await service.kill('SIGKILL')
    await receiver.close()
    await postgres.stop('immediate')
    dir.remove()
  }
}

/** Uploads files one after the other, each with one more item, and waits for each import to end. */
function startImports({ operatorUrl }: { operatorUrl: () => string }): { outcomes: string[]; stop: () => Promise<void> } {
  const outcomes: string[] = []
  const category = {
    type: 'category',
    market: 'source_c',
    ref: 'imported',
    name: 'Imported',
    slug: 'imported',
    game: 'pokemon',
    parent: null,
    image: null,
  }
  const item = (n: number) => ({
    type: 'item',
    market: 'source_c',
    ref: `imported-${n}`,
    name: `Imported card ${n}`,
    code: `${n}/102`,
    slug: `imported-card-${n}`,
    genre: 'single',
    game: 'pokemon',
    category: 'imported',
    images: [],
    attributes: [],
    groups: ['ungraded'],
    details: {},
    foreign_ids: [],
    prices: [{ market: 'source_c', label: 'Near Mint', price: '10.50', updated_at: '2026-01-01T00:00:00Z' }],
  })
  const one = async (n: number): Promise<string> => {
    const body = [category, ...Array.from({ length: n }, (_, at) => item(at + 1))].map((line) => JSON.stringify(line)).join('\n')
    const operator = operatorUrl()
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/octet-stream' }
    const response = await fetch(`${operator}/operator/v1/imports/mintmark-ndjson?file_name=cards.ndjson`, { method: 'POST', headers, body })
    if (response.status !== 202) return `${response.status} ${await response.text()}`
    const { data } = (await response.json()) as { data: { id: number } }
    let end = ''
    await until(
      'the import ends',
      async () => {
        const { body: reply } = await ask<{ status: string; message: string | null; rejected: number }>(
          `${operator}/operator/v1/imports/${data.id}`,
          OPERATOR_TOKEN,
        )
        const { status, message } = reply.data
        if (status !== 'queued' && status !== 'running') end = status === 'done' ? 'done' : `${status}: ${message}`
        return end !== ''
      },
      DONE_MS,
    )
    return end
  }
  let running = true
  const loop = (async () => {
    for (let n = 1; running; n++) {
      outcomes.push(await one(n).catch((error: unknown) => String(error)))
      await pause(200)
    }
  })()
  return {
    outcomes,
    async stop() {
      running = false
      await loop
    },
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } })
  conclude('rolling upgrade', await rollingUpgradeRun({ seconds: Number(values.seconds) }))
}
