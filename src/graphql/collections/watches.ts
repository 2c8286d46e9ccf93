// Query.watches and the mutations of watches, as under /plus/watches over REST.
import { Type } from '#core/input.ts'
import { PaginationSchema } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { deleteWatch, deleteWatches, getWatch, listWatches } from '#watches/own-watches.ts'
import { changeWatch, putWatches } from '#watches/put-watches.ts'
import { GoalWatchSchema, ItemWatchSchema, type Watch, WatchInput } from '#watches/watch-types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, inputFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields, pathOf } from '../types/mutating.ts'
import { messageType } from '../types/results.ts'

export function implementWatches(builder: Builder): void {
  const { id: watchId, told_on, created_at, updated_at } = ItemWatchSchema.properties
  const goal = Type.Partial(GoalWatchSchema).properties
  const fields = Type.Object(
    { ...goal, ...Type.Partial(ItemWatchSchema).properties, id: watchId, kind: WatchInput.properties.kind, told_on, created_at, updated_at },
    { title: 'Watch' },
  )
  const watch = objectFrom(builder, fields, {
    description: 'A price, an offer or a goal that you want to hear of; fields of the other kinds are null. Times are local, with offset.',
    texts: { language: 'Language of listings, null for any; or language of the goal' },
  }) as unknown as ReturnType<typeof builder.objectRef<Watch>>
  const page = objectFrom(builder, Type.Object({ watches: Type.Array(fields), pagination: PaginationSchema }, { title: 'Watches' }), {
    description: 'Your watches, newest first.',
    entries: { watches: 20 },
    texts: { watches: 'Watches on the page.', pagination: 'Position of the page.' },
  })
  const input = inputFrom(builder, WatchInput, {
    name: 'WatchInput',
    description: 'A watch; its kind, item, label and language identify it, or for goals its collection, category, goal and language.',
  })
  const deleted = messageType(builder, 'WatchesDeleted', 'Result of a deletion of watches.')
  builder.queryFields((t) => ({
    watches: t.field({
      type: page,
      description: 'Your watches, newest first. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listWatches) },
      args: argumentsFrom(t.arg, listWatches.input),
      resolve: async (_root, args, ctx, info) => {
        const { rows, pagination } = await callByFields(listWatches, ctx, info, withoutNulls(args))
        return { watches: rows, pagination }
      },
    }),
    watch: t.field({
      type: watch,
      description: 'One of your watches. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.getWatch) },
      args: { id: t.arg.id({ required: true, description: 'Id of one of your watches.' }) },
      resolve: (_root, args, ctx, info) => callByFields(getWatch, ctx, info, {}, pathOf(args)),
    }),
  }))
  builder.mutationFields((t) => {
    const id = t.arg.id({ required: true, description: 'Id of one of your watches.' })
    return {
      putWatches: t.field({
        type: [watch],
        description: 'Creates watches, or changes the amounts of those with the same kind, item, label and language.',
        args: { watches: t.arg({ type: [input], required: true, description: 'Up to 1,000 watches.' }) },
        resolve: (_root, args, ctx, info) => callByFields(putWatches, ctx, info, args),
      }),
      changeWatch: t.field({
        type: watch,
        description: 'Changes the amount of a watch.',
        args: { id, amount: t.arg.float({ required: true, description: 'Amount in the currency of the watch.' }) },
        resolve: (_root, args, ctx, info) => callByFields(changeWatch, ctx, info, { amount: args.amount }, pathOf(args)),
      }),
      deleteWatch: t.field({
        type: deleted,
        description: 'Deletes a watch.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(deleteWatch, ctx, info, {}, pathOf(args)),
      }),
      deleteWatches: t.field({
        type: deleted,
        description: 'Deletes all your watches.',
        resolve: (_root, _args, ctx, info) => callByFields(deleteWatches, ctx, info, {}),
      }),
    }
  })
}
