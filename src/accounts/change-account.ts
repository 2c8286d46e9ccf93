// Renames an account, moves it to another plan, suspends or resumes it.
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { PLANS } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { id, name } from '#core/fields.ts'
import { lockAccount, updateAccount } from './store.ts'

export const changeAccount = verb(
  {
    name: 'changeAccount',
    needs: 'operator',
    input: Type.Object(
      {
        id: id('account'),
        name: Type.Optional(name('Name of the account')),
        plan: Type.Optional(Type.Enum([...PLANS])),
        suspended: Type.Optional(Type.Boolean({ description: "true refuses the account's keys, hides its listings and holds back its webhooks" })),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: WriteCtx, input) =>
    change(ctx, async (tx, note) => {
      const { id, ...values } = input
      if (Object.keys(values).length === 0) {
        throw invalid('body', 'at_least_one', { fields: ['name', 'plan', 'suspended'] })
      }
      if (values.name !== undefined) values.name = values.name.trim()
      const before = await lockAccount(tx, id)
      const after = await updateAccount(tx, before.id, values, ctx.now())
      note.audit({ action: 'account.change', subject: 'account', id: before.id, before, after })
      note.changed('accounts', [before.id])
      return after
    }),
)
