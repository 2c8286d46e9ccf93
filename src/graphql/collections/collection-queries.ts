// Collections and their completion, as under /plus/collections/{id} over REST, and the change of a collection.
import { CompletionSchema, DuplicatesSchema, MarketCostSchema, SetCompletionSchema } from '#collections/completion/completion-types.ts'
import { MISSING_PER_PAGE, readCompletion } from '#collections/completion/read-completion.ts'
import { readSetCompletion, SETS_PER_PAGE } from '#collections/completion/set-completion.ts'
import { getCollection } from '#collections/get-collection.ts'
import { OwnCollectionSchema } from '#collections/records/types.ts'
import { updateCollection } from '#collections/update-collection.ts'
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { PaginationSchema } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, inputFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields } from '../types/mutating.ts'

/** Sums in different currencies that a list is charged for. */
const CURRENCIES = 3

const idIn = ({ collectionId }: { collectionId: string | number }) => ({ id: ['collectionId', idOf(collectionId)] }) as const

export function implementCollections(builder: Builder): void {
  const collection = objectFrom(builder, OwnCollectionSchema, {
    name: 'Collection',
    description: 'One of your collections.',
    omit: ['worth'],
    texts: { id: 'Id of the collection', name: 'Name of the collection', description: 'Description of the collection', visibility: 'Who may see it' },
  })
  objectFrom(builder, MarketCostSchema, { entries: { currencies: CURRENCIES } })
  objectFrom(builder, DuplicatesSchema, { entries: { currencies: CURRENCIES, most: 100 } })
  const completion = objectFrom(builder, page(CompletionSchema.properties, 'CollectionCompletion'), {
    description: 'How far a collection is towards a goal.',
    entries: { missing: MISSING_PER_PAGE, cards: MISSING_PER_PAGE },
    texts: { pagination: 'Position of the page of missing cards, or of all cards.' },
  })
  const sets = objectFrom(builder, page({ sets: Type.Array(SetCompletionSchema, { description: 'Sets of the page' }) }, 'CollectionSets'), {
    description: 'How much of each set a collection has.',
    entries: { sets: SETS_PER_PAGE },
    texts: { pagination: 'Position of the page.' },
  })
  const input = inputFrom(builder, updateCollection.input, {
    name: 'CollectionInput',
    description: 'Fields of a collection to change; `private` revokes its shared address.',
    omit: ['id'],
    texts: { visibility: '`private`, `unlisted` or `public`' },
  })
  builder.queryFields((t) => {
    const collectionId = t.arg.id({ required: true, description: 'Id of one of your collections.' })
    return {
      collection: t.field({
        type: collection,
        description: 'One of your collections. Plus and above.',
        extensions: { ...cost({ weight: 5 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.getCollection) },
        args: { collectionId },
        resolve: (_root, args, ctx, info) => callByFields(getCollection, ctx, info, {}, idIn(args)),
      }),
      collectionCompletion: t.field({
        type: completion,
        description: 'How complete a collection is, for a set, the cards that a field query selects, or both. Plus and above.',
        extensions: { ...cost({ weight: 50 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readCompletion) },
        args: { collectionId, ...argumentsFrom(t.arg, readCompletion.input, { omit: ['id'] }) },
        resolve: async (_root, { collectionId: of, ...args }, ctx, info) => {
          const chosen = withoutNulls(args as { categoryId?: unknown; query?: unknown })
          if (chosen.categoryId === undefined && chosen.query === undefined) {
            throw invalid('query', 'at_least_one', { fields: ['categoryId', 'query'] })
          }
          const { data, pagination } = await callByFields(readCompletion, ctx, info, chosen, idIn({ collectionId: of }))
          return Array.isArray(data) ? null : { ...data, pagination }
        },
      }),
      collectionSets: t.field({
        type: sets,
        description: 'How much of each set a collection has, the fullest first. Plus and above.',
        extensions: { ...cost({ weight: 50 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readSetCompletion) },
        args: { collectionId, ...argumentsFrom(t.arg, readSetCompletion.input, { omit: ['id'] }) },
        resolve: async (_root, { collectionId: of, ...args }, ctx, info) => {
          const { rows, pagination } = await callByFields(readSetCompletion, ctx, info, withoutNulls(args), idIn({ collectionId: of }))
          return { sets: rows, pagination }
        },
      }),
    }
  })
  builder.mutationField('updateCollection', (t) =>
    t.field({
      type: collection,
      description: 'Changes the given fields of a collection, or shares it.',
      args: {
        collectionId: t.arg.id({ required: true, description: 'Id of one of your collections.' }),
        input: t.arg({ type: input, required: true, description: 'Fields to change.' }),
      },
      resolve: (_root, args, ctx, info) => callByFields(updateCollection, ctx, info, withoutNulls(args.input), idIn(args)),
    }),
  )
}

function page<P extends Type.TProperties>(properties: P, title: string) {
  return Type.Object({ ...properties, pagination: PaginationSchema }, { title })
}
