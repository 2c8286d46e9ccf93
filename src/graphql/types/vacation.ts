// The vacation of a seller, as under /plus/vacation over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { endVacation, getVacation, MAX_VACATION_DAYS, setVacation, type VacationAnswer } from '#market/seller/own-vacation.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { callByFields } from './mutating.ts'

export function implementVacation(builder: Builder): void {
  const vacation = builder.objectRef<VacationAnswer>('Vacation').implement({
    description: "A period in which the account's listings are hidden and their publication periods and highlights are paused.",
    fields: (t) => ({
      from: t.exposeString('from', { nullable: false, description: 'Start; local time with offset.' }),
      to: t.exposeString('to', { nullable: false, description: 'End, when the listings are shown again; local time with offset.' }),
    }),
  })
  const ended = builder.objectRef<{ message: string }>('VacationEnded').implement({
    description: 'Result of a change to the vacation.',
    fields: (t) => ({
      success: t.boolean({ nullable: false, description: 'Always true: a failed mutation returns null and an error.', resolve: () => true }),
      message: t.exposeString('message', { nullable: false, description: 'Human-readable message.' }),
    }),
  })
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
      args: {
        from: t.arg.string({ description: 'When it starts (ISO 8601); default: now.' }),
        to: t.arg.string({ required: true, description: `When it ends, at most ${MAX_VACATION_DAYS} days after its start.` }),
      },
      resolve: (_root, args, ctx, info) => callByFields(setVacation, ctx, info, withoutNulls(args)),
    }),
    endVacation: t.field({
      type: ended,
      description: 'Ends your vacation now, or cancels it before it starts.',
      resolve: (_root, _args, ctx, info) => callByFields(endVacation, ctx, info, {}),
    }),
  }))
}
