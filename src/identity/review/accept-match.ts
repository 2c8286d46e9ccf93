// Matches a pending record to an item: one of its candidates, or any item of its game and language family.
import { sql } from 'kysely'
import { adoptItems } from '#catalogue/items/adopt-items.ts'
import { rankOf } from '#catalogue/records/facts.ts'
import { byPlainness, finishKey, finishRules } from '#catalogue/records/finishes.ts'
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { FinishRules } from '#games/schema.ts'
import { liveItemId } from '#db/live-item.ts'
import type { Tx } from '#db/schema.ts'
import { recordKey } from '#matching/matcher-types.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { decideMatch, type NamedRecord, namedRecords, type QueuedMatch, type Verdict } from './decide-match.ts'
import type { Pair } from '../records/decisions.ts'

export const acceptMatch = verb(
  {
    name: 'acceptMatch',
    needs: 'catalogue',
    input: Type.Object({
      id: id('match'),
      item_id: Type.Integer({ description: 'Item that matches the record: one of the candidates or another item' }),
    }),
  },
  (ctx: PriceWriteCtx, { id, item_id: itemId }) =>
    decideMatch(ctx, id, { decision: 'accepted', verdicts: (tx, match) => verdictsToJoin(tx, match, itemId, ctx.now()) }),
)

/** Joins the record to the item; if the item is not one of the candidates, the record is kept apart from all of them. */
async function verdictsToJoin(tx: Tx, match: QueuedMatch, itemId: number, now: Date): Promise<Verdict[]> {
  const liveId = await liveItemId(tx, itemId)
  if (liveId === null) throw invalid('item_id', 'unknown_id', { thing: 'item', id: itemId })
  await adoptItems(tx, now, { ids: [liveId] })
  const records = await namedRecords(tx, match.record_ids)
  const others = (await recordsUnder(tx, match, liveId)).filter(({ id }) => !match.record_ids.includes(id))
  if (others.length === 0) {
    const { rows } = await sql`select from item_sources where item_id = ${liveId}::int4 and record_id = any(${match.record_ids}::int4[])`.execute(tx)
    throw invalid('item_id', rows.length > 0 ? 'own_item' : 'other_family')
  }
  const pair = await pairOf(tx, records, others, finishRules(match.game))
  const candidates = await namedRecords(
    tx,
    match.candidates.map((candidate) => candidate.record_id),
  )
  const isCandidate = candidates.some(({ source, foreign_id: id }) => others.some((other) => other.source === source && other.foreign_id === id))
  const apart = isCandidate ? [] : candidates.map(({ key }): Pair => [records[0]!.key, key])
  return [
    { kind: 'apart', pairs: apart },
    { kind: 'same', pairs: [pair] },
  ]
}

/** Records that can identify the item in a decision, best first: those of sources before our own exports and edits. */
async function recordsUnder(tx: Tx, { game, world }: QueuedMatch, itemId: number): Promise<NamedRecord[]> {
  const { rows } = await sql<Omit<NamedRecord, 'key'> & { whole: boolean }>`
    select r.id, r.source, r.foreign_id, r.finish, s.whole
    from item_sources s join source_records r on r.id = s.record_id
    where s.item_id = ${itemId}::int4 and r.active and r.facts ?& array['name', 'market'] and r.game = ${game} and r.world = ${world}
    order by r.id`.execute(tx)
  const order = ({ source, whole }: (typeof rows)[number]) =>
    Number(['operator', 'mintmark'].includes(source)) * 1_000 + Number(whole) * 100 + rankOf(source)
  return rows
    .toSorted((a, b) => order(a) - order(b))
    .map(({ whole: _whole, ...row }) => ({ ...row, key: recordKey(row.source, row.foreign_id, row.finish || null) }))
}

/**
 * The pair of records whose decision joins the two cards. Joining different finishes makes them one item, so this is done only if the cards have no
 * finish in common; otherwise each finish joins its counterpart.
 */
async function pairOf(tx: Tx, records: readonly NamedRecord[], others: readonly NamedRecord[], rules: FinishRules): Promise<Pair> {
  const same = equalFinish(records, others, rules)
  if (same) return same
  if (records.length > 1) {
    const { rows } = await sql<NamedRecord>`
      select id, source, foreign_id, finish from source_records where active and source = ${others[0]!.source} and foreign_id = ${others[0]!.foreign_id} order by id`.execute(
      tx,
    )
    const found = equalFinish(
      records,
      rows.map((row) => ({ ...row, key: recordKey(row.source, row.foreign_id, row.finish || null) })),
      rules,
    )
    if (found) return found
  }
  const [plainest] = records.toSorted((a, b) => byPlainness(rules)(a.finish || null, b.finish || null))
  return [plainest!.key, others[0]!.key]
}

function equalFinish(records: readonly NamedRecord[], others: readonly NamedRecord[], rules: FinishRules): Pair | null {
  for (const other of others) {
    for (const record of records) {
      if (record.finish === '' || other.finish === '' || finishKey(record.finish, rules) === finishKey(other.finish, rules))
        return [record.key, other.key]
    }
  }
  return null
}
