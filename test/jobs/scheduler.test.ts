// The scheduler: every periodic task of a node with its last run in /metrics, no overlap, failures logged once and retried.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Log } from '#core/context.ts'
import { Notices } from '#jobs/notices.ts'
import { Scheduler } from '#jobs/scheduler.ts'
import { OPERATOR_TOKEN, silent, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
const logged: [level: string, message: string, task: unknown][] = []
const note = (level: string) => (details: object, message: string) => void logged.push([level, message, (details as { task?: string }).task])
const log = { ...silent, warn: note('warn'), info: note('info') } as Log

beforeAll(async () => {
  node = await startTestNode({ log, worker: true, env: { COPY_PICTURES: 'on' } })
})

afterAll(() => node.close())

/** The value of a metric for each task that has one. */
async function byTask(name: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
  return new Map(
    [...text.matchAll(new RegExp(`^mintmark_task_${name}\\{task="([^"]+)"\\} (\\S+)$`, 'gm'))].map(([, task, value]) => [task!, Number(value)]),
  )
}

const LAST_RUN = 'last_run_timestamp_seconds'
const LAST_FAILURE = 'last_failure_timestamp_seconds'

const TASKS = [
  'api-key-uses',
  'approval-rules',
  'audit-archive',
  'audit-retention',
  'broken-imports',
  'change-feed',
  'change-log-trimming',
  'collection-worth',
  'console-session-uses',
  'day-counts',
  'dumps',
  'erasures',
  'event-feed',
  'goal-watches',
  'idempotency-key-expiry',
  'key-usage-retention',
  'listing-expiry',
  'listing-import-retention',
  'listing-view-retention',
  'listing-views',
  'notice-retention',
  'notification-retention',
  'notifications',
  'offer-expiry',
  'offer-retention',
  'operator-token-uses',
  'photo-retention',
  'picture-copies',
  'picture-copy-retention',
  'price-archive',
  'price-evidence',
  'price-job-retention',
  'price-months',
  'price-retention',
  'price-reviews',
  'price-statement-retention',
  'rates-of-the-day',
  'repricing',
  'sandbox-removal',
  'search-term-retention',
  'search-terms',
  'seller-session-uses',
  'watches',
  'webhook-retention',
  'webhooks-due',
  'worker-heartbeat',
]

test('/metrics has the last run and duration of every periodic task', async () => {
  await until('every task has run', async () => (await byTask(LAST_RUN)).size >= TASKS.length)
  const runs = await byTask(LAST_RUN)
  expect([...runs.keys()].sort()).toEqual(TASKS)
  for (const at of runs.values()) expect(Math.abs(at - Date.now() / 1_000)).toBeLessThan(600)
  expect([...(await byTask('last_run_duration_seconds')).keys()].sort()).toEqual([...runs.keys()].sort())
  await until('the change feed has run again', async () => (await byTask(LAST_RUN)).get('change-feed')! > runs.get('change-feed')!)
})

test('a failing task is logged once, retried, and logged once more when it succeeds; other tasks continue', async () => {
  await sql`alter table webhook_events rename lease_until to lease_away`.execute(node.db.kysely)
  await until('it has failed', async () => (await byTask(LAST_FAILURE)).has('webhooks-due'))
  const first = (await byTask(LAST_FAILURE)).get('webhooks-due')!
  await until('it has failed again', async () => (await byTask(LAST_FAILURE)).get('webhooks-due')! > first)
  const feed = (await byTask(LAST_RUN)).get('change-feed')!
  await until('the change feed runs on', async () => (await byTask(LAST_RUN)).get('change-feed')! > feed)
  await sql`alter table webhook_events rename lease_away to lease_until`.execute(node.db.kysely)
  await until('it succeeds', async () => (await byTask(LAST_RUN)).get('webhooks-due')! > (await byTask(LAST_FAILURE)).get('webhooks-due')!)
  expect(logged.filter(([, , task]) => task === 'webhooks-due')).toEqual([
    ['warn', 'Task failed; retrying', 'webhooks-due'],
    ['info', 'Task succeeded again', 'webhooks-due'],
  ])
})

test('a task never runs twice concurrently, and stopping waits for the current run', async () => {
  const scheduler = new Scheduler(silent)
  let [running, most, runs] = [0, 0, 0]
  const run = async () => {
    most = Math.max(most, (running += 1))
    await sql`select pg_sleep(0.02)`.execute(node.db.kysely)
    running -= 1
    runs += 1
  }
  scheduler.add({ name: 'slow', intervalMs: 1, run })
  await until('it has run three times', () => runs >= 3)
  await until('it is running', () => running === 1)
  await scheduler.stop()
  expect([running, most]).toEqual([0, 1])
})

test('of the tasks in a queue one runs at a time, and a failing one does not hold up the next', async () => {
  const scheduler = new Scheduler(silent)
  const events: string[] = []
  const task = (name: string, queue?: string) => ({
    name,
    intervalMs: 60_000,
    run: async () => {
      events.push(`${name} begins`)
      await sql`select pg_sleep(0.02)`.execute(node.db.kysely)
      events.push(`${name} ends`)
      if (name === 'first') throw new Error('as intended')
    },
    ...(queue !== undefined && { queue }),
  })
  scheduler.add(task('first', 'one'))
  scheduler.add(task('second', 'one'))
  scheduler.add(task('other'))
  await until('all have run', () => scheduler.tasks().every(({ lastRunMs }) => lastRunMs !== null))
  expect(events.indexOf('other begins')).toBeLessThan(events.indexOf('first ends'))
  expect(events.filter((event) => !event.startsWith('other'))).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
  await scheduler.stop()
})

test('a task that several callers run at once runs once for each, one after another', async () => {
  const scheduler = new Scheduler(silent)
  let [running, most, runs] = [0, 0, 0]
  scheduler.add({
    name: 'counted',
    intervalMs: 60_000,
    run: async () => {
      runs += 1
      most = Math.max(most, (running += 1))
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
    },
  })
  await Promise.all([1, 2, 3].map(() => scheduler.runNow('counted')))
  expect([runs, most]).toEqual([4, 1])
  await expect(scheduler.runNow('unknown')).rejects.toThrow('unknown')
  await scheduler.stop()
})

test('a node uses one LISTEN connection for all channels, and reconnects after losing it', async () => {
  const listening = async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where datname = current_database() and query like 'listen %' order by 1`.execute(node.db.kysely)
    return rows.map(({ pid }) => pid)
  }
  await until('it listens', async () => (await listening()).length > 0)
  const [pid, ...others] = await listening()
  expect(others).toEqual([])
  await sql`select pg_terminate_backend(${pid})`.execute(node.db.kysely)
  // For a moment, the ending task is still listed.
  await until('it listens again, on one connection', async () => {
    const pids = await listening()
    return pids.length === 1 && pids[0] !== pid
  })
  const channels = new Set<string>()
  const notices = new Notices(node.db)
  for (const channel of ['first', 'second']) notices.follow(channel, () => void channels.add(channel))
  await until('both channels are heard', async () => {
    await sql`select pg_notify('first', ''), pg_notify('second', '')`.execute(node.db.kysely)
    return channels.size === 2
  })
  notices.close()
})
