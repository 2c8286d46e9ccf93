// Query.collectionWorthHistory, as under /plus/collections/{id}/worth-history over REST.
import { readWorthHistory } from '#collections/read-worth-history.ts'
import { type WorthDay, WorthDaySchema } from '#collections/records/types.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'
import { callByFields } from './mutating.ts'

/** Days that a history is charged for. */
const DAYS = 100

export function implementWorthHistory(builder: Builder): void {
  const day = objectFrom(builder, WorthDaySchema, { omit: ['currencies'] })
  const amounts = builder.objectRef<WorthDay['currencies'][number]>('CollectionWorthAmounts').implement({
    description: 'Worth of the records in one currency.',
    fields: (t) => ({
      currency: t.exposeString('currency', { nullable: false, description: 'Code of the currency, such as `TRY`.' }),
      value: t.float({ nullable: false, description: 'Sum of price × quantity.', resolve: ({ value }) => floatOf(value) }),
      cost: t.float({ nullable: false, description: 'Sum of purchase price × quantity.', resolve: (of) => floatOf(of.cost) }),
      gain: t.float({
        nullable: true,
        description: 'Value minus cost of the records that have both; null if none has.',
        resolve: ({ gain }) => gain && floatOf(gain),
      }),
    }),
  })
  builder.objectField(day, 'currencies', (t) =>
    t.field({
      type: [amounts],
      nullable: { list: false, items: false },
      description: 'One entry per currency; amounts in different currencies are never summed.',
      extensions: cost({ entries: 3 }),
      resolve: ({ currencies }) => currencies,
    }),
  )
  builder.queryField('collectionWorthHistory', (t) =>
    t.field({
      type: [day],
      nullable: { list: false, items: false },
      description: 'Daily worth of one of your collections, oldest first. Days without a figure are omitted. Plus and above.',
      extensions: { ...cost({ weight: 10, entries: DAYS }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readWorthHistory) },
      args: {
        collectionId: t.arg.id({ required: true, description: 'Id of one of your collections.' }),
        from: t.arg.string({ description: 'First day, inclusive.' }),
        to: t.arg.string({ description: 'Last day, inclusive.' }),
      },
      resolve: (_root, { collectionId, ...period }, ctx, info) =>
        callByFields(readWorthHistory, ctx, info, withoutNulls(period), { id: ['collectionId', idOf(collectionId)] }),
    }),
  )
}

/** GraphQL has floats only: the nearest one for an amount beyond 90 trillion. */
function floatOf(amount: number): number {
  return Number.isFinite(amount) ? amount : Number(JSON.stringify(amount))
}
