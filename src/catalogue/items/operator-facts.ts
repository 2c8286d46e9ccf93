// Facts stated by an operator: a separate source record with only the fields that were sent.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import { detailsToRow } from '../records/details.ts'
import { type Facts, factsOfRecord, foreignIdKey, mergedFacts } from '../records/facts.ts'
import type { ItemFields } from './item-fields.ts'
import { worldOf } from '../records/record-origin.ts'
import type { Genre } from '../records/catalogue-records.ts'
import { statedFacts } from './source-records.ts'
import type { ItemWrite } from '../records/item-store.ts'

/** The facts of a manually created item: all that were sent. */
export async function factsOfNew(tx: Tx, write: ItemWrite): Promise<Facts> {
  return factsOfRecord({ ...write.record, groups: await groupSlugs(tx, write.groupIds) })
}

/**
 * The facts stated by a change: the sent fields, each as a whole. Values of other sources that it omits are stated as absent, because
 * the next import would restore them otherwise.
 * @param sent names of the sent fields
 * @param write the item after the change
 */
export async function factsOfChange(tx: Tx, id: number, sent: readonly (keyof ItemFields)[], write: ItemWrite): Promise<Facts> {
  const records = (await statedFacts(tx, [id])).get(id) ?? []
  const others = mergedFacts(records.filter(({ source }) => source !== 'operator'))
  const { market, ref, name, code, genre, game, slug, category, images, attributes, details, foreignIds } = write.record
  const named = new Set(attributes.map((attribute) => attribute.name))
  const newDetails = detailsToRow(details)
  const newIds = new Set(foreignIds.map(foreignIdKey))
  const stated: { [field in keyof ItemFields]-?: () => Promise<Facts> | Facts } = {
    market: () => ({ market, category }),
    // A category is known by market and ref: with both, the statement also follows a new ref of the category.
    category_id: () => ({ market, category }),
    ref: () => ({ ref }),
    name: () => ({ name }),
    code: () => ({ code }),
    genre: () => ({ genre }),
    game: () => ({ game }),
    slug: () => (slug === undefined ? {} : { slug }),
    images: () => ({ images }),
    groups: async () => ({ groups: await groupSlugs(tx, write.groupIds) }),
    attributes: () => {
      const removed = (others.attributes ?? []).filter((attribute) => !named.has(attribute.name))
      return { attributes: [...attributes, ...removed.map((attribute) => ({ name: attribute.name, value: null }))] }
    },
    details: () => ({ details: { ...Object.fromEntries(Object.keys(others.details ?? {}).map((key) => [key, null])), ...newDetails } }),
    foreign_ids: () => ({
      foreign_ids: foreignIds,
      without_ids: (others.foreign_ids ?? []).filter((foreignId) => !newIds.has(foreignIdKey(foreignId))),
    }),
  }
  const parts: Facts[] = []
  for (const field of sent) parts.push(await stated[field]())
  return Object.assign({}, ...parts) as Facts
}

async function groupSlugs(tx: Tx, ids: readonly number[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx.selectFrom('groups').select('slug').where('id', 'in', ids).orderBy('id').execute()
  return rows.map((row) => row.slug)
}

/** Stores an operator's facts about an item, in addition to earlier ones. */
export async function stateByOperator(
  tx: Tx,
  itemId: number,
  facts: Facts,
  by: { game: string; genre: Genre; author: string; at: Date },
): Promise<void> {
  const key = { source: 'operator', id: String(itemId), finish: '' }

  await sql`
    with record as (
      insert into source_records (source, foreign_id, game, world, facts)
      values ('operator', ${key.id}, ${by.game}, coalesce(
        (select r.world from item_sources s join source_records r on r.id = s.record_id where s.item_id = ${itemId}::int4 order by r.id limit 1),
        ${worldOf(key, { genre: by.genre })}
      ), ${JSON.stringify(facts)}::jsonb)
      on conflict (source, foreign_id, finish) do update set facts = source_records.facts || excluded.facts, active = true
      returning id
    )
    insert into item_sources (record_id, item_id, method, confidence, decided_by, decided_at)
    select id, ${itemId}::int4, 'operator', 100, ${by.author}, ${by.at}::timestamptz from record
    on conflict (record_id, item_id) do update set decided_by = excluded.decided_by, decided_at = excluded.decided_at`.execute(tx)
}
