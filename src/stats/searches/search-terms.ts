// Counts what people search for, by week: the searches for a term, and whether enough people sent it for it to be shown.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { Cache } from '#core/cache.ts'
import { DAY_MS } from '#core/duration.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'

/** A term is shown once this many people have searched for it within a week; until then, their marks are kept to tell them apart. */
export const ENOUGH_PEOPLE = 20
/** Terms counted between two flushes; the others of that time are not counted. */
const TERMS_AT_ONCE = 5_000
/** Terms of a week below `ENOUGH_PEOPLE` that are kept: those with the fewest people are forgotten first. */
const RARE_TERMS = 50_000
const KEPT_WEEKS = 53
const CACHED_MARKS = 10_000
const MONDAY = 4 * DAY_MS
const WEEK_MS = 7 * DAY_MS

interface Counted {
  searches: number
  /** of people, different in each week and without a way back to them */
  marks: Set<number>
}

/** The Monday (UTC) of a moment's week, as YYYY-MM-DD. */
export function weekOf(moment: Date): string {
  // 1970-01-05 was a Monday.
  const ms = moment.getTime()
  return new Date(ms - ((ms - MONDAY) % WEEK_MS)).toISOString().slice(0, 10)
}

/** Counts the searches that this node serves; `flush` adds them to the table. */
export class SearchTerms {
  readonly #db: Db
  readonly #now: () => Date
  readonly #secret: () => string
  #week = ''
  /** by account and address: a digest for each search would take 3 % of its time */
  #marks = new Cache<string, number>({ limit: CACHED_MARKS })
  #counted = new Map<string, Counted>()

  /** @param secret the same on all nodes, so that they know the same people */
  constructor({ db, now, secret }: { db: Db; now: () => Date; secret: () => string }) {
    this.#db = db
    this.#now = now
    this.#secret = secret
  }

  /** Counts a search. @param term folded @param address of the client */
  note(viewer: Viewer, term: string, address: string): void {
    if (viewer.kind !== 'account') return
    const known = this.#counted.get(term)
    const counted = known ?? { searches: 0, marks: new Set() }
    if (!known) {
      if (this.#counted.size >= TERMS_AT_ONCE) return
      this.#counted.set(term, counted)
    }
    counted.searches += 1
    if (counted.marks.size < ENOUGH_PEOPLE) counted.marks.add(this.#markOf(`${viewer.accountId} ${address}`))
  }

  #markOf(person: string): number {
    const known = this.#marks.get(person)
    if (known !== undefined) return known
    this.#week ||= weekOf(this.#now())
    const mark = hash('sha256', `${this.#secret()} ${this.#week} ${person}`, 'buffer').readInt32BE(0)
    this.#marks.set(person, mark)
    return mark
  }

  /** Adds the counts to the table; rejects with the database's error, and loses the counts of that time. */
  async flush(): Promise<void> {
    const week = this.#week || weekOf(this.#now())
    const counted = [...this.#counted].sort(([a], [b]) => (a < b ? -1 : 1))
    this.#counted = new Map()
    this.#week = ''
    this.#marks = new Cache({ limit: CACHED_MARKS })
    if (counted.length === 0) return
    const rows = counted.map(([term, { searches, marks }]) => ({ term, searches, marks: [...marks] }))
    await inTransaction(this.#db, (tx) =>
      sql`
        insert into search_terms as t (week, term, searches, people, marks)
        select ${week}::date, term, searches, cardinality(marks), case when cardinality(marks) >= ${ENOUGH_PEOPLE} then '{}' else marks end
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) r (term text, searches int8, marks int4[])
        on conflict (week, term) do update set searches = t.searches + excluded.searches, (people, marks) = (
          select case when enough then ${ENOUGH_PEOPLE} else n end, case when enough then '{}' else marks end
          from (
            select array_agg(distinct mark) as marks, count(distinct mark)::int2 as n,
              greatest(t.people, excluded.people) >= ${ENOUGH_PEOPLE} or count(distinct mark) >= ${ENOUGH_PEOPLE} as enough
            from unnest(t.marks || excluded.marks) mark
          ) both_nodes)`.execute(tx),
    )
  }
}

/** Removes old weeks, the terms of earlier weeks that are never shown, and the rarest ones of this week if there are too many. */
export async function forgetSearches(db: Db, now: Date): Promise<void> {
  const week = weekOf(now)
  const oldest = weekOf(new Date(now.getTime() - KEPT_WEEKS * WEEK_MS))
  await sql`
    delete from search_terms where week < ${oldest}::date or (week < ${week}::date and people < ${ENOUGH_PEOPLE})
      or ctid = any(array(
        select ctid from search_terms where week = ${week}::date and people < ${ENOUGH_PEOPLE}
        order by people desc, searches desc offset ${RARE_TERMS}))`.execute(db.kysely)
}
