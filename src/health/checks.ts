// What is checked of a running service or before its start: disk, the store of dumps, database, migrations, clock, worker, price sources and rates.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { sql } from 'kysely'
import { call } from '#core/verb.ts'
import { pendingMigrations } from '#db/migrate.ts'
import { doubtAbout, openReplica } from '#db/replica.ts'
import type { Db } from '#db/schema.ts'
import { openDumpStore } from '#dumps/open-store.ts'
import { ALIVE_SECONDS, workersSeen } from '#jobs/heartbeat.ts'
import { listSources, type PriceSource } from '#prices/list-sources.ts'
import { Rates } from '#prices/rates.ts'
import type { Config } from '#config.ts'
import { type Static, Type } from '#core/input.ts'

export const FindingSchema = Type.Object(
  {
    check: Type.String({ description: 'Name of the check; for a price source its market', examples: ['database'] }),
    ok: Type.Boolean({ description: 'false if there is a problem' }),
    found: Type.String(),
    advice: Type.Optional(Type.String({ description: 'How to fix it' })),
  },
  { title: 'Finding' },
)
export type Finding = Static<typeof FindingSchema>

const LEAST_FREE_BYTES = 1024 ** 3
const CLOCK_TOLERANCE_MS = 2_000
const LEAST_POSTGRES = 150_000

/** What can be checked without the database. */
export async function machineFindings(config: Config): Promise<Finding[]> {
  return [{ check: 'settings', ok: true, found: 'all valid' }, dataDir(config), disk(config), limits(config), await dumps(config)]
}

interface DatabaseInUse {
  db: Db
  /** what the database is, in words */
  describe: string
  /** whether a worker should be at work on it */
  needsWorker: boolean
}

/** What can be checked of a database that is open: itself, its clock, who works on it, and the prices in it. */
export async function databaseFindings(config: Config, { db, describe, needsWorker }: DatabaseInUse): Promise<Finding[]> {
  const schema = await migrations(db)
  const sources = schema.ok ? await priceSources(db, config) : []
  const replicas = config.databaseReplicaUrl ? [await replica(config.databaseReplicaUrl, db)] : []
  const workers = schema.ok && needsWorker ? [await worker(db)] : []
  return [await server(db, describe), ...replicas, schema, await clock(db), ...workers, ...sources]
}

function dataDir({ dataDir: path, databaseUrl }: Config): Finding {
  const check = 'data dir'
  if (databaseUrl) return { check, ok: true, found: 'not needed: DATABASE_URL is set' }
  if (!existsSync(path)) return { check, ok: true, found: `${path} will be created on first start` }
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return { check, ok: true, found: path }
  } catch {
    return { check, ok: false, found: `${path} cannot be written`, advice: 'change its owner, or set DATA_DIR' }
  }
}

function disk({ dataDir: path }: Config): Finding {
  const { bavail, bsize } = statfsSync(existsSync(path) ? path : '.')
  const free = bavail * bsize
  const found = `${(free / 1024 ** 3).toFixed(1)} GB free`
  if (free >= LEAST_FREE_BYTES) return { check: 'disk', ok: true, found }
  return { check: 'disk', ok: false, found, advice: 'free disk space; the database stops writing when the disk is full' }
}

function limits({ rateLimits, redisUrl, alone }: Config): Finding {
  const check = 'limits'
  if (!rateLimits) return { check, ok: true, found: 'off (RATE_LIMITS)' }
  if (redisUrl) return { check, ok: true, found: 'shared by all nodes in Redis' }
  if (alone) return { check, ok: true, found: 'in memory (the embedded database serves one node)' }
  return { check, ok: true, found: 'shared by all nodes in PostgreSQL' }
}

async function dumps(config: Config): Promise<Finding> {
  const check = 'dumps'
  const store = openDumpStore(config)
  const problem = await store.problem()
  if (!problem) return { check, ok: true, found: `stored in ${store.place}` }
  const advice = problem.refused
    ? 'check DUMPS_S3_URL, its keys and DUMPS_S3_REGION'
    : 'check that the store is running and reachable from this machine'
  return { check, ok: false, found: `${store.place} cannot be used: ${problem.message}`, advice }
}

async function server(db: Db, describe: string): Promise<Finding> {
  const { rows } = await sql<{ version: string; number: number; durable: boolean }>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
           current_setting('fsync')::bool and current_setting('full_page_writes')::bool as durable`.execute(db.kysely)
  const { version, number, durable } = rows[0]!
  const found = `${describe}, version ${version}`
  if (number < LEAST_POSTGRES) return { check: 'database', ok: false, found, advice: 'PostgreSQL 15 or newer is needed' }
  if (!durable) return { check: 'database', ok: false, found: `${found}, not durable`, advice: 'set fsync and full_page_writes to on' }
  return { check: 'database', ok: true, found }
}

async function replica(url: string, primary: Db): Promise<Finding> {
  const check = 'replica'
  const db = openReplica(url)
  try {
    const doubt = await doubtAbout(db, primary)
    if (doubt !== null) return { check, ok: false, found: doubt, advice: 'fix DATABASE_REPLICA_URL; large reads currently load the primary' }
    const { rows } = await sql<{ seconds: number }>`
      select coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float8 as seconds`.execute(db.kysely)
    return { check, ok: true, found: `standby of the database, last change ${Math.round(rows[0]!.seconds)} s ago` }
  } finally {
    await db.close()
  }
}

async function migrations(db: Db): Promise<Finding> {
  const pending = await pendingMigrations(db)
  if (pending.length === 0) return { check: 'migrations', ok: true, found: 'up to date' }
  return { check: 'migrations', ok: false, found: `${pending.length} pending`, advice: 'run mintmark migrate' }
}

/** Without one, webhooks wait and publication periods do not end, while everything else works. */
async function worker(db: Db): Promise<Finding> {
  const { alive, lastSeenSeconds } = await workersSeen(db.kysely)
  const check = 'worker'
  if (alive > 0) return { check, ok: true, found: `${alive} alive` }
  const found = lastSeenSeconds === null ? 'none has ever run' : `none running; last seen ${Math.round(lastSeenSeconds)} s ago`
  // A worker that is being replaced is not a problem.
  if (lastSeenSeconds !== null && lastSeenSeconds <= ALIVE_SECONDS) return { check, ok: true, found }
  return {
    check,
    ok: false,
    found,
    advice: 'start mintmark work (or serve); without a worker, webhooks are not delivered and publication periods do not end',
  }
}

/** How fresh, complete and far trusted each source of prices is; for information, since only the operator knows what to expect. */
async function priceSources(db: Db, { marketNames, priceRules }: Config): Promise<Finding[]> {
  const now = new Date()
  const ctx = { db, viewer: { kind: 'operator', name: 'doctor' } as const, now: () => now, rules: priceRules, marketNames }
  const sources = (await call(listSources, ctx, {})).filter(({ groups }) => groups.length > 0)
  const findings = sources.map((source) => ({ check: source.market, ok: true, ...stateOf(source) }))
  const currencies = [...new Set(sources.filter(({ prices }) => prices > 0).map(({ currency }) => currency))]
  if (currencies.length === 0) return findings
  const unchecked = sources.reduce((sum, source) => sum + source.unchecked, 0)
  return [...findings, rates(await Rates.load(db.kysely), currencies, now, unchecked)]
}

function stateOf(source: PriceSource): Pick<Finding, 'found' | 'advice'> {
  const { market, name, set_aside: aside, usual_interval_days: interval, age_days: age, late, prices, held, shares, groups } = source
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const usual = interval === null ? '' : `, usually one every ${interval === 1 ? 'day' : `${interval} days`}`
  const feed =
    age === null
      ? 'no feed imported yet'
      : `latest feed ${age === 0 ? 'from today' : age === 1 ? '1 day old' : `${age} days old`}${usual}${late ? ', late' : ''}`
  const states = (['confirmed', 'trusted', 'disputed', 'stale'] as const).map((state) => `${percent(shares[state])} ${state}`)
  const covered = groups.map(({ group, prices: count, coverage }) => `${group}: ${count} prices, ${percent(coverage)} of the items`)
  const said = [aside ? `set aside by ${aside.by}` : '', feed, prices === 0 ? '' : states.join(', '), `${held} held`, ...covered]
  return {
    found: `${name === market ? '' : `${name}, `}${said.filter(Boolean).join('; ')}`,
    ...(held > 0 && { advice: `review them: mintmark held list --market ${market}` }),
  }
}

/** @param unchecked prices that could not be compared with others for want of a rate of their day */
function rates(known: Rates, currencies: string[], now: Date, unchecked: number): Finding {
  const check = 'rates'
  const missing = currencies.filter((currency) => known.microLira(currency, now.getTime()) === null)
  const notChecked = unchecked === 0 ? '' : `; ${unchecked} prices could not be checked: no exchange rate for their day`
  if (missing.length === 0) {
    const advice = unchecked === 0 ? {} : { advice: 'load the rates of those days: mintmark rates set --date ...' }
    return { check, ok: true, found: `known for ${currencies.join(', ')}${notChecked}`, ...advice }
  }
  const found = `none for ${missing.join(', ')}: sort_by=price lists items with such prices last, and prices are not compared across currencies${notChecked}`
  return { check, ok: true, found, advice: `load rates: mintmark rates set ${missing.map((currency) => `${currency}=...`).join(' ')}` }
}

async function clock(db: Db): Promise<Finding> {
  const before = Date.now()
  const { rows } = await sql<{ now: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db.kysely)
  const off = Math.round(rows[0]!.now - (before + Date.now()) / 2)
  const found = `${Math.abs(off)} ms from the database's`
  if (Math.abs(off) <= CLOCK_TOLERANCE_MS) return { check: 'clock', ok: true, found }
  return { check: 'clock', ok: false, found, advice: 'synchronise the clocks (NTP)' }
}
