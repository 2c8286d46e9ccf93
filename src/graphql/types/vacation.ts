// The vacation of a seller, as under /plus/vacation over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { endVacation, getVacation, setVacation, VacationSchema } from '#market/seller/own-vacation.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields } from './mutating.ts'
import { messageType } from './results.ts'

export function implementVacation(builder: Builder): void {
  const vacation = objectFrom(builder, VacationSchema, {
    description: "A period in which the account's listings are hidden and their publication periods and highlights are paused.",
  })
  const ended = messageType(builder, 'VacationEnded', 'Result of a change to the vacation.')
  builder.queryField('vacation', (t) =>
    t.field({
      type: vacation,
      description: 'Your current or upcoming vacation; null if there is none. Plus and above.',
      extensions: { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.getVacation) },
      resolve: (_root, _args, ctx) => call(getVacation, ctx, {}),
    }),
  )
  builder.mutationFields((t) => ({
    setVacation: t.field({
      type: vacation,
      description: 'Sets or changes your vacation. Your listings are hidden during it and their publication periods are paused.',
      args: argumentsFrom(t.arg, setVacation.input),
      resolve: (_root, args, ctx, info) => callByFields(setVacation, ctx, info, withoutNulls(args)),
    }),
    endVacation: t.field({
      type: ended,
      description: 'Ends your vacation now, or cancels it before it starts.',
      resolve: (_root, _args, ctx, info) => callByFields(endVacation, ctx, info, {}),
    }),
  }))
}
