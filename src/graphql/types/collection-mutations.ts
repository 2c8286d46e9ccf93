// Mutations of collection records (interface.md, "GraphQL").
import { addCollectionItem } from '#collections/add-item.ts'
import { removeCollectionItem } from '#collections/remove-item.ts'
import type { CollectionRecord } from '#collections/records/types.ts'
import { updateCollectionItem } from '#collections/update-item.ts'
import { idOf } from '../building/arguments.ts'
import type { Builder } from '../building/builder.ts'
import { callByFields } from './mutating.ts'

interface RecordResult {
  message: string
  record: CollectionRecord
}

const collectionPath = (args: { collectionId: string | number }) => ({ id: ['collectionId', idOf(args.collectionId)] }) as const
const recordPath = (args: { collectionId: string | number; itemId: string | number }) =>
  ({ ...collectionPath(args), itemId: ['itemId', idOf(args.itemId)] }) as const

export function implementCollectionMutations(builder: Builder): void {
  const input = builder.inputType('CollectionItemInput', {
    description: 'Fields of a collection record. Omitted fields stay unchanged; null clears prices, date, code and note.',
    fields: (t) => ({
      itemId: t.id({ description: 'Item in the catalogue; required to add a record, cannot be changed.' }),
      itemGroupTypeId: t.id({
        description: 'Condition or grade allowed for the item; default: Ungraded, otherwise the first allowed one. Cannot be changed.',
      }),
      quantity: t.int({ description: 'Number of copies, 1 to 100000; default for a new record: 1.' }),
      purchasePrice: t.float({ description: 'Price paid per copy.' }),
      salePrice: t.float({ description: 'Price asked or received per copy.' }),
      purchaseDate: t.string({ description: 'Purchase date, YYYY-MM-DD.' }),
      cardUniqId: t.string({ description: 'Own tracking code or certificate number, at most 100 characters.' }),
      note: t.string({ description: 'At most 1000 characters.' }),
    }),
  })
  const item = builder.objectRef<RecordResult>('CollectionItemResult').implement({
    description: 'A collection record after a change.',
    fields: (t) => ({
      success: t.boolean({
        nullable: false,
        description: 'Always true: a failed mutation returns null and an error.',
        resolve: () => true,
      }),
      message: t.exposeString('message', { description: 'Human-readable message.' }),
      id: t.id({ nullable: false, description: 'Id of the record.', resolve: ({ record }) => record.id }),
      itemId: t.id({ nullable: false, description: 'Id of the item.', resolve: ({ record }) => record.item_id }),
      itemName: t.string({
        nullable: false,
        description: 'Name of the item.',
        resolve: ({ record }) => record.item_name,
      }),
      groupLabel: t.string({
        description: 'Condition or grade, such as `Ungraded` or `PSA 10`.',
        resolve: ({ record }) => record.group_label,
      }),
      quantity: t.int({ nullable: false, description: 'Copies.', resolve: ({ record }) => record.quantity }),
      purchasePrice: t.float({ description: 'Price paid per copy.', resolve: ({ record }) => record.purchase_price }),
      salePrice: t.float({
        description: 'Price asked or received per copy, rounded to a whole number.',
        resolve: ({ record }) => record.sale_price,
      }),
      purchaseDate: t.string({
        description: 'Purchase date, YYYY-MM-DD.',
        resolve: ({ record }) => record.purchase_date,
      }),
      cardUniqId: t.string({
        description: 'Own tracking code or certificate number.',
        resolve: ({ record }) => record.card_uniq_id,
      }),
      note: t.string({ description: 'Free text.', resolve: ({ record }) => record.note }),
    }),
  })
  const simple = builder.objectRef<{ message: string }>('SimpleResult').implement({
    description: 'Result of a mutation.',
    fields: (t) => ({
      success: t.boolean({
        nullable: false,
        description: 'Always true: a failed mutation returns null and an error.',
        resolve: () => true,
      }),
      message: t.exposeString('message', { description: 'Human-readable message.' }),
    }),
  })
  builder.mutationFields((t) => {
    const collectionId = t.arg.id({ required: true, description: 'Id of one of your collections.' })
    const itemId = t.arg.id({ required: true, description: 'Id of the record, not of the item.' })
    return {
      addCollectionItem: t.field({
        type: item,
        description: 'Adds a record to a collection.',
        args: { collectionId, input: t.arg({ type: input, required: true, description: 'The record.' }) },
        resolve: async (_root, args, ctx, info) => {
          const { record } = await callByFields(addCollectionItem, ctx, info, withNumbers(args.input), collectionPath(args))
          return { record, message: 'Record added' }
        },
      }),
      updateCollectionItem: t.field({
        type: item,
        description: 'Changes the given fields of a record.',
        args: { collectionId, itemId, input: t.arg({ type: input, required: true, description: 'Fields to change.' }) },
        resolve: async (_root, args, ctx, info) => {
          const { record } = await callByFields(updateCollectionItem, ctx, info, withNumbers(args.input), recordPath(args))
          return { record, message: 'Record updated' }
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

/** The fields sent, ids as numbers. */
function withNumbers(input: object): Record<string, unknown> {
  const ids = new Set(['itemId', 'itemGroupTypeId'])
  const entries = Object.entries(input) as [string, string | number | null][]
  return Object.fromEntries(entries.map(([name, value]) => [name, ids.has(name) && value !== null ? idOf(value) : value]))
}
