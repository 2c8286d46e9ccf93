// SQL of an account's own watches.
import { sql } from 'kysely'
import { invalid } from '#core/errors.ts'
import { existing, idForSql, missing } from '#core/fields.ts'
import type { Range, Rows } from '#core/paging.ts'
import { localTime } from '#core/time.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { pageOf } from '#db/page.ts'
import { GOAL_WATCH_KIND, type ItemWatchKind, type WatchKind } from '#webhooks/events/event-body.ts'
import { type GoalWatch, type ItemWatch, MAX_GOAL_WATCHES, MAX_WATCHES, type Watch } from './watch-types.ts'

const LOCK = 7341

/** A watch to store; its amount is exact decimal text. */
export interface NewWatch {
  kind: ItemWatchKind
  itemId: number
  labelId: number | null
  language: string | null
  amount: string
  currency: string
}

/** The watches of an account with the names of their items and labels, or of their collections and sets. */
function watchesOf(on: Queryable, accountId: number) {
  return on
    .selectFrom('watches as w')
    .leftJoin('items as i', 'i.id', 'w.item_id')
    .leftJoin('groups as g', 'g.id', 'w.label_id')
    .leftJoin('collections as c', 'c.id', 'w.collection_id')
    .leftJoin('categories as s', 's.id', 'w.category_id')
    .where('w.account_id', '=', accountId)
    .where('w.removed', '=', false)
}

const COLUMNS = [
  'w.id',
  'w.kind',
  'w.item_id',
  'i.name as item_name',
  'g.name as label',
  'w.language',
  'w.amount',
  'w.currency',
  'w.collection_id',
  'c.name as collection_name',
  'w.category_id',
  's.name as category_name',
  'w.goal',
  'w.complete',
  'w.created_at',
  'w.updated_at',
] as const
const TOLD_ON = sql<string | null>`w.told_day::text`.as('told_on')

type Fields = Omit<ItemWatch, 'kind' | 'amount' | 'created_at'> & Omit<GoalWatch, 'kind' | 'language' | 'created_at'>

/** A row of the columns above: those of an item, or those of a goal are null. */
type WatchRow = { [Name in Exclude<keyof Fields, 'id' | 'updated_at'>]: Fields[Name] | null } & {
  id: number
  kind: string
  amount: string | null
  created_at: Date
  updated_at: Date
}

function watchOf(row: WatchRow, zone: string): Watch {
  const { id, kind, language, told_on } = row
  const times = { told_on, created_at: localTime(row.created_at, zone), updated_at: localTime(row.updated_at, zone) }
  if (kind === GOAL_WATCH_KIND) {
    const { collection_id, collection_name, category_id, category_name, goal, complete } = row as unknown as GoalWatch
    return { id, kind, collection_id, collection_name, category_id, category_name, goal, language: language!, complete, ...times }
  }
  const { item_id, item_name, label, currency } = row as unknown as ItemWatch
  return { id, kind: kind as ItemWatchKind, item_id, item_name, label, language, amount: Number(row.amount), currency, ...times }
}

interface WatchFilter {
  accountId: number
  zone: string
  kind: WatchKind | undefined
  itemId: number | undefined
  collectionId: number | undefined
}

/** Newest first. */
export function pageOfWatches(on: Queryable, { accountId, zone, kind, itemId, collectionId }: WatchFilter, range: Range): Promise<Rows<Watch>> {
  let watches = watchesOf(on, accountId)
  if (kind !== undefined) watches = watches.where('w.kind', '=', kind)
  if (itemId !== undefined) watches = watches.where('w.item_id', '=', sql<number>`live_item(${idForSql(itemId)}::int4)`)
  if (collectionId !== undefined) watches = watches.where('w.collection_id', '=', idForSql(collectionId))
  return pageOf(watches.select([...COLUMNS, TOLD_ON]).orderBy('w.id', 'desc'), range, (row) => watchOf(row, zone))
}

/** @throws NOT_FOUND, also for watches of other accounts */
export async function findWatch(on: Queryable, accountId: number, zone: string, id: number): Promise<Watch> {
  const row = await watchesOf(on, accountId)
    .select([...COLUMNS, TOLD_ON])
    .where('w.id', '=', existing('watch', id))
    .executeTakeFirst()
  if (!row) throw missing('watch', id)
  return watchOf(row, zone)
}

/** The watches with these ids, in this order. */
export async function findWatches(on: Queryable, accountId: number, zone: string, ids: readonly number[]): Promise<Watch[]> {
  const rows = await watchesOf(on, accountId)
    .select([...COLUMNS, TOLD_ON])
    .where('w.id', '=', sql<number>`any(${ids}::int4[])`)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, watchOf(row, zone)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** A watch before and after a write; `before` is null for a new one. */
export interface WrittenWatch {
  id: number
  before: string | null
  isChanged: boolean
}

/**
 * Creates watches, or changes those with the same kind, item, label and language. Unchanged ones stay as they are; all others are compared with prices
 * and offers in the next run. A removed watch keeps the day on which it was last told, so that it is told no more often than if it had stayed.
 * @param watches each with another key
 * @returns in order
 */
export async function writeWatches(tx: Tx, accountId: number, watches: readonly NewWatch[], now: Date, today: string): Promise<WrittenWatch[]> {
  if (watches.length === 0) return []
  const { rows } = await sql<WrittenWatch>`
    with sent as materialized (
      select * from unnest(${watches.map(({ kind }) => kind)}::text[], ${watches.map(({ itemId }) => itemId)}::int4[],
        ${watches.map(({ labelId }) => labelId)}::int4[], ${watches.map(({ language }) => language)}::text[],
        ${watches.map(({ amount }) => amount)}::numeric[], ${watches.map(({ currency }) => currency)}::text[])
        with ordinality s (kind, item_id, label_id, language, amount, currency, n)
    ), stored as materialized (
      select s.n, w.id, w.amount, w.currency, w.removed from sent s
      join watches w on w.account_id = ${accountId} and w.item_id = s.item_id and w.kind = s.kind
        and w.label_id is not distinct from s.label_id and w.language is not distinct from s.language
    ), written as (
      insert into watches as w (account_id, kind, item_id, label_id, language, amount, currency, due_day, created_at, updated_at)
      select ${accountId}, kind, item_id, label_id, language, amount, currency, ${today}::date, ${now}, ${now} from sent order by n
      on conflict (account_id, item_id, kind, label_id, language) where item_id is not null do update
      set amount = excluded.amount, currency = excluded.currency, removed = false, due_day = excluded.due_day,
          told_price = null, told_market = null, told_listing_id = null, updated_at = excluded.updated_at
      where (w.amount, w.currency, w.removed) is distinct from (excluded.amount, excluded.currency, false)
      returning w.id, w.item_id, w.kind, w.label_id, w.language
    )
    select coalesce(w.id, o.id) as id, case when not o.removed then o.amount::text end as before, w.id is not null as "isChanged"
    from sent s left join stored o using (n)
    left join written w on w.item_id = s.item_id and w.kind = s.kind
      and w.label_id is not distinct from s.label_id and w.language is not distinct from s.language
    order by s.n`.execute(tx)
  return rows
}

/** Lets writes of an account's watches wait for each other, so that their limits hold. */
export async function lockWatchesOf(tx: Tx, accountId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)}, ${accountId}::int4)`.execute(tx)
}

/** Call it after writing. @throws VALIDATION_ERROR if the account has more than `MAX_WATCHES`, or more than `MAX_GOAL_WATCHES` of goals */
export async function checkLimits(tx: Tx, accountId: number): Promise<void> {
  const { rows } = await sql<{ all: number; goals: number }>`
    select count(*)::int4 as all, count(collection_id)::int4 as goals from watches where account_id = ${accountId}`.execute(tx)
  const { all, goals } = rows[0]!
  if (all > MAX_WATCHES) throw invalid('watches', 'too_many_watches', { max: MAX_WATCHES })
  if (goals > MAX_GOAL_WATCHES) throw invalid('watches', 'too_many_goals', { max: MAX_GOAL_WATCHES })
}

/** Sets the amount of a watch. @throws NOT_FOUND */
export async function setAmount(tx: Tx, accountId: number, id: number, amount: string, now: Date, today: string): Promise<void> {
  const { numAffectedRows } = await sql`
    update watches set amount = ${amount}::numeric, due_day = ${today}::date, updated_at = ${now},
      told_price = null, told_market = null, told_listing_id = null
    where id = ${existing('watch', id)} and account_id = ${accountId} and not removed and amount <> ${amount}::numeric`.execute(tx)
  if (!numAffectedRows) await findWatch(tx, accountId, 'UTC', id)
}

/**
 * Deletes watches of an account: one, or all if `id` is null. Those that were told today only count as deleted until tomorrow, so that they are not told
 * again today if they are created again. A new watch of a goal is not told on its first day.
 * @returns number of deleted watches
 */
export async function removeWatches(tx: Tx, accountId: number, id: number | null, today: string): Promise<number> {
  const chosen = id === null ? sql`true` : sql`id = ${existing('watch', id)}`
  const { rows } = await sql<{ id: number; toldToday: boolean }>`
    select id, item_id is not null and coalesce(told_day >= ${today}::date, false) as "toldToday" from watches
    where account_id = ${accountId} and not removed and ${chosen} order by id for update`.execute(tx)
  const ids = (toldToday: boolean) => rows.flatMap((row) => (row.toldToday === toldToday ? [row.id] : []))
  await sql`delete from watches where id = any(${ids(false)}::int4[])`.execute(tx)
  await sql`update watches set removed = true, due_day = null where id = any(${ids(true)}::int4[])`.execute(tx)
  return rows.length
}
