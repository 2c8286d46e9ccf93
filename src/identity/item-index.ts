// All items of a game in memory, for rows that describe an item instead of naming it by an id.
import { sql } from 'kysely'
import { rankOf } from '#catalogue/facts.ts'
import { finishSlug } from '#catalogue/finishes.ts'
import type { Tx } from '#db/schema.ts'
import { CardIndex, type IndexedRecord } from '#matching/card-index.ts'
import type { Genre } from '#catalogue/records.ts'
import { cardKey, recordKey } from '#matching/records.ts'
import { gameRecords, matchRecordOf, setsOfGame } from './game-records.ts'

const ASIAN = ['ja', 'zh-tw', 'zh-cn', 'zh', 'ko', 'th', 'id']
/** Source of the records that stand for items of before records existed. */
const CATALOGUE = 'catalogue'

/**
 * Reads the items of a game with what their sources say of them, other than ids.
 * @param game slug; null for all games
 * @param families of `familiesOf`; null for all
 */
export async function loadItemIndex(tx: Tx, game: string | null, families: readonly string[] | null): Promise<CardIndex> {
  const { rows: worlds } = await sql<{ game: string; world: string }>`
    select distinct game, world from source_records where active and (${game}::text is null or game = ${game}) and (${families}::text[] is null or world = any(${families}::text[])) order by game, world`.execute(
    tx,
  )
  const indexed: IndexedRecord[] = await itemsWithoutRecords(tx, game)
  for (const world of worlds) {
    const sets = await setsOfGame(tx, world.game)
    const records = (await gameRecords(tx, world)).filter(({ name, items }) => name !== null && items.length > 0)
    // Who asks has looked for ids before: they would take half of the memory.
    const matched = records.map((record) => ({ record, match: { ...matchRecordOf(record, world, sets, new Map()), shopIds: [] } }))
    const finishes = new Map<number, string | null>()
    // Records that are of one item only say which finish it is.
    const ranked = matched.toSorted((a, b) => rankOf(a.record.source) - rankOf(b.record.source))
    for (const { record, match } of ranked) {
      for (const [n, item] of record.items.entries()) {
        if (!record.wholes[n] && (finishes.get(item) ?? null) === null) finishes.set(item, match.finish)
      }
    }
    for (const { record, match } of matched) {
      for (const itemId of record.items) indexed.push({ itemId, finish: finishes.get(itemId) ?? null, record: match })
    }
  }
  return new CardIndex(indexed)
}

/** The families of records that can be a print in the language; null for any. */
export function familiesOf(language: string | undefined): readonly string[] | null {
  if (language === undefined) return null
  return [ASIAN.includes(language) ? 'asia' : 'international', `onepiece-${language}`, 'sealed', CATALOGUE]
}

interface ItemRow {
  id: number
  name: string
  code: string | null
  genre: Genre
  game: string
  category_id: number
  category: string
  finish: string | null
}

/** A database of before records existed has items only. */
async function itemsWithoutRecords(tx: Tx, game: string | null): Promise<IndexedRecord[]> {
  const { rows } = await sql<ItemRow>`
    select i.id, i.name, i.code, i.genre, i.game, i.category_id, c.name as category,
      (select a->>'value' from jsonb_array_elements(i.attributes) a where a->>'name' = 'Finish' limit 1) as finish
    from items i join categories c on c.id = i.category_id
    where (${game}::text is null or i.game = ${game}) and not exists (
      select from item_sources s join source_records r on r.id = s.record_id where s.item_id = i.id and r.active and r.facts ? 'name')`.execute(tx)
  return rows.map(({ id, name, code, genre, game: own, category_id: categoryId, category, finish: stated }) => {
    const finish = stated === null ? null : finishSlug(stated)
    const isProduct = genre === 'sealed' || genre === 'bundle'
    const set = isProduct ? null : { ref: `category:${categoryId}`, name: category, codes: [], printedTotal: null }
    const key = String(id)
    return {
      itemId: id,
      finish,
      record: {
        key: recordKey(CATALOGUE, key, finish),
        source: CATALOGUE,
        id: key,
        card: cardKey(CATALOGUE, `${categoryId} ${code} ${name}`),
        game: own,
        genre,
        family: CATALOGUE,
        set,
        number: code,
        name,
        finish,
        shopIds: [],
      },
    }
  })
}
