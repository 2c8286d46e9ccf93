// Creates an account.
import { Type } from '#core/input.ts'
import { PLANS } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { name } from '#core/fields.ts'
import { insertAccount, insertCreditEntry } from './account-store.ts'

export const createAccount = verb(
  {
    name: 'createAccount',
    needs: 'support',
    input: Type.Object({
      name: name('Name of the account'),
      plan: Type.Enum([...PLANS]),
      highlight_credits: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
    }),
  },
  (ctx: WriteCtx, input) =>
    change(ctx, async (tx, note) => {
      const { name, plan, highlight_credits = 0 } = input
      const account = await insertAccount(tx, { name: name.trim(), plan, highlight_credits }, note.at)
      if (highlight_credits > 0) {
        const entry = {
          account_id: account.id,
          amount: highlight_credits,
          balance: highlight_credits,
          reason: 'opening balance',
          created_at: note.at,
        }
        await insertCreditEntry(tx, entry)
      }
      note.audit({ action: 'account.create', subject: 'account', id: account.id, after: account })
      note.changed('accounts', [account.id])
      return account
    }),
)
