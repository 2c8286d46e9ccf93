// Adds or deducts highlight credits, with an entry in the account's ledger.
import { sql } from 'kysely'
import { invalid, invalidFields } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { existing, id, MAX_INTEGER, remark } from '#core/fields.ts'
import { reason } from '#core/problems.ts'
import { fetchAccount, insertCreditEntry } from './account-store.ts'
import type { Balance } from './credentials/credential-types.ts'

const MAX_CREDITS = 1_000_000
const AMOUNT = reason('integer', { min: -MAX_CREDITS, max: MAX_CREDITS, except: 0 })

export const addCredits = verb(
  {
    name: 'addCredits',
    needs: 'support',
    input: Type.Object({
      id: id('account'),
      amount: Type.Integer({
        minimum: -MAX_CREDITS,
        maximum: MAX_CREDITS,
        allowed: AMOUNT,
        description: 'Credits to add; negative to deduct',
      }),
      reason: remark('Reason, shown in the ledger'),
    }),
  },
  (ctx: WriteCtx, { id, amount, reason = '' }) =>
    change(ctx, async (tx, note): Promise<Balance> => {
      if (amount === 0) throw invalidFields([{ field: 'amount', ...AMOUNT }])
      const changed = await tx
        .updateTable('accounts')
        .set({ highlight_credits: sql<number>`highlight_credits + ${amount}::int`, updated_at: ctx.now() })
        .where('id', '=', existing('account', id))
        .where(sql<boolean>`highlight_credits::bigint + ${amount}::int between 0 and ${sql.lit(MAX_INTEGER)}`)
        .returning('highlight_credits')
        .executeTakeFirst()
      if (!changed) {
        const { highlight_credits: has } = await fetchAccount(tx, id)
        throw invalid('amount', 'balance', { balance: has, min: 0, max: MAX_INTEGER })
      }
      const balance = changed.highlight_credits
      await insertCreditEntry(tx, { account_id: id, amount, balance, reason: reason.trim(), created_at: note.at })
      note.audit({
        action: 'account.add-credits',
        subject: 'account',
        id,
        before: { highlight_credits: balance - amount },
        after: { highlight_credits: balance, amount, reason: reason.trim() },
      })
      return { highlight_credits: balance }
    }),
)
