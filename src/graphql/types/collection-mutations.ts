// Mutations of collection records (interface.md, "GraphQL").
import { addCollectionItem } from '#collections/add-item.ts'
import { MAX_QUANTITY } from '#intake/cells.ts'
import { type CollectionRecord, CollectionRecordSchema } from '#collections/records/types.ts'
import { removeCollectionItem } from '#collections/remove-item.ts'
import { updateCollectionItem } from '#collections/update-item.ts'
import { idOf } from '../building/arguments.ts'
import type { Builder } from '../building/builder.ts'
import { inputFrom, objectFrom } from '../building/from-schema.ts'
import { certificateInput } from '../building/certificate-input.ts'
import { callByFields } from './mutating.ts'
import { messageType, successField } from './results.ts'

interface RecordResult extends CollectionRecord {
  message: string
}

const collectionPath = (args: { collectionId: string | number }) => ({ id: ['collectionId', idOf(args.collectionId)] }) as const
const recordPath = (args: { collectionId: string | number; itemId: string | number }) =>
  ({ ...collectionPath(args), itemId: ['itemId', idOf(args.itemId)] }) as const

export function implementCollectionMutations(builder: Builder): void {
  const input = inputFrom(builder, addCollectionItem.input, {
    allOptional: true,
    name: 'CollectionItemInput',
    description: 'Fields of a collection record. Omitted fields stay unchanged; null clears prices, date, code, note and certificate.',
    omit: ['id'],
    types: { certificate: certificateInput(builder) },
    texts: {
      purchase_date: 'Purchase date, YYYY-MM-DD',
      item_id: 'Item in the catalogue; required to add a record, cannot be changed',
      item_group_type_id: 'Condition or grade allowed for the item; default: Ungraded, otherwise the first allowed one. Cannot be changed',
      quantity: `Number of copies, 1 to ${MAX_QUANTITY}; default for a new record: 1`,
    },
  })
  const record = objectFrom(builder, CollectionRecordSchema, {
    name: 'CollectionItemResult',
    description: 'A collection record after a change.',
    omit: ['item_slug', 'value', 'value_missing', 'cost', 'gain', 'item'],
    types: { sale_price: 'Float' },
  })
  builder.objectFields(record, (t) => ({
    success: successField(t),
    message: t.string({ description: 'Human-readable message.', resolve: (of: Partial<RecordResult>) => of.message }),
  }))
  const item = record as unknown as ReturnType<typeof builder.objectRef<RecordResult>>
  const simple = messageType(builder, 'SimpleResult', 'Result of a mutation.', { nullable: true })
  builder.mutationFields((t) => {
    const collectionId = t.arg.id({ required: true, description: 'Id of one of your collections.' })
    const itemId = t.arg.id({ required: true, description: 'Id of the record, not of the item.' })
    return {
      addCollectionItem: t.field({
        type: item,
        description: 'Adds a record to a collection.',
        args: { collectionId, input: t.arg({ type: input, required: true, description: 'The record.' }) },
        resolve: async (_root, args, ctx, info) => {
          const { record } = await callByFields(addCollectionItem, ctx, info, args.input, collectionPath(args))
          return { ...record, message: 'Record added' }
        },
      }),
      updateCollectionItem: t.field({
        type: item,
        description: 'Changes the given fields of a record.',
        args: { collectionId, itemId, input: t.arg({ type: input, required: true, description: 'Fields to change.' }) },
        resolve: async (_root, args, ctx, info) => {
          const { record } = await callByFields(updateCollectionItem, ctx, info, args.input, recordPath(args))
          return { ...record, message: 'Record updated' }
        },
      }),
      removeCollectionItem: t.field({
        type: simple,
        description: 'Removes a record.',
        args: { collectionId, itemId },
        resolve: async (_root, args, ctx, info) => {
          await callByFields(removeCollectionItem, ctx, info, {}, recordPath(args))
          return { message: 'Record removed' }
        },
      }),
    }
  })
}
