// Splits a source record from an item: it becomes a separate item and is kept apart from the item's other records.
import { sql } from 'kysely'
import { adoptItems } from '#catalogue/items/adopt-items.ts'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { unlinkRecords } from '#catalogue/items/source-records.ts'
import { lockItem } from '#catalogue/records/item-store.ts'
import { conflict, invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { recordKey } from '#matching/matcher-types.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { type Batch, fetchBatch } from './batches.ts'
import { decidePairs, endJoins, type Pair } from '../records/decisions.ts'
import type { World } from '../records/game-records.ts'
import { adoptEarlierRows } from './moved-rows.ts'
import { settle } from './settle.ts'
import { undoMerges } from './undo.ts'

export const splitItem = verb(
  {
    name: 'splitItem',
    needs: 'catalogue',
    input: Type.Object({
      id: id('item'),
      source: Type.String({ maxLength: 100, description: 'Source whose record belongs to another card', examples: ['pokemontcg'] }),
      foreign_id: Type.String({ maxLength: 500, description: 'Id assigned by the source', examples: ['base1-4'] }),
    }),
  },
  (ctx: PriceWriteCtx, { id, source, foreign_id: foreignId }) =>
    change(ctx, async (tx, note): Promise<Batch> => {
      await lockIdentity(tx)
      await adoptEarlierRows(tx)
      const itemId = await lockItem(tx, id)
      await adoptItems(tx, note.at, { ids: [itemId] })
      const records = (await recordsUnder(tx, itemId)).filter((record) => record.source !== 'operator')
      const wanted = records.filter((record) => record.source === source && record.foreign_id === foreignId)
      const others = records.filter((record) => !wanted.includes(record))
      if (wanted.length === 0) {
        throw invalid('foreign_id', 'not_a_source', { values: [...new Set(records.map((record) => `${record.source} ${record.foreign_id}`))] })
      }
      const author = actorOf(ctx.viewer)
      const ended = await endJoins(tx, wanted[0]!, others)
      await undoMerges(ctx, tx, note, await mergesThatBrought(tx, itemId, wanted))
      const pairs = await separate(ctx, tx, note, { itemId, wanted, others, author })
      const splitId = await itemOf(tx, itemId, wanted)
      if (splitId === null || pairs.length === 0) throw conflict('only_source', { id: itemId, source, foreign: foreignId })
      const { id: batchId } = await tx
        .insertInto('splits')
        .values({
          item_id: itemId,
          split_item: splitId,
          source,
          foreign_id: foreignId,
          pairs: JSON.stringify(pairs),
          ended: JSON.stringify(ended),
          author,
          at: ctx.now(),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      note.audit({ action: 'item.split', subject: 'item', id: splitId, after: { batch: batchId, from: itemId, source, foreign_id: foreignId } })
      return fetchBatch(tx, batchId)
    }),
)

interface LinkedRecord extends World {
  id: number
  source: string
  foreign_id: string
  finish: string
}

const keyOf = ({ source, foreign_id: foreignId, finish }: LinkedRecord) => recordKey(source, foreignId, finish || null)

async function recordsUnder(tx: Tx, itemId: number): Promise<LinkedRecord[]> {
  const { rows } = await sql<LinkedRecord>`
    select r.id, r.source, r.foreign_id, r.finish, r.game, r.world
    from item_sources s join source_records r on r.id = s.record_id
    where s.item_id = ${itemId}::int4 and r.active order by r.id`.execute(tx)
  return rows
}

/** Active merges that brought the records to the item. Undoing one restores the merged item with everything it had. */
async function mergesThatBrought(tx: Tx, itemId: number, records: readonly LinkedRecord[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select distinct m.id from merges m join merged_rows x on x.merge_id = m.id and x.name = 'item_sources'
    where m.into_item = ${itemId}::int4 and m.undone_at is null and x.placed
      and (x.content->>'record_id')::int4 = any(${records.map((record) => record.id)}::int4[])`.execute(tx)
  return rows.map((row) => row.id)
}

interface Separation {
  itemId: number
  wanted: readonly LinkedRecord[]
  others: readonly LinkedRecord[]
  author: string
}

/** Maximum rounds of a split: a separated record may resemble further cards, listed ten at a time, and is kept apart from those, too. */
const MAX_ROUNDS = 30

/** Stores that the two sides are different, and that each differs from the candidates with which this would leave it pending; returns the pairs. */
async function separate(ctx: PriceWriteCtx, tx: Tx, note: Note, { itemId, wanted, others, author }: Separation): Promise<Pair[]> {
  const [first] = wanted
  const decided: Pair[] = []
  let pairs = others.map((other): Pair => [keyOf(first!), keyOf(other)])
  await unlinkRecords(
    tx,
    wanted.map((record) => ({ recordId: record.id, itemId })),
  )
  for (let round = 0; pairs.length > 0 && round < MAX_ROUNDS; round += 1) {
    await decidePairs(tx, 'apart', pairs, author, note.at)
    decided.push(...pairs)
    await settle(ctx, tx, note, first!, { importId: null, touched: new Set(wanted.map((record) => record.id)) })
    pairs = await pendingPairs(tx, [...wanted, ...others])
  }
  return decided
}

async function pendingPairs(tx: Tx, records: readonly LinkedRecord[]): Promise<Pair[]> {
  const ids = records.map((record) => record.id)
  const { rows } = await sql<{ record: LinkedRecord; candidate: LinkedRecord }>`
    select to_jsonb(r) as record, to_jsonb(o) as candidate
    from match_queue q cross join lateral jsonb_array_elements(q.candidates) c
    join source_records r on r.id = q.record_id join source_records o on o.id = (c->>'record_id')::int4
    where q.record_ids && ${ids}::int4[]`.execute(tx)
  return rows.map(({ record, candidate }) => [keyOf(record), keyOf(candidate)])
}

/** The item that the records now form; null if they have none, or are still linked to the item that they should have left. */
async function itemOf(tx: Tx, left: number, records: readonly LinkedRecord[]): Promise<number | null> {
  const { rows } = await sql<{ item_id: number }>`
    select s.item_id from item_sources s join items i on i.id = s.item_id
    where s.record_id = any(${records.map((record) => record.id)}::int4[]) order by s.item_id`.execute(tx)
  if (rows.some((row) => row.item_id === left)) return null
  return rows[0]?.item_id ?? null
}
