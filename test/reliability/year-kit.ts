// A node whose clock is moved through a year, from one due time to the next, and a calendar of what is done and checked in it.
import { sql } from 'kysely'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { monthsOfAudit } from '#audit/archive/archive-audit.ts'
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import { localTime } from '#core/time.ts'
import { call } from '#core/verb.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { archiveOldMonths } from '#files/month-archive.ts'
import { type DueWork, runDueWork } from '#jobs/due-work.ts'
import { liveConfig } from '#live-settings/live-config.ts'
import type { NodeCtx } from '#node/context.ts'
import { contentOf } from '#market/listing-content.ts'
import { dueWork } from '#node/due-work.ts'
import { createParts, type NodeParts } from '#node/parts.ts'
import { monthsOfPrices } from '#prices/archive/archive-months.ts'
import { copyGeneratedData } from '../../bench/generated-data.ts'
import { published } from '../market/kit.ts'
import { OPERATOR_TOKEN, PATIENT, type Reply, send, silent, startTestNode, type TestNode } from '../support/node.ts'
import { nodeDatabase, type TestDatabase } from '../support/postgres.ts'

export { DAY_MS, HOUR_MS }
export const MINUTE_MS = 60_000

/** A seller of its own, so that promises do not disturb each other. */
export interface Seller {
  id: number
  key: string
  keyId: number
  /** an item that only this seller uses */
  item: number
}

export interface Year {
  node: TestNode
  parts: NodeParts
  start: Date
  zone: string
  now: () => Date
  /** Does something at a time, under the name of a promise; what it throws is an error of that promise. */
  at: (at: Date, run: () => Promise<unknown>) => void
  seller: (credits?: number) => Promise<Seller>
  plus: <T = unknown>(seller: Seller, method: string, path: string, json?: unknown, headers?: Record<string, string>) => Promise<Reply<T>>
  operator: <T = unknown>(method: string, path: string, json?: unknown) => Promise<Reply<T>>
  /** a published listing of the seller */
  listed: (seller: Seller, fields?: object) => Promise<{ id: number; expires_at: string | null }>
  /** what ran, with the times at which it did */
  ran: Map<string, number[]>
}

export interface TimePromise {
  /** as in the table in docs/reliability.md */
  name: string
  plan: (year: Year) => Promise<unknown>
}

export const after = (at: Date, ms: number) => new Date(at.getTime() + ms)

/** The time of an item's own, such as `2027-03-28T09:00` in a zone. */
export const local = (text: string, zone: string) => new Date(Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds)

/** Opens a node and the parts that do its background work, both with one clock that stands at `start`. */
export async function openYear(start: Date, zone: string, items: number, env: Record<string, string> = {}) {
  const node = await startTestNode({ env: { TIME_ZONE: zone, ...env }, database: () => databaseWith(items) })
  node.clock.stop(start.getTime())
  const db = openPool<Schema>({ url: node.databaseUrl, max: 6, applicationName: 'mintmark year', ...PATIENT })
  const now = node.clock.now
  const config = liveConfig(node.config)
  const parts = createParts({ config, db, log: silent, now, random: () => 0, ports: () => [], publicUrl: () => null })
  const { feed, catalogue, listings, market } = parts
  await feed.open()
  await Promise.all([catalogue.load(), listings.load()])
  await feed.pull()
  const bare = { db, now, requestId: null, idempotency: null, precondition: null, market, rules: config.priceRules, config }
  const ctx: NodeCtx = { ...bare, caughtUp: () => feed.pull(), viewer: { kind: 'operator', name: 'worker' } }
  const close = async () => {
    await feed.close()
    await parts.dumps.close()
    await parts.keys.close().catch(() => {})
    await db.close()
    await node.close()
  }
  return { node, parts, ctx, now, close }
}

async function databaseWith(items: number): Promise<TestDatabase> {
  const database = await nodeDatabase()
  const db = openPool<Schema>({ url: database.url, max: 2, applicationName: 'mintmark year' })
  if (items > 0) await copyGeneratedData(db, items)
  await db.close()
  return database
}

/** Runs a period with these promises. @returns the errors of each promise */
export async function runYear(
  { node, parts, ctx, now }: Awaited<ReturnType<typeof openYear>>,
  promises: readonly TimePromise[],
  { days, zone, more = [] }: { days: number; zone: string; more?: DueWork[] },
): Promise<{ errors: Map<string, unknown[]>; ran: Map<string, number[]> }> {
  const start = now()
  const calendar: { atMs: number; name: string; run: () => Promise<unknown> }[] = []
  const errors = new Map(promises.map(({ name }) => [name, [] as unknown[]]))
  const ran = new Map<string, number[]>()
  let items = 0
  const year: Omit<Year, 'at'> = {
    node,
    parts,
    start,
    zone,
    now,
    ran,
    seller: async (credits = 0) => {
      const { id } = await call(createAccount, node.ctx, { name: `Seller ${items}`, plan: 'plus', highlight_credits: credits })
      const { key, id: keyId } = await call(createKey, node.ctx, { account_id: id })
      return { id, key, keyId, item: (items += 1) }
    },
    plus: (seller, method, path, json, headers) =>
      send(`${node.publicUrl}/api/v1/plus${path}`, seller.key, { method, ...(json !== undefined && { json }), ...(headers && { headers }) }),
    operator: (method, path, json) => send(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, ...(json !== undefined && { json }) }),
    listed: (seller, fields = {}) => published(node, seller.item, { seller_id: seller.id, ...fields }),
  }
  for (const { name, plan } of promises) {
    const at: Year['at'] = (when, run) => {
      calendar.push({ atMs: when.getTime(), name, run })
      calendar.sort((a, b) => a.atMs - b.atMs)
    }
    await plan({ ...year, at }).catch((error: unknown) => errors.get(name)!.push(error))
  }
  const script: DueWork = {
    name: 'calendar',
    next: () => (calendar[0] ? new Date(calendar[0].atMs) : null),
    run: async () => {
      await node.ctx.caughtUp()
      node.catalogue.followClock()
      while (calendar[0] && calendar[0].atMs <= now().getTime()) {
        const { name, run } = calendar.shift()!
        await run().catch((error: unknown) => errors.get(name)!.push(new Error(`at ${localTime(now(), zone)}`, { cause: error })))
      }
    },
  }
  const clock = { now, moveTo: (to: Date) => node.clock.advance(to.getTime() - now().getTime()) }
  // Judging 20,000 prices takes most of the time of a night, and nothing that is checked depends on it: once a month is enough.
  const nightly = dueWork(parts, ctx).map((one) => (one.name === 'price-evidence' ? { ...one, next: monthly(zone) } : one))
  const work = [...nightly, ...more, script]
  await runDueWork({
    work,
    clock,
    to: after(start, days * DAY_MS),
    ran: (name, at) => void ran.set(name, [...(ran.get(name) ?? []), at.getTime()]),
  })
  return { errors, ran }
}

/** The first midnight of the month after a time. */
function monthly(zone: string): (last: Date) => Date {
  return (last) => {
    const month = Temporal.PlainYearMonth.from(localTime(last, zone).slice(0, 7)).add({ months: 1 })
    return new Date(month.toPlainDate({ day: 1 }).toZonedDateTime(zone).epochMilliseconds)
  }
}

/** The archives, which a worker checks every hour, at the beginning of each month. */
export function archives({ parts, now }: Pick<Year, 'parts' | 'now'>, zone: string): DueWork {
  const { archive, auditArchive, config, db } = parts
  return {
    name: 'archives',
    next: monthly(zone),
    run: async () => {
      const archiving = { db, now: now(), signal: new AbortController().signal }
      await archiveOldMonths(monthsOfPrices(archive.files), archiving, config.priceArchiveMonths)
      await archiveOldMonths(monthsOfAudit(auditArchive), archiving, config.auditArchiveMonths)
    },
  }
}

/** Listings of a seller for as many items, whose periods end over a month. @returns their ids */
export async function manyListings({ node, now }: Year, seller: Seller, count: number): Promise<number[]> {
  const at = now()
  const { rows } = await sql<{ id: number }>`
    insert into listings (seller_id, item_id, grade_id, label_id, title, price, quantity, status, approved_price, approved, approved_at,
      published_at, expires_at, created_at, updated_at)
    select ${seller.id}, 1000 + n, 4, 4, 'Listing ' || n, 100 + n, 1, 'active', 100 + n, '{}', ${at}::timestamptz, ${at}::timestamptz,
      ${at}::timestamptz + make_interval(days => 10 + n % 20), ${at}::timestamptz, ${at}::timestamptz
    from generate_series(1, ${count}::int) n returning id`.execute(node.db.kysely)
  const ids = rows.map(({ id }) => id)
  const stored = await node.db.kysely.selectFrom('listings').selectAll().where('seller_id', '=', seller.id).execute()
  const approved = stored.map((row) => ({ id: row.id, content: contentOf(row as never) }))
  await sql`
    update listings l set approved = r.content from jsonb_to_recordset(${JSON.stringify(approved)}::jsonb) as r (id int4, content jsonb)
    where l.id = r.id`.execute(node.db.kysely)
  await sql`insert into change_log (kind, ids, at) values ('listings', ${ids}::int4[], ${at})`.execute(node.db.kysely)
  await node.ctx.caughtUp()
  return ids
}
