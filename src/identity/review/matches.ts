// Matches as operators see them: each is a source record that is pending or was decided, with its candidates.
import { type RawBuilder, sql } from 'kysely'
import type { Facts } from '#catalogue/records/facts.ts'
import { Details, ForeignIdList } from '#catalogue/records/fields.ts'
import { byPlainness, FIT, finishFit, finishRules, finishSlug, finishWords } from '#catalogue/records/finishes.ts'
import type { FinishRules } from '#games/schema.ts'
import type { ForeignId } from '#catalogue/records/catalogue-records.ts'
import { itemsWithPrices } from '#catalogue/items/stored-items.ts'
import { ItemPriceSchema, type StoredItem, StoredItemSchema } from '#catalogue/stored-schemas.ts'
import { existing, missing, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import type { Range, Rows } from '#core/paging.ts'
import { countIn, where, withTotal } from '#db/page.ts'
import type { Queryable } from '#db/schema.ts'
import type { Reason } from '#matching/matcher-types.ts'
import { REASON_RULES, reasonText } from './reason-text.ts'

export const MATCH_STATES = ['waiting', 'postponed', 'decided'] as const
export type MatchState = (typeof MATCH_STATES)[number]

const Time = Type.String({ format: 'date-time', description: 'UTC' })

const ReasonSchema = Type.Object(
  {
    rule: Type.Enum([...REASON_RULES]),
    params: Type.Record(Type.String(), Type.Unknown(), { description: 'Finding of the rule' }),
    text: Type.String({ description: 'Explanation in English', examples: ['hit points differ: 120 and 90'] }),
  },
  { title: 'MatchReason' },
)

const MatchItemSchema = Type.Object(
  { ...StoredItemSchema.properties, prices: Type.Array(ItemPriceSchema, { description: 'Current prices of all markets' }) },
  { title: 'MatchItem' },
)
type MatchItem = Static<typeof MatchItemSchema>

const MatchRecordSchema = Type.Object(
  {
    record_id: Type.Integer(),
    source: Type.String({ examples: ['pokemontcg'] }),
    foreign_id: Type.String({ description: 'Id assigned by the source', examples: ['base1-4'] }),
    finishes: Type.Array(Type.String(), { description: 'Empty if the source does not state one' }),
    market: orNull(Type.Enum([...MARKETS])),
    ref: orNull(Type.String()),
    name: Type.String(),
    code: orNull(Type.String({ description: 'Collector number' })),
    category: orNull(Type.Object({ id: Type.Integer(), ref: Type.String(), name: Type.String() })),
    images: StoredItemSchema.properties.images,
    attributes: StoredItemSchema.properties.attributes,
    details: Details,
    foreign_ids: ForeignIdList,
    item_id: orNull(Type.Integer({ description: 'Item the record currently belongs to' })),
    prices: Type.Array(ItemPriceSchema, { description: 'Id of that item' }),
  },
  { title: 'MatchRecord' },
)
type MatchRecord = Static<typeof MatchRecordSchema>

export const MatchSchema = Type.Object(
  {
    id: Type.Integer(),
    state: Type.Enum([...MATCH_STATES]),
    game: Type.String(),
    record: MatchRecordSchema,
    reasons: Type.Array(ReasonSchema, { description: 'Why no rule could decide' }),
    candidates: Type.Array(
      Type.Object(
        { item: MatchItemSchema, score: Type.Integer({ description: '0 to 100' }), reasons: Type.Array(ReasonSchema) },
        { title: 'MatchCandidate' },
      ),
      { description: 'Best match first' },
    ),
    waiting_since: Time,
    decision: orNull(
      Type.Object({
        kind: Type.Enum(['accepted', 'separated']),
        item_id: Type.Integer({ description: 'Item that matches the record' }),
        author: Type.String(),
        at: Time,
      }),
    ),
  },
  { title: 'Match' },
)
export type Match = Static<typeof MatchSchema>

export interface MatchFilter {
  state?: MatchState
  game?: string
  source?: string
  set?: string
  reason?: Reason['rule']
}

interface MatchRow {
  id: number
  state: MatchState
  record_id: number
  record_ids: number[]
  game: string
  reasons: Reason[]
  candidates: { record_id: number; score: number; reasons: Reason[] }[]
  waiting_since: Date
  decision: 'accepted' | 'separated' | null
  item_id: number | null
  author: string | null
  decided_at: Date | null
}

const MATCHES = sql`(
  select id, case when postponed then 'postponed' else 'waiting' end as state, record_id, record_ids, game, set_ref, reasons, candidates, waiting_since,
    null as decision, null::int4 as item_id, null as author, null::timestamptz as decided_at
  from match_queue
  union all
  select id, 'decided', record_id, record_ids, game, set_ref, reasons, candidates, waiting_since, decision, live_item(item_id), author, decided_at
  from decided_matches
) m`

/** Pending matches are sorted by set and arrival, decided ones newest first. */
export function pageOfMatches(on: Queryable, filter: MatchFilter, { limit, offset }: Range): Promise<Rows<Match>> {
  const { state = 'waiting', game, source, set, reason } = filter
  const ofSet = sql`(
    m.set_ref = ${set} or exists (select from categories c where c.ref = m.set_ref and c.game = m.game and lower(c.name) = lower(${set}))
  )`
  const matching = where(
    sql`m.state = ${state}`,
    game !== undefined && sql`m.game = ${game}`,
    source !== undefined && sql`exists (select from source_records r where r.id = m.record_id and r.source = ${source})`,
    set !== undefined && ofSet,
    reason !== undefined && sql`m.reasons @> ${JSON.stringify([{ rule: reason }])}::jsonb`,
  )
  const rows = viewsOf(on, sql`${matching} order by m.decided_at desc, m.game, m.set_ref, m.id limit ${limit} offset ${offset}`)
  return withTotal(rows, countIn(on, sql`from ${MATCHES} ${matching}`))
}

/** @throws NOT_FOUND, also for a match that ended without a decision */
export async function fetchMatch(on: Queryable, id: number): Promise<Match> {
  const [match] = await viewsOf(on, sql`where m.id = ${existing('match', id)}`)
  if (!match) throw missing('match', id)
  return match
}

async function viewsOf(on: Queryable, which: RawBuilder<unknown>): Promise<Match[]> {
  const { rows } = await sql<MatchRow>`select m.* from ${MATCHES} ${which}`.execute(on)
  if (rows.length === 0) return []
  const records = await recordsOf(
    on,
    rows.flatMap((row) => row.record_ids),
  )
  const candidates = await itemsOfCards(on, [...new Set(rows.flatMap((row) => row.candidates.map((candidate) => candidate.record_id)))])
  const own = records.values().flatMap(({ items }) => items)
  const items = await itemsWithPrices(on, [...new Set([...own, ...[...candidates.values()].flat()])])
  return rows.map((row) => viewOf(row, records, candidates, items))
}

function viewOf(
  row: MatchRow,
  records: ReadonlyMap<number, StoredRecord>,
  cards: ReadonlyMap<number, number[]>,
  items: ReadonlyMap<number, MatchItem>,
): Match {
  const own = row.record_ids.flatMap((id) => records.get(id) ?? [])
  const finishes = [...new Set(own.flatMap(({ finish }) => finish || []))].sort(byPlainness(finishRules(row.game)))
  const reasonsOf = (reasons: readonly Reason[]) => reasons.map((reason) => ({ ...reason, text: reasonText(reason) }))
  const shown = new Set<number>()
  return {
    id: row.id,
    state: row.state,
    game: row.game,
    record: recordView(records.get(row.record_id)!, own, finishes, items),
    reasons: reasonsOf(row.reasons),
    candidates: row.candidates.flatMap(({ record_id: recordId, score, reasons }) => {
      const item = fitting(
        (cards.get(recordId) ?? []).flatMap((id) => items.get(id) ?? []),
        finishes,
        finishRules(row.game),
      )
      // Two of the records may have been linked to the same item since then.
      if (!item || shown.has(item.id)) return []
      shown.add(item.id)
      return [{ item, score, reasons: reasonsOf(reasons) }]
    }),
    waiting_since: row.waiting_since.toISOString(),
    decision: row.decision === null ? null : { kind: row.decision, item_id: row.item_id!, author: row.author!, at: row.decided_at!.toISOString() },
  }
}

/** The item of the card that has the finish, or else the plainest one. */
function fitting(items: readonly MatchItem[], finishes: readonly string[], rules: FinishRules): MatchItem | undefined {
  const ordered = items.toSorted((a, b) => byPlainness(rules)(finishOf(a, rules), finishOf(b, rules)) || a.id - b.id)
  const [finish, ...others] = finishes
  if (finish === undefined || others.length > 0) return ordered[0]
  return (
    ordered.find((item) => finishFit(finishWords(finish, rules), finishWords(finishOf(item, rules) ?? '', rules), rules) !== FIT.none) ?? ordered[0]
  )
}

function finishOf({ attributes }: Pick<StoredItem, 'attributes'>, rules: FinishRules): string | null {
  const shown = attributes.find(({ name }) => name === 'Finish')?.value
  return shown === undefined ? null : finishSlug(shown, rules)
}

interface StoredRecord {
  id: number
  source: string
  foreign_id: string
  finish: string
  facts: Facts
  category: { id: number; ref: string; name: string } | null
  items: number[]
}

async function recordsOf(on: Queryable, ids: readonly number[]): Promise<Map<number, StoredRecord>> {
  const { rows } = await sql<StoredRecord>`
    select r.id, r.source, r.foreign_id, r.finish, r.facts,
      (select json_build_object('id', c.id, 'ref', c.ref, 'name', c.name) from categories c
        where c.market = r.facts->>'market' and c.ref = r.facts->>'category') as category,
      array(select s.item_id from item_sources s join items i on i.id = s.item_id where s.record_id = r.id order by s.item_id) as items
    from source_records r where r.id = any(${ids}::int4[])`.execute(on)
  return new Map(rows.map((row) => [row.id, row]))
}

function recordView(record: StoredRecord, all: readonly StoredRecord[], finishes: string[], items: ReadonlyMap<number, MatchItem>): MatchRecord {
  const { facts } = record
  const itemId = all.flatMap((one) => one.items)[0] ?? null
  const ids = new Map(all.flatMap((one) => one.facts.foreign_ids ?? []).map((id) => [`${id.source}\t${id.id}\t${id.finish ?? ''}`, id]))
  const stated = Object.fromEntries(Object.entries(facts.details ?? {}).filter(([, value]) => value !== null))
  return {
    record_id: record.id,
    source: record.source,
    foreign_id: record.foreign_id,
    finishes,
    market: facts.market ?? null,
    ref: facts.ref ?? null,
    name: facts.name ?? '',
    code: facts.code ?? null,
    category: record.category,
    images: facts.images ?? [],
    attributes: (facts.attributes ?? []).flatMap(({ name, value }) => (value === null ? [] : [{ name, value }])),
    details: stated as MatchRecord['details'],
    foreign_ids: [...ids.values()].map(({ source, id, finish }: ForeignId) => ({ source, id, ...(finish && { finish }) })),
    item_id: itemId,
    prices: itemId === null ? [] : (items.get(itemId)?.prices ?? []),
  }
}

/** Ids of the items of each record's card, by record: items linked to it or to another printing of the same card in its source. */
async function itemsOfCards(on: Queryable, recordIds: readonly number[]): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ id: number; items: number[] }>`
    select r.id, array_agg(distinct s.item_id order by s.item_id) as items
    from source_records r join source_records o using (source, foreign_id) join item_sources s on s.record_id = o.id
    where r.id = any(${recordIds}::int4[]) and o.active
    group by r.id`.execute(on)
  return new Map(rows.map((row) => [row.id, row.items]))
}
