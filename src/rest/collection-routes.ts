// The public collection endpoints (interface.md, "Collections (Plus)").
import { Readable } from 'node:stream'
import { addCollectionItem } from '#collections/add-item.ts'
import { CompletionSchema, SetCompletionSchema } from '#collections/completion/completion-types.ts'
import { type CompletionCtx, type CompletionPage, readCompletion } from '#collections/completion/read-completion.ts'
import { getCollection } from '#collections/get-collection.ts'
import { getCollectionItem } from '#collections/get-item.ts'
import { listCollections } from '#collections/list-collections.ts'
import { listCollectionItems, type RecordList } from '#collections/list-items.ts'
import { MAX_DAYS, readWorthHistory } from '#collections/read-worth-history.ts'
import { removeCollectionItem } from '#collections/remove-item.ts'
import {
  type Collection,
  type CollectionReadCtx,
  CollectionRecordSchema,
  CollectionSchema,
  type OwnCollection,
  OwnCollectionSchema,
  type RecordWriteCtx,
  type TaggedRecord,
  type ValuedRecord,
  type WorthDay,
  WorthDaySchema,
} from '#collections/records/types.ts'
import { updateCollection } from '#collections/update-collection.ts'
import { type ChangedRecord, updateCollectionItem } from '#collections/update-item.ts'
import { Type } from '#core/input.ts'
import { type Page, PaginationSchema } from '#core/paging.ts'
import { JSON_HEADERS } from '#http/response.ts'
import type { Route } from '#http/route.ts'

const RECORDS = '/plus/collections/:id/items'
const tag = 'Collections'
const { id, item_id, item_name, group_label, quantity, ...changeable } = CollectionRecordSchema.properties

export const collectionRoutes: Route<CollectionReadCtx & CompletionCtx & RecordWriteCtx>[] = [
  {
    method: 'GET',
    path: '/plus/collections',
    verb: listCollections,
    summary: 'List your collections',
    description: 'With `with_value=1`, each has its `worth`: value, cost and gain by currency.',
    tag,
    answer: (collections: Collection[]) => ({ data: collections }),
    data: Type.Array(CollectionSchema),
  },
  {
    method: 'GET',
    path: '/plus/collections/:id',
    verb: getCollection,
    summary: 'Read a collection',
    description: 'With `with_value=1`, it has its `worth`.',
    tag,
    answer: (collection: OwnCollection) => ({ data: collection }),
    data: OwnCollectionSchema,
  },
  {
    method: 'PATCH',
    path: '/plus/collections/:id',
    verb: updateCollection,
    summary: 'Change or share a collection',
    description:
      'Only the given fields change. `unlisted` and `public` create `shared_url`, under which everyone who has it sees the collection without costs, ' +
      'notes, codes and your account; `public` also lets search engines list the page. `private` revokes the address at once; sharing again creates ' +
      'another one. Add `/worth.svg` to the address for a picture of the worth by day; `GET /api/v1/shared/{token}` returns the collection as JSON, ' +
      'without a key.',
    tag,
    answer: (collection: OwnCollection) => ({ data: collection, message: 'Collection updated' }),
    data: OwnCollectionSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/plus/collections/:id/completion',
    verb: readCompletion,
    summary: 'How complete a collection is',
    description:
      'For a set (`category_id`), the cards that a field query selects (`query`), or both: owned and missing cards, what the missing ones cost, and ' +
      'duplicates; `pagination` is that of `missing`, or with `with_owned=1` that of `cards`. A card counts once, however many copies and finishes you have, except for the goal `master`. ' +
      'Without `category_id` and `query`, a list of all sets of which you have a card, the fullest first.',
    tag,
    answer: ({ data, pagination }: CompletionPage) => ({ data, pagination }),
    data: Type.Union([CompletionSchema, Type.Array(SetCompletionSchema)]),
    extra: { pagination: PaginationSchema },
  },
  {
    method: 'GET',
    path: '/plus/collections/:id/worth-history',
    verb: readWorthHistory,
    summary: 'Daily worth of a collection, oldest first',
    description:
      'Calculated once a day while the collection has records, using the prices trusted at that time, and never changed afterwards. ' +
      `Days without a figure are omitted. Returns at most the latest ${MAX_DAYS} days; use \`from\` and \`to\` for others.`,
    tag,
    answer: (days: WorthDay[]) => ({ data: days }),
    data: Type.Array(WorthDaySchema),
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: RECORDS,
    verb: listCollectionItems,
    summary: 'List the records of a collection, newest first',
    description:
      'With `with_value=1`, each has its `value` (from the price that matches its grade, with market and label), `cost` and `gain`. Long lists are streamed. ' +
      'With `page`, `per_page`, `search`, `for_trade` or `sort_by`, the response is one page, with `pagination`. Amounts are sorted currency by currency, ' +
      'records without the sorted value last.',
    tag,
    answer: recordsAnswer,
    data: Type.Array(CollectionRecordSchema),
    extra: { pagination: Type.Optional(PaginationSchema) },
  },
  {
    method: 'POST',
    path: RECORDS,
    verb: addCollectionItem,
    summary: 'Add a record',
    description: 'Accepts an `Idempotency-Key`.',
    tag,
    status: 201,
    answer: ({ record, tag: etag }: TaggedRecord) => {
      const { id, item_id, item_name, group_label, quantity } = record
      return { data: { id, item_id, item_name, group_label, quantity }, message: 'Record added', etag }
    },
    data: Type.Object({ id, item_id, item_name, group_label, quantity }, { title: 'AddedCollectionRecord' }),
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: `${RECORDS}/:itemId`,
    verb: getCollectionItem,
    summary: 'Read a record',
    description: 'Send its `ETag` as `If-Match` when you change or remove it.',
    tag,
    answer: ({ record, tag: etag }: TaggedRecord) => ({ data: record, etag }),
    data: CollectionRecordSchema,
  },
  {
    method: 'PATCH',
    path: `${RECORDS}/:itemId`,
    verb: updateCollectionItem,
    summary: 'Change a record',
    description:
      'Only the given fields change; null clears any field except `quantity`. With `If-Match`, only if the record has not changed since you read it.',
    tag,
    answer: ({ record, tag: etag, changed }: ChangedRecord) => {
      const fields = Object.fromEntries(changed.map((field) => [field, record[field]]))
      return { data: { id: record.id, ...fields }, message: 'Record updated', etag }
    },
    data: Type.Object({ id, ...Type.Partial(Type.Object({ quantity, ...changeable })).properties }, { title: 'ChangedCollectionRecord' }),
    errors: ['INVALID_JSON', 'PRECONDITION_FAILED'],
  },
  {
    method: 'DELETE',
    path: `${RECORDS}/:itemId`,
    verb: removeCollectionItem,
    summary: 'Remove a record',
    tag,
    answer: () => ({ data: undefined, message: 'Record removed' }),
    errors: ['PRECONDITION_FAILED'],
  },
]

function recordsAnswer(list: RecordList | Page<ValuedRecord>) {
  if ('pagination' in list) return { data: list.rows, pagination: list.pagination }
  const { first, more } = list
  return more ? { headers: JSON_HEADERS, body: Readable.from(listBody(first, more), { highWaterMark: 1 }) } : { data: first }
}

/** Streams the envelope of a list that is too long to be held in memory. */
async function* listBody(first: object[], more: AsyncIterable<object[]>): AsyncIterable<string> {
  yield `{"success":true,"data":[${textOf(first)}`
  for await (const records of more) yield `,${textOf(records)}`
  yield ']}'
}

function textOf(records: object[]): string {
  return JSON.stringify(records).slice(1, -1)
}
