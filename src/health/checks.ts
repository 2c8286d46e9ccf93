// Health checks of a service, whether it is running or not: disk, dump store, database, migrations, clock, worker, price sources and rates.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { sql } from 'kysely'
import { databaseTime } from '#db/connection/database-time.ts'
import { machineMs } from '#core/process/time-and-chance.ts'
import { EXPIRING_DAYS, expiringKeys } from '#accounts/keys/expiring-keys.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { Term } from '#core/problem-texts/terms.ts'
import { call } from '#core/verb.ts'
import { pendingMigrations } from '#db/migrate.ts'
import { replicaProblem, openReplica } from '#db/replica.ts'
import type { Db } from '#db/schema.ts'
import { openDumpStore } from '#dumps/open-store.ts'
import { missingDump } from '#dumps/published-dump.ts'
import { openFileStore } from '#files/file-store.ts'
import { ALIVE_SECONDS, workersSeen } from '#jobs/heartbeat.ts'
import { listSources, type PriceSource } from '#prices/reviews/list-sources.ts'
import { openUsualRatios } from '#prices/reviews/list-usual-ratios.ts'
import { failingReceivers } from '#webhooks/delivery/receiver-health.ts'
import type { Config } from '#config.ts'
import { type Finding, finding } from './findings.ts'
import { ratesFinding } from './rates.ts'

const MIN_FREE_BYTES = 1024 ** 3
const CLOCK_TOLERANCE_MS = 2_000
const MIN_POSTGRES_VERSION = 150_000
/** Accounts that a finding lists. */
const MAX_NAMED = 5

/** Checks that need no database. */
export async function machineFindings(config: Config): Promise<Finding[]> {
  return [finding('settings', true, 'settings_valid'), dataDir(config), disk(config), limits(config), await dumps(config)]
}

interface DatabaseInUse {
  db: Db
  /** description of the database */
  describe: Reason
  /** whether a worker should be running on it */
  needsWorker: boolean
  now: Date
}

/** Checks of an open database: the server, its clock, its workers and its prices. */
export async function databaseFindings(config: Config, { db, describe, needsWorker, now }: DatabaseInUse): Promise<Finding[]> {
  const schema = await migrations(db)
  const sources = schema.ok ? await priceSources(db, config, now) : { held: 0, findings: [] }
  const replicas = config.databaseReplicaUrl ? [await replica(config.databaseReplicaUrl, db)] : []
  const queues = schema.ok ? [...pricesHeld(sources), ...(await receiversAndKeys(db, now))] : []
  const workers = schema.ok && needsWorker ? [await worker(db)] : []
  const files = schema.ok ? await sharedFiles(db, config) : []
  return [await server(db, describe), ...replicas, schema, await clock(db), ...workers, ...files, ...sources.findings, ...queues]
}

function dataDir({ dataDir: path, databaseUrl }: Config): Finding {
  const check = 'data dir'
  if (databaseUrl) return finding(check, true, 'data_dir_not_needed')
  if (!existsSync(path)) return finding(check, true, 'data_dir_to_make', { path })
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return finding(check, true, 'data_dir_writable', { path })
  } catch {
    return finding(check, false, 'data_dir_not_writable', { path })
  }
}

function disk({ dataDir: path }: Config): Finding {
  const { bavail, bsize } = statfsSync(existsSync(path) ? path : '.')
  const free = bavail * bsize
  const enough = free >= MIN_FREE_BYTES
  return finding('disk', enough, enough ? 'disk_free' : 'disk_low', { gigabytes: Math.round((free / 1024 ** 3) * 10) / 10 })
}

function limits({ rateLimits, alone }: Config): Finding {
  const check = 'limits'
  if (!rateLimits) return finding(check, true, 'limits_off')
  return finding(check, true, alone ? 'limits_memory' : 'limits_database')
}

async function dumps(config: Config): Promise<Finding> {
  const check = 'dumps'
  const store = openDumpStore(config)
  const problem = await store.problem()
  if (!problem) return finding(check, true, 'dumps_kept', { place: store.place })
  return finding(check, false, problem.refused ? 'dumps_refused' : 'dumps_unreachable', { place: store.place, message: problem.why })
}

async function server(db: Db, describe: Reason): Promise<Finding> {
  const { rows } = await sql<{ version: string; number: number; durable: boolean }>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
           current_setting('fsync')::bool and current_setting('full_page_writes')::bool as durable`.execute(db.kysely)
  const { version, number, durable } = rows[0]!
  const rule = number < MIN_POSTGRES_VERSION ? 'database_old' : durable ? 'database_good' : 'database_not_durable'
  return finding('database', rule === 'database_good', rule, { database: describe, version })
}

/** Whether this machine has the files that the database records; reported only if one is missing. */
async function sharedFiles(db: Db, config: Config): Promise<Finding[]> {
  const store = openDumpStore(config)
  // A store that is unavailable is a finding of its own.
  if (await store.problem()) return []
  const missing = await missingDump(db.kysely, store)
  const findings = missing ? [finding('dumps', false, 'dump_missing', { place: store.place, at: missing.toISOString() })] : []
  const archive = openFileStore(config.archiveDir, config.dumpsS3, 'archive')
  const { rows } = await sql<{ file: string }>`
    select file from price_archives where file is not null union all select file from audit_archives where file is not null`.execute(db.kysely)
  const sizes = await Promise.all(rows.map(({ file }) => archive.size(file)))
  const lost = rows.map(({ file }) => file).filter((_, i) => sizes[i] === null)
  if (lost.length > 0) findings.push(finding('archive', false, 'archive_missing', { place: archive.place, count: lost.length, file: lost[0]! }))
  return findings
}

async function replica(url: string, primary: Db): Promise<Finding> {
  const check = 'replica'
  const db = openReplica(url)
  try {
    const doubt = await replicaProblem(db, primary)
    if (doubt !== null) return finding(check, false, 'replica_not_used', { message: doubt })
    const { rows } = await sql<{ seconds: number }>`
      select coalesce(extract(epoch from ${databaseTime} - pg_last_xact_replay_timestamp()), 0)::float8 as seconds`.execute(db.kysely)
    return finding(check, true, 'replica_good', { seconds: Math.round(rows[0]!.seconds) })
  } finally {
    await db.close()
  }
}

async function migrations(db: Db): Promise<Finding> {
  const pending = await pendingMigrations(db)
  if (pending.length === 0) return finding('migrations', true, 'migrations_done')
  return finding('migrations', false, 'migrations_pending', { count: pending.length })
}

/** Without a worker, webhooks are not delivered and publication periods do not end, while everything else works. */
async function worker(db: Db): Promise<Finding> {
  const { alive, lastSeenSeconds } = await workersSeen(db.kysely)
  const check = 'worker'
  if (alive > 0) return finding(check, true, 'worker_alive', { count: alive })
  if (lastSeenSeconds === null) return finding(check, false, 'worker_missing')
  const isReplaced = lastSeenSeconds <= ALIVE_SECONDS
  return finding(check, isReplaced, isReplaced ? 'worker_replaced' : 'worker_missing', { seconds: Math.round(lastSeenSeconds) })
}

/** Freshness, coverage and trust of each price source, informational because only the operator knows what to expect; open ratios; exchange rates. */
async function priceSources(db: Db, { marketNames, priceRules }: Config, now: Date): Promise<{ held: number; findings: Finding[] }> {
  const ctx = { db, viewer: { kind: 'operator', name: 'doctor' } as const, now: () => now, rules: priceRules, marketNames }
  const sources = (await call(listSources, ctx, {})).filter(({ groups }) => groups.length > 0)
  const findings = sources.map(stateOf)
  const open = await openUsualRatios(db.kysely)
  if (open > 0) findings.push(finding('usual ratios', true, 'ratios_open', { count: open }))
  const rates = await ratesFinding(db.kysely, sources, now)
  return { held: sources.reduce((sum, { held }) => sum + held, 0), findings: rates ? [...findings, rates] : findings }
}

/** What waits for a person; reported only if something does. */
function pricesHeld({ held }: { held: number }): Finding[] {
  return held > 0 ? [finding('held prices', true, 'prices_held', { count: held })] : []
}

/** Accounts that need help, although the service itself is healthy; reported only if there are some. */
async function receiversAndKeys({ kysely }: Db, now: Date): Promise<Finding[]> {
  const [failing, keys] = await Promise.all([failingReceivers(kysely), expiringKeys(kysely, now)])
  const holders = [...new Set(keys.map(({ accountId }) => accountId))]
  return [
    ...(failing.length > 0 ? [finding('webhooks', true, 'webhooks_failing', { count: failing.length, accounts: firstOf(failing) })] : []),
    ...(keys.length > 0 ? [finding('keys', true, 'keys_expiring', { days: EXPIRING_DAYS, count: keys.length, accounts: firstOf(holders) })] : []),
  ]
}

function firstOf(accountIds: readonly number[]): string[] {
  return [...accountIds.slice(0, MAX_NAMED).map(String), ...(accountIds.length > MAX_NAMED ? ['…'] : [])]
}

function stateOf(source: PriceSource): Finding {
  const { market, name, set_aside: aside, usual_interval_days: interval, age_days: age, late, prices, held, shares, groups } = source
  const percent = (share: number) => Math.round(share * 100)
  const { confirmed, trusted, disputed, stale } = shares
  return finding(market, true, late ? 'source_late' : 'source', {
    ...(name !== market && { name }),
    ...(aside && { aside: aside.by }),
    ...(age !== null && { age_days: age }),
    ...(age !== null && interval !== null && { interval_days: interval }),
    ...(prices > 0 && { confirmed: percent(confirmed), trusted: percent(trusted), disputed: percent(disputed), stale: percent(stale) }),
    held,
    ...(held > 0 && { held_market: market }),
    ...(groups.length > 0 && {
      covered: groups.map(({ group, prices: count, coverage }) =>
        reason('prices_covered', { group: group as Term, prices: count, percent: percent(coverage) }),
      ),
    }),
  })
}

async function clock(db: Db): Promise<Finding> {
  const before = machineMs()
  const { rows } = await sql<{ now: number }>`select (extract(epoch from ${databaseTime}) * 1000)::float8 as now`.execute(db.kysely)
  const off = Math.round(rows[0]!.now - (before + machineMs()) / 2)
  const good = Math.abs(off) <= CLOCK_TOLERANCE_MS
  return finding('clock', good, good ? 'clock_good' : 'clock_off', { milliseconds: Math.abs(off) })
}
