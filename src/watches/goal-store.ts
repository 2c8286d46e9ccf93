// SQL of watches of goals: written by their owners, and read and settled by the task that compares them.
import { sql } from 'kysely'
import type { Goal } from '#collections/completion/goals.ts'
import type { Plan } from '#core/plans.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { GOAL_WATCH_KIND } from '#webhooks/events/event-body.ts'

/** A watch of a goal to store; these fields identify it. */
export interface NewGoal {
  collectionId: number
  categoryId: number
  goal: Goal
  language: string
}

/** The collections of an account and the categories among these ids; they stay until the transaction ends. */
export async function lockGoalParts(tx: Tx, accountId: number, goals: readonly { collection_id?: number; category_id?: number }[]) {
  const ids = (all: (number | undefined)[]) => `{${[...new Set(all.filter((id) => id !== undefined))].toSorted((a, b) => a - b).join()}}`
  const collections = await sql<{ id: number }>`
    select id from collections where account_id = ${accountId} and id = any(${ids(goals.map((goal) => goal.collection_id))}::int4[])
    order by id for key share`.execute(tx)
  const categories = await sql<{ id: number }>`
    select id from categories where id = any(${ids(goals.map((goal) => goal.category_id))}::int4[]) order by id for key share`.execute(tx)
  const set = ({ rows }: { rows: { id: number }[] }) => new Set(rows.map(({ id }) => id))
  return { collections: set(collections), categories: set(categories) }
}

/**
 * Creates watches of goals; those that exist stay as they are. New ones are compared in the next run.
 * @param goals each once
 * @returns in order
 */
export async function writeGoals(
  tx: Tx,
  accountId: number,
  goals: readonly NewGoal[],
  now: Date,
  today: string,
): Promise<{ id: number; isNew: boolean }[]> {
  if (goals.length === 0) return []
  const { rows } = await sql<{ n: number; id: number; isNew: boolean }>`
    with sent as materialized (
      select * from unnest(${goals.map((goal) => goal.collectionId)}::int4[], ${goals.map((goal) => goal.categoryId)}::int4[],
        ${goals.map(({ goal }) => goal)}::text[], ${goals.map(({ language }) => language)}::text[])
        with ordinality s (collection_id, category_id, goal, language, n)
    ), written as (
      insert into watches as w (account_id, kind, collection_id, category_id, goal, language, due_day, created_at, updated_at)
      select ${accountId}, ${GOAL_WATCH_KIND}, collection_id, category_id, goal, language, ${today}::date, ${now}, ${now} from sent order by n
      on conflict (collection_id, category_id, goal, language) where collection_id is not null do update set updated_at = w.updated_at
      returning w.id, w.collection_id, w.category_id, w.goal, w.language, w.xmax = 0 as "isNew"
    )
    select n::int4 as n, id, "isNew" from sent join written using (collection_id, category_id, goal, language) order by n`.execute(tx)
  return rows.map(({ id, isNew }) => ({ id, isNew }))
}

/** A watch that is compared: what its event would state, and its owner. */
export interface DueGoal extends NewGoal {
  id: number
  accountId: number
  plan: Plan
  suspended: boolean
  collectionName: string
  categoryName: string
  /** null before the first comparison */
  complete: boolean | null
  /** identifies this comparison: the first node that settles it changes the day */
  dueDay: string
}

/** Watches that are due today. */
export async function dueGoals(on: Queryable, today: string, limit: number): Promise<DueGoal[]> {
  const { rows } = await sql<DueGoal>`
    select w.id, w.account_id as "accountId", a.plan, a.suspended, w.collection_id as "collectionId", c.name as "collectionName",
      w.category_id as "categoryId", s.name as "categoryName", w.goal, w.language, w.complete, w.due_day::text as "dueDay"
    from watches w join accounts a on a.id = w.account_id join collections c on c.id = w.collection_id join categories s on s.id = w.category_id
    where w.due_day <= ${today}::date and w.collection_id is not null order by w.due_day, w.id limit ${limit}`.execute(on)
  return rows
}

/** The day on which the next goal is compared, in the zone of the service; null without watched goals. */
export async function nextGoalDay(on: Queryable, zone: string): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(due_day)::timestamp at time zone ${zone} as at from watches where kind = ${GOAL_WATCH_KIND}`.execute(on)
  return rows[0]!.at
}

/** What a comparison found. */
export interface SettledGoal {
  id: number
  dueDay: string
  complete: boolean | null
  isTold: boolean
}

/**
 * Stores results, except of watches that were deleted or that another node has compared; all are due again on the next day.
 * @returns ids of the stored ones
 */
export async function settleGoals(tx: Tx, settled: readonly SettledGoal[], today: string): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    with locked as materialized (
      select w.id, s.complete, s."isTold" from json_to_recordset(${JSON.stringify(settled)}::json) as s (id int4, "dueDay" date, complete boolean, "isTold" boolean)
      join watches w on w.id = s.id and w.due_day = s."dueDay" order by w.id for update of w
    )
    update watches w set complete = l.complete, due_day = ${today}::date + 1, told_day = case when l."isTold" then ${today}::date else w.told_day end
    from locked l where w.id = l.id returning w.id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}
