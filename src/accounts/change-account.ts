// Changes an account: name, plan, suspension and listing import.
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { PLANS } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { id, name, orNull } from '#core/fields.ts'
import { lockAccount, setListingIntake, updateAccount } from './account-store.ts'

const MAX_QUOTA = 1_000_000

export const changeAccount = verb(
  {
    name: 'changeAccount',
    needs: 'support',
    input: Type.Object({
      id: id('account'),
      name: Type.Optional(name('Name of the account')),
      plan: Type.Optional(Type.Enum([...PLANS])),
      suspended: Type.Optional(
        Type.Boolean({ description: "true rejects the account's keys, hides its listings and shared collections, and pauses its webhooks" }),
      ),
      listing_intake: Type.Optional(
        orNull(
          Type.Object(
            {
              quota: Type.Integer({
                minimum: 1,
                maximum: MAX_QUOTA,
                description: 'Maximum number of unsold listings, including parked rows, that imports can reach',
              }),
            },
            { additionalProperties: false },
          ),
          { description: 'Allows the account to import listings from files; null disallows it' },
        ),
      ),
    }),
  },
  (ctx: WriteCtx, input) =>
    change(ctx, async (tx, note) => {
      const { id, listing_intake: intake, ...values } = input
      if (Object.keys(values).length === 0 && intake === undefined) {
        throw invalid('body', 'at_least_one', { fields: ['name', 'plan', 'suspended', 'listing_intake'] })
      }
      if (values.name !== undefined) values.name = values.name.trim()
      const before = await lockAccount(tx, id)
      if (intake !== undefined) await setListingIntake(tx, before.id, intake)
      const after = await updateAccount(tx, before.id, values, ctx.now())
      note.audit({ action: 'account.change', subject: 'account', id: before.id, before, after })
      note.changed('accounts', [before.id])
      return after
    }),
)
