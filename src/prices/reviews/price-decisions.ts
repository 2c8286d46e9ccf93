// Decisions of people about prices as operators see them: batches that can be undone.
import { sql } from 'kysely'
import { existing, missing, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import type { Queryable } from '#db/schema.ts'

/** Kinds of decisions: about held prices, and about published ones. */
export const HELD_DECISIONS = ['accept', 'discard'] as const
export const PUBLISHED_DECISIONS = ['confirm', 'withdraw'] as const
export const DECISIONS = [...HELD_DECISIONS, ...PUBLISHED_DECISIONS] as const
export type Decision = (typeof DECISIONS)[number]

/** Why undoing a decision does not change a price. */
export const UNCHANGED_REASONS = ['newer_price', 'reverted_import', 'merged_item', 'decided_since'] as const

export const DECISION_STATES = ['in_effect', 'undone'] as const

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const PriceDecisionSchema = Type.Object(
  {
    id: Type.Integer(),
    decision: Type.Enum([...DECISIONS]),
    prices: Type.Integer({ description: 'Number of prices decided' }),
    items: Type.Integer({ description: 'Number of items' }),
    item: orNull(Type.Object({ id: Type.Integer(), name: Type.String() }), { description: 'The first of them' }),
    filter: orNull(Type.Record(Type.String(), Type.Unknown(), { description: 'Filter that selected the prices; null if they were listed' })),
    author: Type.String(),
    at: Time,
    undone_by: orNull(Type.String()),
    undone_at: orNull(Time),
    kept: Type.Record(Type.String(), Type.Integer(), {
      description: `Prices the undo left unchanged, by reason: ${UNCHANGED_REASONS.map((name) => `\`${name}\``).join(', ')}`,
    }),
  },
  { title: 'PriceDecision' },
)
export type PriceDecision = Static<typeof PriceDecisionSchema>

interface DecisionRow extends Omit<PriceDecision, 'at' | 'undone_at' | 'kept'> {
  at: Date
  undone_at: Date | null
  kept: PriceDecision['kept'] | null
}

/** @throws NOT_FOUND */
export async function fetchDecision(on: Queryable, id: number): Promise<PriceDecision> {
  const [found] = await decisionsOf(on, sql`select * from price_decisions where id = ${existing('price decision', id)}`)
  if (!found) throw missing('price decision', id)
  return found
}

/** Decisions as operators see them, newest first. */
export async function decisionsOf(on: Queryable, which: ReturnType<typeof sql>): Promise<PriceDecision[]> {
  const { rows } = await sql<DecisionRow>`
    select d.id, d.decision, d.filter, d.author, d.at, d.undone_by, d.undone_at, p.prices, p.items, p.kept,
      (select json_build_object('id', i.id, 'name', i.name) from items i where i.id = live_item(p.first_item)) as item
    from (${which}) d cross join lateral (
      select sum(n)::int4 as prices, max(items)::int4 as items, min(first_item) as first_item,
        jsonb_object_agg(kept, n) filter (where kept is not null) as kept
      from (
        select kept, count(*)::int4 as n, (select count(distinct item_id) from price_decision_prices where decision_id = d.id) as items,
          min(item_id) as first_item
        from price_decision_prices where decision_id = d.id group by kept
      ) q
    ) p order by d.id desc`.execute(on)
  return rows.map(({ kept, ...row }) => ({
    ...row,
    at: row.at.toISOString(),
    undone_at: row.undone_at?.toISOString() ?? null,
    kept: kept ?? {},
  }))
}

const DONE: Record<Decision, string> = { accept: 'accepted', discard: 'discarded', confirm: 'confirmed', withdraw: 'withdrawn' }

/** One sentence about the effect of a decision, or of undoing it. */
export function decisionText({ id, decision, prices, kept, undone_at: undoneAt }: PriceDecision): string {
  const counted = (n: number) => `${n} ${n === 1 ? 'price' : 'prices'}`
  if (undoneAt === null) return `Decision ${id}: ${counted(prices)} ${DONE[decision]}`
  const left = Object.values(kept).reduce((sum, n) => sum + n, 0)
  return `Decision ${id} undone; ${counted(prices - left)} restored${left > 0 ? `, ${left} changed since and kept` : ''}`
}
