// Worker task that compares the watches of all items that have changed since its last run. One node does it at a time; the position is stored.
import { sql } from 'kysely'
import { databaseTime } from '#db/connection/database-time.ts'
import { ChangeFeed, type ChangeFollower, type ChangeRow } from '#db/changes/change-feed.ts'
import type { Db, Queryable } from '#db/schema.ts'
import { eachNewPrice, newPriceCount } from '#market/records/packed-prices.ts'
import { eachPackedEvidence, packedEvidenceCount } from '#prices/evidence/evidence-payload.ts'
import { eachPackedPrice, packedCount } from '#prices/records/price-payload.ts'
import { forgetRemoved, ITEMS_AT_ONCE, type TellCtx, tellDue, tellItems, tellWatches, WATCHES_AT_ONCE } from './tell-watches.ts'

/** A node that dies is replaced after this time. Two nodes at once would only do the same work twice. */
const LEASE = sql`interval '1 minute'`
/** Changed items that are gathered, so that an item of several changes is compared once. */
const MAX_GATHERED = 100_000

/** The node's own feed reports gaps and clocks. */
const QUIET = { warn: () => {}, info: () => {} }

interface Progress {
  position: string | null
  last_seq: number | null
  server: string | null
  /** of the server now */
  running: string
  vacations_until: Date | null
  has_watches: boolean
}

/**
 * Compares watches with everything committed since the last run of any node, and stores the position afterwards. A run that ends early is repeated from
 * the earlier position, which tells no watch twice (`tellItems`). If the log no longer has all changes, or another server took over, all watches are
 * compared.
 */
export async function followChanges(ctx: TellCtx): Promise<void> {
  const progress = await takeLease(ctx.db)
  if (!progress) return
  try {
    const now = ctx.now()
    const changed = new ChangedItems(ctx)
    const feed = new ChangeFeed(ctx.db, QUIET)
    feed.add(changed)
    const { position, last_seq: lastSeq, server, running } = progress
    if (position === null || lastSeq === null || server !== running || !progress.has_watches) {
      await feed.open()
      if (progress.has_watches) await changed.reload()
    } else {
      feed.resume({ position, lastSeq })
      await feed.pull()
    }
    if (progress.has_watches) {
      await changed.add(await itemsBackOnSale(ctx.db.kysely, progress.vacations_until ?? now, now))
      await changed.flush()
      while ((await tellDue(ctx)) === WATCHES_AT_ONCE) await keepLease(ctx.db)
      await forgetRemoved(ctx)
    }
    await feed.between(({ position, lastSeq }) =>
      ctx.db.kysely.updateTable('watch_progress').set({ position, last_seq: lastSeq, server: running, vacations_until: now }).execute(),
    )
  } finally {
    await ctx.db.kysely.updateTable('watch_progress').set({ lease_until: null }).execute()
  }
}

/**
 * When the next run finds something: the epoch if there are changes that were not compared, otherwise when a watch is due on a later day or a
 * vacation ends; null without watches.
 * @param zone of the days of watches
 */
export async function nextComparison(on: Queryable, zone: string): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select case when not exists (select from watches where item_id is not null) then null
      when not exists (select from watch_progress p where p.last_seq is not null and not exists (select from change_log c where c.seq > p.last_seq))
        then 'epoch'::timestamptz
      else least((select min(due_day)::timestamp at time zone ${zone} from watches where item_id is not null),
        (select min(v.ends_at) from vacations v, watch_progress p where v.ends_at > p.vacations_until)) end as at`.execute(on)
  return rows[0]!.at
}

/** Null if another node has the lease. By the database's clock, which all nodes share. */
async function takeLease({ kysely }: Db): Promise<Progress | null> {
  const { rows } = await sql<Progress>`
    insert into watch_progress as p (lease_until) values (${databaseTime} + ${LEASE})
    on conflict (one) do update set lease_until = excluded.lease_until where p.lease_until is null or p.lease_until < ${databaseTime}
    returning position, last_seq::float8 as last_seq, server, pg_postmaster_start_time()::text as running, vacations_until,
      exists (select from watches) as has_watches`.execute(kysely)
  return rows[0] ?? null
}

async function keepLease({ kysely }: Db): Promise<void> {
  await sql`update watch_progress set lease_until = ${databaseTime} + ${LEASE}`.execute(kysely)
}

/** Gathers the items of changes, and compares their watches. */
class ChangedItems implements ChangeFollower {
  readonly #ctx: TellCtx
  #ids = new Set<number>()
  #accounts = new Set<number>()

  constructor(ctx: TellCtx) {
    this.#ctx = ctx
  }

  async apply(changes: ChangeRow[]): Promise<void> {
    const { kysely } = this.#ctx.db
    for (const { kind, ids, payload } of changes) {
      const add = ({ itemId }: { itemId: number }) => this.#ids.add(itemId)
      if (kind === 'prices' && payload) eachPackedPrice(payload, 0, packedCount(payload), add)
      else if (kind === 'evidence' && payload) eachPackedEvidence(payload, 0, packedEvidenceCount(payload), add)
      else if (kind === 'items' && ids) await this.add(ids)
      else if (kind === 'listings') await this.add(await itemsOfListings(kysely, ids ?? listingsOf(payload)))
      else if (kind === 'accounts' && ids) {
        // Plans, suspensions and vacations may have changed: for the accounts' own watches, and for watches of what they sell.
        for (const id of ids) this.#accounts.add(id)
        await this.add(await itemsOfSellers(kysely, ids))
      }
    }
    if (this.#ids.size >= MAX_GATHERED) await this.flush()
  }

  async add(itemIds: readonly number[]): Promise<void> {
    for (const id of itemIds) this.#ids.add(id)
    if (this.#ids.size >= MAX_GATHERED) await this.flush()
  }

  async flush(): Promise<void> {
    const { kysely } = this.#ctx.db
    const gathered = `{${[...this.#ids].join(',')}}`
    const accounts = `{${[...this.#accounts].join(',')}}`
    this.#ids = new Set()
    this.#accounts = new Set()
    const { rows: items } = await sql<{ id: number }>`
      select id from unnest(${gathered}::int4[]) i(id) where exists (select from watches w where w.item_id = i.id) order by id`.execute(kysely)
    const { rows: own } = await sql<{ id: number }>`select id from watches where account_id = any(${accounts}::int4[]) order by id`.execute(kysely)
    const keep = () => keepLease(this.#ctx.db)
    await tellItems(
      this.#ctx,
      items.map(({ id }) => id),
      keep,
    )
    await tellWatches(
      this.#ctx,
      own.map(({ id }) => id),
      keep,
    )
  }

  async reload(): Promise<void> {
    for (let lastId = 0; ; ) {
      const { rows } = await sql<{ item_id: number }>`
        select distinct item_id from watches where item_id > ${lastId} order by item_id limit ${ITEMS_AT_ONCE}`.execute(this.#ctx.db.kysely)
      await this.add(rows.map((row) => row.item_id))
      await this.flush()
      if (rows.length < ITEMS_AT_ONCE) return
      lastId = rows.at(-1)!.item_id
    }
  }
}

/** Listings whose price alone has changed. */
function listingsOf(payload: Buffer | null): number[] {
  const ids: number[] = []
  if (payload) eachNewPrice(payload, 0, newPriceCount(payload), (id) => ids.push(id))
  return ids
}

/** Also the items whose watches were told of these listings: a deleted listing no longer names its item. */
async function itemsOfListings(on: Queryable, ids: readonly number[]): Promise<number[]> {
  const listings = `{${ids.join(',')}}`
  const { rows } = await sql<{ item_id: number }>`
    select distinct item_id from watches where item_id is not null and told_listing_id = any(${listings}::int4[])`.execute(on)
  return [...rows.map((row) => row.item_id), ...(await watchedItems(on, sql`from listings l where l.id = any(${listings}::int4[])`))]
}

function itemsOfSellers(on: Queryable, accountIds: readonly number[]): Promise<number[]> {
  return watchedItems(on, sql`from listings l where l.seller_id = any(${accountIds}::int4[])`)
}

/** Items of sellers whose vacation ended within a period: only time changes these. */
function itemsBackOnSale(on: Queryable, after: Date, until: Date): Promise<number[]> {
  return watchedItems(on, sql`from vacations v join listings l on l.seller_id = v.account_id where v.ends_at > ${after} and v.ends_at <= ${until}`)
}

/** @param from SQL that starts with `from` and selects listings `l`. @returns those of their items that have watches */
async function watchedItems(on: Queryable, from: ReturnType<typeof sql>): Promise<number[]> {
  const { rows } = await sql<{ item_id: number }>`
    select distinct l.item_id ${from} and exists (select from watches w where w.item_id = l.item_id and w.kind = 'offer_below')`.execute(on)
  return rows.map((row) => row.item_id)
}
