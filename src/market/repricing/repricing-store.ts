// SQL of repricing rules, the listings they apply to, and their comparison data.
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { idForSql, missing } from '#core/fields.ts'
import type { Plan } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { PUBLISHED } from '../records/rules.ts'
import { isVisible, joinSellers } from '../records/visible-listings.ts'
import type { Offer } from '../records/comparables.ts'
import { defaultsOf, type Scope, type SentTerms } from './terms.ts'
import type { RepricingRule } from './repricing-types.ts'

/** Maximum listings in a run or simulation. */
export const MAX_LISTINGS = 10_000
export const SALES_DAYS = 90

const COLUMNS = ['id', 'account_id', 'name', 'enabled', 'terms', 'simulated_at', 'last_run_at'] as const

export interface RuleRow {
  id: number
  account_id: number
  name: string
  enabled: boolean
  terms: SentTerms
  simulated_at: Date | null
  last_run_at: Date | null
}

/** A seller's rules in order of precedence. */
export async function rulesOf(on: Queryable, accountId: number): Promise<RuleRow[]> {
  const rows = await on.selectFrom('repricing_rules').select(COLUMNS).where('account_id', '=', accountId).orderBy('id').execute()
  return rows as RuleRow[]
}

/** A seller's own rule, locked until the transaction ends. @throws NOT_FOUND, also for rules of other sellers */
export async function lockRule(tx: Tx, accountId: number, id: number): Promise<RuleRow> {
  const row = await tx
    .selectFrom('repricing_rules')
    .select(COLUMNS)
    .where('id', '=', idForSql(id))
    .where('account_id', '=', accountId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw missing('repricing rule', id)
  return row as RuleRow
}

/** A seller's rules, locked: no other is created until the transaction ends. */
export async function lockRules(tx: Tx, accountId: number): Promise<RuleRow[]> {
  await tx.selectFrom('accounts').select('id').where('id', '=', accountId).forNoKeyUpdate().execute()
  return rulesOf(tx, accountId)
}

export async function insertRule(tx: Tx, accountId: number, name: string, terms: SentTerms, now: Date): Promise<RuleRow> {
  const row = await tx
    .insertInto('repricing_rules')
    .values({ account_id: accountId, name, terms: JSON.stringify(terms), created_at: now, updated_at: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return row as RuleRow
}

/** Ids of enabled rules that have not run since `before`, of sellers on one of the plans; longest waiting first. */
export async function idsOfDueRules(on: Queryable, plans: readonly Plan[], before: Date): Promise<number[]> {
  const due = on.selectFrom('repricing_rules as r').innerJoin('accounts as a', 'a.id', 'r.account_id').select('r.id')
  const rows = await due
    .where('r.enabled', '=', true)
    .where((eb) => eb.or([eb('r.last_run_at', 'is', null), eb('r.last_run_at', '<=', before)]))
    .where('a.suspended', '=', false)
    .where('a.plan', 'in', plans)
    .orderBy(sql`r.last_run_at nulls first`)
    .orderBy('r.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** When the rule that waits longest was last run: the epoch if it never was; null if no rule is enabled. */
export async function firstLastRun(on: Queryable, plans: readonly Plan[]): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(coalesce(r.last_run_at, 'epoch')) as at from repricing_rules r join accounts a on a.id = r.account_id
    where r.enabled and not a.suspended and a.plan = any(${[...plans]}::text[])`.execute(on)
  return rows[0]!.at
}

/** The rule, locked until the transaction ends; null if another node has locked it or it is no longer due. */
export async function lockDueRule(tx: Tx, id: number, before: Date): Promise<RuleRow | null> {
  const due = tx.selectFrom('repricing_rules').select(COLUMNS).where('id', '=', id).where('enabled', '=', true)
  const row = await due
    .where((eb) => eb.or([eb('last_run_at', 'is', null), eb('last_run_at', '<=', before)]))
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return (row as RuleRow | undefined) ?? null
}

export async function saveRule(tx: Tx, { id, name, enabled, terms, simulated_at, last_run_at }: RuleRow, now: Date): Promise<void> {
  await tx
    .updateTable('repricing_rules')
    .set({ name, enabled, terms: JSON.stringify(terms), simulated_at, last_run_at, updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteRuleRow(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('repricing_rules').where('id', '=', id).execute()
}

export function ruleResponse({ id, name, enabled, terms, simulated_at: simulatedAt, last_run_at: lastRunAt }: RuleRow, zone: string): RepricingRule {
  const { target, scope, floor, ceiling = null } = terms
  const { maxMovePercent: max_move_percent, minComparables: min_comparables } = defaultsOf(terms)
  const local = (at: Date | null) => at && localTime(at, zone)
  const limits = { ceiling, max_move_percent, min_comparables }
  return { id, name, enabled, target, scope, floor, ...limits, simulated_at: local(simulatedAt), last_run_at: local(lastRunAt) }
}

/** A published listing with the columns a rule needs. */
export interface ScopedListing {
  id: number
  item_id: number
  label_id: number
  price: string
  min_offer_price: string | null
  record_id: number | null
}

/** The published listings of a rule, without those of an earlier enabled rule, by id. */
export async function listingsOfRule(
  on: Queryable,
  rule: RuleRow,
  rules: readonly RuleRow[],
  now: Date,
  limit = MAX_LISTINGS,
): Promise<ScopedListing[]> {
  const earlier = rules.filter((other) => other.enabled && other.id < rule.id).map(({ terms }) => sql`and not ${within(terms.scope)}`)
  const { rows } = await sql<ScopedListing>`
    select l.id, l.item_id, l.label_id, l.price, l.min_offer_price, l.record_id from listings l
    where l.seller_id = ${rule.account_id} and l.status = ${PUBLISHED} and l.quantity > 0 and l.expires_at > ${now}
      and ${within(rule.terms.scope)} ${sql.join(earlier, sql` `)}
    order by l.id limit ${limit}`.execute(on)
  return rows
}

/** Whether a listing is within a scope. */
function within(scope: Scope): RawBuilder<boolean> {
  switch (scope.kind) {
    case 'all':
      return sql`true`
    case 'listings':
      return sql`l.id = any(${scope.ids}::int4[])`
    case 'skus':
      return sql`coalesce(l.sku = any(${scope.skus}::text[]), false)`
    case 'items': {
      const game = scope.game === undefined ? sql`true` : sql`i.game = ${scope.game}`
      const category =
        scope.category_id === undefined
          ? sql`true`
          : sql`i.category_id in (
              with recursive below as (
                select id from categories where id = ${scope.category_id}
                union select c.id from categories c join below b on c.parent_id = b.id
              )
              select id from below)`
      return sql`exists (select from items i where i.id = l.item_id and ${game} and ${category})`
    }
  }
}

/** Map key of an item and grade. */
export function keyOf({ item_id: itemId, label_id: labelId }: Pick<ScopedListing, 'item_id' | 'label_id'>): string {
  return `${itemId} ${labelId}`
}

type Keyed = Pick<ScopedListing, 'item_id' | 'label_id'>

/** The distinct items and grades of the listings, as a table. */
function keysOf(listings: readonly Keyed[]): RawBuilder<unknown> {
  const keys = [...new Map(listings.map((one) => [keyOf(one), one])).values()]
  return sql`unnest(${keys.map((key) => key.item_id)}::int4[], ${keys.map((key) => key.label_id)}::int4[]) as k(item_id, label_id)`
}

/** All visible listings of the same items and grades, by `keyOf`. */
export async function offersFor(on: Queryable, listings: readonly Keyed[], now: Date): Promise<Map<string, Offer[]>> {
  const { rows } = await sql<{ id: number; item_id: number; label_id: number; kurus: number; seller_id: number; follows: boolean }>`
    select l.id, l.item_id, l.label_id, (l.price * 100)::int4 as kurus, l.seller_id, coalesce(r.terms->'target'->>'kind' = 'cheapest', false) as follows
    from ${keysOf(listings)}
    join listings l on l.item_id = k.item_id and l.label_id = k.label_id
    ${joinSellers(now)}
    left join repricing_rules r on l.changed_by->>'kind' = 'repricing_rule' and r.id = (l.changed_by->>'id')::int4
    where ${isVisible(now)}`.execute(on)
  const offers = rows.map((row) => [keyOf(row), { listingId: row.id, kurus: row.kurus, sellerId: row.seller_id, follows: row.follows }] as const)
  return grouped(offers)
}

export interface PastSale {
  kurus: number
  atMs: number
  /** its seller and buyer */
  pair: string
}

/** Other sellers' sales of the same items and grades that count on any day from `from` to `to`, by `keyOf`. */
export async function salesFor(on: Queryable, listings: readonly Keyed[], sellerId: number, from: Date, to: Date): Promise<Map<string, PastSale[]>> {
  const { rows } = await sql<{ item_id: number; label_id: number; kurus: number; sold_at: Date; pair: string }>`
    select s.item_id, s.label_id, (s.unit_price * 100)::int4 as kurus, s.sold_at,
      s.seller_id || coalesce(' account ' || b.account_id, ' reference ' || b.reference, '') as pair
    from ${keysOf(listings)}
    join uncancelled_sales s on s.item_id = k.item_id and s.label_id = k.label_id left join order_buyers b using (order_id)
    where s.seller_id <> ${sellerId} and s.sold_at > ${new Date(from.getTime() - SALES_DAYS * DAY_MS)} and s.sold_at <= ${to}`.execute(on)
  return grouped(rows.map((row) => [keyOf(row), { kurus: row.kurus, atMs: row.sold_at.getTime(), pair: row.pair }] as const))
}

function grouped<T>(pairs: readonly (readonly [string, T])[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const [key, value] of pairs) {
    const group = groups.get(key)
    if (group) group.push(value)
    else groups.set(key, [value])
  }
  return groups
}
