// What must hold after every schedule, whatever its order and whatever was lost.
import { TABLE, type Outcome as Next } from '#market/records/rules.ts'
import type { ListingStatus } from '#db/schema.ts'
import { START_MS, type World } from './world.ts'

interface Facts {
  changes: { listing_id: number; from_status: ListingStatus; to_status: ListingStatus; from_quantity: number; to_quantity: number }[]
  negative: number
  existing: number[]
  sold: { listing_id: number; units: number }[]
  cancelled: { listing_id: number; units: number }[]
  sales: number
  sale_events: number
  expiries: number
  expire_events: number
  too_many: number
  after_success: number
  unaudited: string[]
  published: { id: number; item_id: number; kurus: number }[]
  positions: number
}

/** Tables of which every change has an audit row of its transaction. */
const AUDITED = [
  'listings',
  'offers',
  'orders',
  'sales',
  'sale_cancellations',
  'accounts',
  'vacations',
  'price_jobs',
  'webhooks',
  'merges',
  'credit_entries',
]

/** One statement, prepared once: it runs after each schedule. */
const FACTS = `
  with cutoff as (select $1::bigint as xid), audited as (select distinct a.xmin::text as xid from audit_log a)
  select
    (select coalesce(json_agg(c order by c.id), '[]') from simulated_changes c) as changes,
    (select count(*)::int from listings where quantity < 0) as negative,
    array(select id from listings) as existing,
    (select coalesce(json_agg(s), '[]') from (select listing_id, sum(quantity)::int as units from sales where order_id <> 7001 and listing_id is not null group by 1) s) as sold,
    (select coalesce(json_agg(s), '[]') from (select listing_id, sum(quantity)::int as units from sales join sale_cancellations c on c.sale_id = sales.id where listing_id is not null group by 1) s) as cancelled,
    (select count(*)::int from sales) as sales,
    (select count(*)::int from webhook_events where kind = 'sale' and not test) as sale_events,
    (select count(*)::int from audit_log where action = 'listing.expire') as expiries,
    (select count(*)::int from webhook_events where kind = 'expire' and not test) as expire_events,
    (select count(*)::int from (select event_id from webhook_attempts group by event_id having count(*) > 3 or count(distinct attempt) < count(*)) a) as too_many,
    (select count(*)::int from webhook_attempts a join webhook_attempts b using (event_id) where a.success and b.started_at >= a.finished_at and b.attempt > a.attempt) as after_success,
    (select count(*)::int from event_counters c where c.last <> (select count(*) from event_positions p where p.account_id = c.account_id) + c.forgotten) as positions,
    array(${AUDITED.map((table) => `select distinct '${table}' from ${table} t, cutoff where t.xmin::text::bigint >= cutoff.xid and t.xmin::text not in (select xid from audited)`).join(' union all ')}) as unaudited,
    (select coalesce(json_agg(l order by l.id), '[]') from (
      select id, item_id, round(price * 100)::int as kurus from listings l where status = 'active' and quantity > 0 and expires_at > $2
        and not exists (select from accounts a where a.id = l.seller_id and a.suspended)
        and not exists (select from vacations v where v.account_id = l.seller_id and $2 >= v.starts_at and $2 < v.ends_at)) l) as published`

/** Sentences about what does not hold. @param xid transactions from this one on belong to the schedule */
export async function brokenInvariants({ db, node, market }: World, xid: bigint, restocked: boolean): Promise<string[]> {
  const { rows } = await db.pool.query<Facts>({ name: 'facts', text: FACTS, values: [String(xid), new Date(START_MS)] })
  const facts = rows[0]!
  const broken: string[] = []
  const expect = (holds: boolean, sentence: string) => void (holds || broken.push(sentence))
  expect(facts.negative === 0, 'A listing has less than no stock')
  for (const { from_status: from, to_status: to } of facts.changes) expect(from === to || leadsTo(from, to), `A listing went from ${from} to ${to}`)
  if (!restocked) {
    for (const [id, stock] of [
      [market.last, 1],
      [market.stock, 3],
    ] as const) {
      // The sales of a deleted listing no longer name it.
      if (!facts.existing.includes(id)) continue
      const at = facts.changes.findLast((change) => change.listing_id === id)?.to_quantity ?? stock
      const sold = facts.sold.find((of) => of.listing_id === id)?.units ?? 0
      const cancelled = facts.cancelled.find((of) => of.listing_id === id)?.units ?? 0
      expect(at === stock - sold + cancelled, `Listing ${id} had ${stock}, sold ${sold}, got back ${cancelled}, and has ${at}`)
    }
  }
  expect(facts.sales === facts.sale_events, `${facts.sales} sales, but ${facts.sale_events} events`)
  expect(facts.expiries === facts.expire_events, `${facts.expiries} periods ended, but ${facts.expire_events} events`)
  expect(facts.expiries <= 1, 'A period ended twice')
  expect(facts.too_many === 0, 'An event has more than three attempts, or one twice')
  expect(facts.after_success === 0, 'An event was sent again after its delivery')
  expect(facts.positions === 0, 'The positions of a feed have gaps')
  expect(facts.unaudited.length === 0, `Changed without an audit row: ${facts.unaudited.join(', ')}`)
  const shown = [market.last, market.stock, market.due, market.rejected, market.ofOther].filter((id) => node.listings.isPublished(id))
  const stored = facts.published.map(({ id }) => id)
  expect(same(shown, stored), `Searches find the listings ${shown.join(', ')}, but ${stored.join(', ')} are published`)
  const inMemory = [market.item, market.twin].flatMap((item) => [...pricesOf(node, item, market.label)])
  expect(
    same(
      inMemory,
      facts.published.map(({ kurus }) => kurus),
    ),
    `Searches find the prices ${inMemory.join(', ')}, but ${facts.published.map(({ kurus }) => kurus).join(', ')} are stored`,
  )
  return broken
}

function pricesOf(node: World['node'], item: number, label: number): Int32Array {
  return node.listings.pricesOfOthers(item, label, -1)
}

function same(one: readonly number[], other: readonly number[]): boolean {
  const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b).join()
  return sorted(one) === sorted(other)
}

/** Whether any action leads from one status to another, by the table. */
function leadsTo(from: ListingStatus, to: ListingStatus): boolean {
  return Object.values(TABLE[from]).some((outcome) => targets(outcome as Next).includes(to))
}

function targets(outcome: Next): string[] {
  if ('refused' in outcome) return []
  return 'when' in outcome ? [outcome.to, ...targets(outcome.otherwise as Next)] : [outcome.to]
}
