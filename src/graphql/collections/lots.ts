// Lots, disposals and the profit of collections, as under /plus/collections/{id} over REST.
import { addCollectionDisposal, removeCollectionDisposal } from '#collections/lots/change-disposals.ts'
import { addCollectionLot, removeCollectionLot } from '#collections/lots/change-lots.ts'
import { listCollectionDisposals, listCollectionLots } from '#collections/lots/list-lots.ts'
import { DisposalSchema, LotSchema, MOST_RANKED, type ProfitInMoney, ProfitInMoneySchema, ProfitSchema } from '#collections/lots/lot-types.ts'
import { MOST_MONEYS } from '#collections/lots/moneys.ts'
import { readCollectionProfit } from '#collections/lots/read-profit.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, inputFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields } from '../types/mutating.ts'
import { messageType } from '../types/results.ts'

type Id = string | number

const collectionPath = ({ collectionId }: { collectionId: Id }) => ({ id: ['collectionId', idOf(collectionId)] }) as const
const recordPath = (args: { collectionId: Id; itemId: Id }) => ({ ...collectionPath(args), itemId: ['itemId', idOf(args.itemId)] }) as const

/** Entries that a list is charged for. */
const ENTRIES = 10

export function implementLots(builder: Builder): void {
  const lot = objectFrom(builder, LotSchema)
  const disposal = objectFrom(builder, DisposalSchema, { types: { order_id: 'Float' } })
  const entries = { basis: 4, best: MOST_RANKED, worst: MOST_RANKED }
  objectFrom(builder, ProfitInMoneySchema, { entries })
  const profit = objectFrom(builder, ProfitSchema, { description: 'Profit of a collection.', entries: { ...entries, moneys: MOST_MONEYS } })
  builder.queryFields((t) => {
    const collectionId = t.arg.id({ required: true, description: 'Id of one of your collections.' })
    const itemId = t.arg.id({ required: true, description: 'Id of the record, not of the item.' })
    const list = { nullable: { list: false, items: false } } as const
    return {
      collectionProfit: t.field({
        type: profit,
        description: 'Realised and unrealised gain of one of your collections. Plus and above.',
        extensions: { ...cost({ weight: 100 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readCollectionProfit) },
        args: { collectionId, ...argumentsFrom(t.arg, readCollectionProfit.input, { omit: ['id'] }) },
        resolve: async (_root, { collectionId: of, ...args }, ctx, info) => {
          const found = await callByFields(readCollectionProfit, ctx, info, withoutNulls(args), collectionPath({ collectionId: of }))
          return { ...profitWithFloats(found), moneys: found.moneys?.map(profitWithFloats) ?? null }
        },
      }),
      collectionLots: t.field({
        type: [lot],
        ...list,
        description: 'Lots of one of your records, oldest first; the first one without an id is the record itself. Plus and above.',
        extensions: { ...cost({ weight: 10, entries: ENTRIES }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listCollectionLots) },
        args: { collectionId, itemId, ...argumentsFrom(t.arg, listCollectionLots.input, { omit: ['id', 'itemId'] }) },
        resolve: async (_root, { collectionId: of, itemId: record, ...args }, ctx, info) => {
          const path = recordPath({ collectionId: of, itemId: record })
          return (await callByFields(listCollectionLots, ctx, info, withoutNulls(args), path)).map(withFloats)
        },
      }),
      collectionDisposals: t.field({
        type: [disposal],
        ...list,
        description: 'Disposals of one of your records, oldest first. Plus and above.',
        extensions: { ...cost({ weight: 10, entries: ENTRIES }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listCollectionDisposals) },
        args: { collectionId, itemId, ...argumentsFrom(t.arg, listCollectionDisposals.input, { omit: ['id', 'itemId'] }) },
        resolve: async (_root, { collectionId: of, itemId: record, ...args }, ctx, info) => {
          const path = recordPath({ collectionId: of, itemId: record })
          return (await callByFields(listCollectionDisposals, ctx, info, withoutNulls(args), path)).map(withFloats)
        },
      }),
    }
  })
  implementMutations(builder, { lot, disposal })
}

type Types = { lot: ReturnType<typeof objectFrom<typeof LotSchema>>; disposal: ReturnType<typeof objectFrom<typeof DisposalSchema>> }

function implementMutations(builder: Builder, { lot, disposal }: Types): void {
  const removed = messageType(builder, 'CollectionEntryRemoved', 'Result of removing a lot or a disposal.')
  const path = ['id', 'itemId']
  const lotInput = inputFrom(builder, addCollectionLot.input, { name: 'CollectionLotInput', description: 'A lot to add.', omit: path })
  const disposalInput = inputFrom(builder, addCollectionDisposal.input, {
    name: 'CollectionDisposalInput',
    description: 'Copies that were sold or given away.',
    omit: path,
  })
  builder.mutationFields((t) => {
    const collectionId = t.arg.id({ required: true, description: 'Id of one of your collections.' })
    const itemId = t.arg.id({ required: true, description: 'Id of the record, not of the item.' })
    return {
      addCollectionLot: t.field({
        type: lot,
        description: 'Adds a lot to a record, and raises its quantity.',
        args: { collectionId, itemId, input: t.arg({ type: lotInput, required: true, description: 'The lot.' }) },
        resolve: async (_root, args, ctx, info) => withFloats((await callByFields(addCollectionLot, ctx, info, args.input, recordPath(args))).lot),
      }),
      removeCollectionLot: t.field({
        type: removed,
        description: 'Removes a lot that was entered wrongly, and lowers the quantity of its record.',
        args: { collectionId, itemId, lotId: t.arg.id({ required: true, description: 'Id of the lot.' }) },
        resolve: async (_root, args, ctx, info) => {
          await callByFields(removeCollectionLot, ctx, info, {}, { ...recordPath(args), lotId: ['lotId', idOf(args.lotId)] })
          return { message: 'Lot removed' }
        },
      }),
      addCollectionDisposal: t.field({
        type: disposal,
        description: 'Records copies that were sold or given away, and lowers the quantity of their record.',
        args: { collectionId, itemId, input: t.arg({ type: disposalInput, required: true, description: 'The disposal.' }) },
        resolve: async (_root, args, ctx, info) =>
          withFloats((await callByFields(addCollectionDisposal, ctx, info, args.input, recordPath(args))).disposal),
      }),
      removeCollectionDisposal: t.field({
        type: removed,
        description: 'Removes a disposal that was entered wrongly, and raises the quantity of its record.',
        args: { collectionId, itemId, disposalId: t.arg.id({ required: true, description: 'Id of the disposal.' }) },
        resolve: async (_root, args, ctx, info) => {
          await callByFields(removeCollectionDisposal, ctx, info, {}, { ...recordPath(args), disposalId: ['disposalId', idOf(args.disposalId)] })
          return { message: 'Disposal removed' }
        },
      }),
    }
  })
}

function profitWithFloats<T extends ProfitInMoney>(profit: T): T {
  const { basis, best, worst } = profit
  return withFloats({ ...profit, basis: basis.map(withFloats), best: best.map(withFloats), worst: worst.map(withFloats) })
}

/** GraphQL has floats only: the nearest ones for amounts beyond 90 trillion. */
function withFloats<T extends object>(of: T): T {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, JSON.isRawJSON(value) ? Number(JSON.stringify(value)) : value])) as T
}
