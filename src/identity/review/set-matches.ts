// Sets that operators decide about: unmapped ones that resemble sets of other sources, and decided ones.
import { type RawBuilder, sql } from 'kysely'
import { existing, missing, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import type { Range, Rows } from '#core/paging.ts'
import { countIn, where, withTotal } from '#db/page.ts'
import type { Queryable } from '#db/schema.ts'

export const SET_MATCH_STATES = ['waiting', 'decided'] as const

const SetSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Category id' }),
    ref: Type.String({ examples: ['pokemontcg:set:base1'] }),
    name: Type.String(),
    market: Type.Enum([...MARKETS]),
    items_count: Type.Integer({ description: 'Number of items in the category' }),
  },
  { title: 'MatchedSet' },
)

export const SetMatchSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Category id of the set' }),
    state: Type.Enum([...SET_MATCH_STATES]),
    game: Type.String(),
    set: SetSchema,
    waiting: Type.Integer({ description: 'Number of its cards pending a decision' }),
    candidates: Type.Array(
      Type.Object(
        {
          set: SetSchema,
          agree: Type.Integer({ description: 'Cards with the same number and name' }),
          of: Type.Integer({ description: 'Cards of the smaller set' }),
          decided: Type.Boolean({ description: 'Whether the sets were decided to be the same' }),
        },
        { title: 'SetMatchCandidate' },
      ),
      { description: 'Similar or matching sets of other sources, best match first' },
    ),
    decision: orNull(
      Type.Object({
        set_ids: Type.Array(Type.Integer(), { description: 'Sets it was mapped to; empty: no other set' }),
        author: Type.String(),
        at: Type.String({ format: 'date-time', description: 'UTC' }),
      }),
    ),
  },
  { title: 'SetMatch' },
)
export type SetMatch = Static<typeof SetMatchSchema>
type MatchedSet = Static<typeof SetSchema>

export interface SetMatchFilter {
  state?: (typeof SET_MATCH_STATES)[number]
  game?: string
}

/** A set as stored in the catalogue. */
export interface StoredSet {
  id: number
  ref: string
  market: string
  game: string
}

const WAITING = sql`exists (select from match_set_maps m where m.from_ref = c.ref and m.game = c.game and not m.decided)`
const DECIDED = sql`exists (select from match_decisions d where d.kind = 'set' and d.a = c.ref)`

/** Those with the most pending cards first. */
export function pageOfSetMatches(on: Queryable, { state = 'waiting', game }: SetMatchFilter, { limit, offset }: Range): Promise<Rows<SetMatch>> {
  const matching = where(state === 'waiting' ? WAITING : DECIDED, game !== undefined && sql`c.game = ${game}`)
  const rows = viewsOf(on, sql`${matching} order by waiting desc, c.name, c.id limit ${limit} offset ${offset}`)
  return withTotal(rows, countIn(on, sql`from categories c ${matching}`))
}

/** Any set, including those decided by a rule. @throws NOT_FOUND */
export async function fetchSetMatch(on: Queryable, id: number): Promise<SetMatch> {
  const [match] = await viewsOf(on, sql`where c.id = ${existing('set', id)}`)
  if (!match) throw missing('set', id)
  return match
}

/** @throws NOT_FOUND */
export async function fetchSet(on: Queryable, id: number): Promise<StoredSet> {
  const set = await findSet(on, existing('set', id))
  if (!set) throw missing('set', id)
  return set
}

/** The set, or undefined if no category has the id. */
export function findSet(on: Queryable, id: number): Promise<StoredSet | undefined> {
  return on.selectFrom('categories').select(['id', 'ref', 'market', 'game']).where('id', '=', id).executeTakeFirst()
}

interface SetRow {
  id: number
  game: string
  ref: string
  name: string
  market: MatchedSet['market']
  items_count: number
  waiting: number
  candidates: SetMatch['candidates'] | null
  decision: { set_ids: (number | null)[]; author: string; at: string } | null
}

async function viewsOf(on: Queryable, which: RawBuilder<unknown>): Promise<SetMatch[]> {
  const count = (of: RawBuilder<unknown>) => sql`(select count(*)::int4 from items i where i.category_id = ${of})`
  const { rows } = await sql<SetRow>`
    select c.id, c.game, c.ref, c.name, c.market, ${count(sql`c.id`)} as items_count,
      (select count(*)::int4 from match_queue q where q.set_ref = c.ref and q.game = c.game) as waiting,
      (select json_agg(json_build_object(
          'set', json_build_object('id', t.id, 'ref', t.ref, 'name', t.name, 'market', t.market, 'items_count', ${count(sql`t.id`)}),
          'agree', m.agree, 'of', m.cards, 'decided', m.decided) order by m.decided desc, m.agree desc, t.id)
        from match_set_maps m join categories t on t.ref = m.to_ref and t.game = m.game
        where m.from_ref = c.ref and m.game = c.game) as candidates,
      (select json_build_object(
          'set_ids', json_agg(t.id order by t.id), 'author', (array_agg(d.author order by d.id desc))[1], 'at', max(d.decided_at at time zone 'UTC'))
        from match_decisions d left join categories t on t.ref = d.b and t.game = c.game
        where d.kind = 'set' and d.a = c.ref having count(*) > 0) as decision
    from categories c ${which}`.execute(on)
  return rows.map(({ id, game, ref, name, market, items_count, waiting, candidates, decision }) => ({
    id,
    state: candidates?.some((candidate) => !candidate.decided) || decision === null ? 'waiting' : 'decided',
    game,
    set: { id, ref, name, market, items_count },
    waiting,
    candidates: candidates ?? [],
    decision: decision && {
      set_ids: decision.set_ids.flatMap((setId) => setId ?? []),
      author: decision.author,
      at: new Date(`${decision.at}Z`).toISOString(),
    },
  }))
}
