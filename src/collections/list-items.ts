// All records of a collection, newest first, in batches (interface.md, "GET /api/v1/plus/collections/{id}/items"), or one page of them.
import { sql } from 'kysely'
import { imagesOf } from '#catalogue/snapshot/item-json.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { pageOfRecords, RECORD_PAGE_PARAMS, type RecordFilter } from './page-records.ts'
import { WithValue } from './records/fields.ts'
import { PAST_NEWEST, recordOf, recordsBefore, type RecordRow, requireCollection } from './records/store.ts'
import type { CollectionReadCtx, PricingCtx, RecordItem, ValuedRecord } from './records/types.ts'
import { recordWithValue } from './worth.ts'

const BATCH = 1_000

/** The newest records, then further batches read on demand; no database connection is held while the client does not read. */
export interface RecordList {
  first: ValuedRecord[]
  more: AsyncIterable<ValuedRecord[]> | null
}

const WithItem = Type.Optional(Type.Boolean({ default: false, description: '`1` adds number, set, printing and image of each item' }))

export const listCollectionItems = verb(
  {
    name: 'listCollectionItems',
    needs: OPERATION_PLAN.listCollectionItems,
    input: Type.Object({ id: id('collection'), with_value: WithValue, with_item: WithItem, ...RECORD_PAGE_PARAMS }),
  },
  async (ctx: CollectionReadCtx, input): Promise<RecordList | Page<ValuedRecord>> => {
    const { id: collectionId, with_value: withValue, with_item: withItem, ...paging } = input
    await requireCollection(ctx.db.kysely, ctx.viewer, collectionId)
    const show = (row: RecordRow): ValuedRecord => ({
      ...(withValue ? recordWithValue(ctx, row) : recordOf(row)),
      ...(withItem && { item: itemOf(ctx, row.item_id) }),
    })
    if (!isPage(paging)) return listOfRecords(ctx, collectionId, show)
    const { rows, pagination } = await readPage(paging, (filter, range) => pageOfRecords(ctx, collectionId, filter, range))
    return { rows: rows.map(show), pagination }
  },
)

/** `sort_order` alone, which has a default, requests no page. */
function isPage({
  page,
  per_page: perPage,
  search,
  sort_by: sort,
  for_trade: forTrade,
}: RecordFilter & { page?: number; per_page?: number }): boolean {
  return forTrade === true || [page, perPage, search, sort].some((value) => value !== undefined)
}

async function listOfRecords({ db: { kysely: db } }: PricingCtx, collectionId: number, show: (row: RecordRow) => ValuedRecord): Promise<RecordList> {
  const ofCollection = sql`r.collection_id = ${collectionId}`
  const first = await recordsBefore(db, ofCollection, PAST_NEWEST, BATCH)
  const batchesAfter = async function* (last: RecordRow | undefined) {
    while (last) {
      const rows: RecordRow[] = await recordsBefore(db, ofCollection, last.id, BATCH)
      if (rows.length > 0) yield rows.map(show)
      last = rows.length < BATCH ? undefined : rows.at(-1)
    }
  }
  return { first: first.map(show), more: first.length < BATCH ? null : batchesAfter(first.at(-1)) }
}

/** From memory, which may not have an item of the last second yet. */
function itemOf({ catalogue: { items, categories, addresses } }: PricingCtx, itemId: number): RecordItem {
  const row = items.rowOf(itemId)
  if (row < 0) return { code: null, set: null, finish: null, image: null }
  return {
    code: items.codeOf(row),
    set: categories.get(items.categoryId[row]!)?.name ?? null,
    finish: items.finishOf(row),
    image: imagesOf(itemId, items.texts.get(row).images, addresses)[0]?.url ?? null,
  }
}
