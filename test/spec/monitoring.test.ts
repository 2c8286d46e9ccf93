// The alert rules and the dashboard in deploy/: a scrape of a node that has served requests contains every metric and label that they use.
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'

interface Dashboard {
  panels: { id: number; title: string; gridPos: { x: number; y: number; w: number; h: number }; targets?: { expr: string }[] }[]
}

const ALERTS = readFileSync('deploy/prometheus/alerts.yml', 'utf8')
const OBJECTIVES = readFileSync('deploy/prometheus/objectives.yml', 'utf8')
const DASHBOARD = JSON.parse(readFileSync('deploy/grafana/mintmark.json', 'utf8')) as Dashboard
const CONFIGURATION = readFileSync('deploy/prometheus/prometheus.yml', 'utf8')

/** PromQL of the alert rules: after `expr:`, on the same line or on the more indented lines below it. */
const rulesOf = (text: string) => [...text.matchAll(/^ {8}expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)/gm)].map(([, block, line]) => block ?? line!)
const rules = rulesOf(ALERTS)
const queries = [...rules, ...rulesOf(OBJECTIVES), ...DASHBOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))]

let node: TestNode
/** Names of the metrics in the scrape, and the labels of each. */
const scraped = new Map<string, Set<string>>()

beforeAll(async () => {
  node = await startTestNode({ env: { IMAGE_PROXY: 'on', METRICS_PORT: '0' }, worker: true })
  await send(`${node.publicUrl}/api/v1/items`, node.keys.starter)
  await send(`${node.publicUrl}/api/v1/items`, 'not a key')
  await until('the worker and its tasks have run', async () => {
    await scrape()
    return ['mintmark_worker_last_seen_seconds', 'mintmark_task_last_run_timestamp_seconds'].every((name) => (scraped.get(name)?.size ?? -1) >= 0)
  })
})

afterAll(() => node.close())

async function scrape(): Promise<void> {
  const text = await (await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
  for (const [, declared] of text.matchAll(/^# TYPE (\w+)/gm)) if (!scraped.has(declared!)) scraped.set(declared!, new Set())
  for (const [, name, labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const labelNames = scraped.get(name!) ?? new Set<string>()
    for (const [, label] of labels.matchAll(/(\w+)="/g)) labelNames.add(label!)
    scraped.set(name!, labelNames)
  }
}

test('METRICS_PORT opens a listener with the metrics of this process, for operator tokens only', async () => {
  const read = (path: string, token: string | null, method = 'GET') =>
    fetch(`${node.metricsUrl}${path}`, { method, headers: token === null ? {} : { authorization: `Bearer ${token}` } })
  const metrics = await read('/metrics', OPERATOR_TOKEN)
  expect([metrics.status, metrics.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const text = await metrics.text()
  expect(text).toMatch(/^mintmark_items \d+$/m)
  expect(text).not.toContain('mintmark_workers_alive')
  for (const token of [null, 'not a token', node.keys.enterprise]) expect((await read('/metrics', token)).status).toBe(401)
  expect((await read('/operator/v1/accounts', OPERATOR_TOKEN)).status).toBe(404)
  expect((await read('/metrics', OPERATOR_TOKEN, 'POST')).status).toBe(405)
})

test('the rules and the dashboard contain queries', () => {
  expect(rules.length).toBe([...ALERTS.matchAll(/- alert:/g)].length)
  expect(rules.length).toBeGreaterThan(8)
  expect(queries.length).toBeGreaterThan(30)
})

test('every metric in the alert rules and on the dashboard is exported', () => {
  const named = new Set(queries.flatMap((query) => query.match(/\bmintmark_\w+/g) ?? []))
  expect([...named].filter((name) => !scraped.has(name))).toEqual([])
})

test('every metric in the guide is exported', () => {
  const guide = readFileSync('docs/operating.md', 'utf8')
  // Databases of sandboxes are named `mintmark_sandbox_…`.
  const named = new Set(guide.match(/\bmintmark_\w+(?!\w|…)/g))
  // Only several processes report these: see test/program/processes.slow.test.ts.
  const ofProcesses = /^mintmark_process_(up|ends_total)$/
  expect([...named].filter((name) => !scraped.has(name) && !scraped.has(`${name}_count`) && !ofProcesses.test(name))).toEqual([])
})

test('labels in the queries belong to their metrics', () => {
  // Metrics without a sample on a fresh node have no labels in its scrape.
  const wrong = queries.flatMap((query) =>
    [...query.matchAll(/\b(mintmark_\w+)\{([^}]*)\}/g)].flatMap(([, name, selector]) => {
      const labels = scraped.get(name!)!
      return labels.size === 0
        ? []
        : [...selector!.matchAll(/(\w+)(?:=~|!~|!=|=)/g)].flatMap(([, label]) => (labels.has(label!) ? [] : [`${name} ${label}`]))
    }),
  )
  expect(wrong).toEqual([])
})

test('every alert has a severity, a summary and an action', () => {
  const alerts = [ALERTS, OBJECTIVES].flatMap((text) => text.split('- alert: ').slice(1))
  expect(alerts.filter((alert) => !/severity: (critical|warning|info)/.test(alert) || !/summary: '/.test(alert) || !/action: '/.test(alert))).toEqual(
    [],
  )
})

test('every objective has alerts on three rates, recorded failures for their periods, and a runbook', () => {
  const objectives = new Set(Array.from(OBJECTIVES.matchAll(/objective: (\w+) \}/g), ([, name]) => name!))
  expect(objectives.size).toBe(4)
  for (const name of objectives) {
    const used = Array.from(OBJECTIVES.matchAll(new RegExp(`(mintmark:failures:\\w+)\\{objective="${name}"\\} > `, 'g')), ([, metric]) => metric)
    const recorded = Array.from(OBJECTIVES.matchAll(new RegExp(`record: (\\S+)\n +labels: \\{ objective: ${name} \\}`, 'g')), ([, metric]) => metric)
    expect(used).toHaveLength(6)
    expect(new Set(used)).toEqual(new Set(recorded))
    expect(existsSync(`docs/runbooks/${name}.md`)).toBe(true)
  }
})

test('dashboard panels have unique ids and do not overlap', () => {
  const ids = DASHBOARD.panels.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const cells = DASHBOARD.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
})

test('Prometheus loads the rules and scrapes the metrics address', async () => {
  expect(CONFIGURATION).toContain('- alerts.yml\n  - objectives.yml')
  const path = /metrics_path: (\S+)/.exec(CONFIGURATION)![1]!
  expect((await send(`${node.operatorUrl}${path}`, null)).status).toBe(401)
})
