// Requests the erasure of an account or of a buyer: the account is suspended at once, and a task removes and overwrites the data.
import { conflict, invalid } from '#core/errors.ts'
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { fetchAccount, updateAccount } from '#accounts/account-store.ts'
import { actorOf, change, type Note, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import type { PersonRef } from '#db/personal/rows-of-person.ts'
import type { Tx } from '#db/schema.ts'
import { countOpenOffers, erasures, fetchErasure, insertErasure, referencesOfAccount } from './erasure-store.ts'
import { ERASED_KINDS, type Erasure, ERASURE_STATES } from './erasure-types.ts'

export const buyerReference = name('Reference of a buyer, as recorded by the shop', 100)

/** @throws VALIDATION_ERROR unless exactly one is given */
function personOf({ account_id: accountId, buyer_reference: reference }: { account_id?: number; buyer_reference?: string }): PersonRef {
  if ((accountId === undefined) === (reference === undefined)) throw invalid('account_id', 'exactly_one', { field: 'buyer_reference' })
  return accountId === undefined ? { kind: 'buyer', reference: reference!.trim() } : { kind: 'account', id: accountId }
}

export const erasePerson = verb(
  {
    name: 'erasePerson',
    needs: 'owner',
    input: Type.Object({
      account_id: Type.Optional(Type.Integer({ description: 'Account' })),
      buyer_reference: Type.Optional(buyerReference),
      reason: name('Why, such as the reference of the request; without personal data'),
    }),
  },
  (ctx: WriteCtx, { reason, ...who }) =>
    change(ctx, async (tx, note): Promise<Erasure> => {
      const person = personOf(who)
      if (person.kind === 'account')
        await tx
          .selectFrom('accounts')
          .select('id')
          .where('id', '=', (await fetchAccount(tx, person.id)).id)
          .forUpdate()
          .execute()
      const request = { reason: reason.trim(), by: actorOf(ctx.viewer), now: ctx.now() }
      const { erasure, isNew } = await insertErasure(tx, person, request)
      if (!isNew) return erasure
      const count = await countOpenOffers(tx, person)
      if (count > 0) throw conflict('offers_open', { count })
      noteStart(note, erasure)
      if (person.kind === 'account') await closeAccount(tx, note, person.id, request)
      return erasure
    }),
)

/** From now on its keys are rejected and it sells nothing; the buyers that the shop recorded for it are erased as well. */
async function closeAccount(tx: Tx, note: Note, id: number, request: { reason: string; by: string; now: Date }): Promise<void> {
  await updateAccount(tx, id, { suspended: true }, request.now)
  note.changed('accounts', [id])
  for (const reference of await referencesOfAccount(tx, id)) {
    const { erasure, isNew } = await insertErasure(tx, { kind: 'buyer', reference }, request)
    if (isNew) noteStart(note, erasure)
  }
}

/** Without the account's id, by which the entry would be erased as well. */
function noteStart(note: Note, { id, kind, pseudonym, reason }: Erasure): void {
  note.audit({ action: 'erasure.start', subject: 'erasure', id, after: { kind, pseudonym, reason } })
}

export const getErasure = verb({ name: 'getErasure', needs: 'operator', input: Type.Object({ id: id('erasure') }) }, (ctx: ReadCtx, input) =>
  fetchErasure(ctx.db.kysely, input.id),
)

/** All requests, newest first. */
export const listErasures = listVerb(
  {
    name: 'listErasures',
    needs: 'operator',
    filters: { state: Type.Optional(Type.Enum([...ERASURE_STATES])), kind: Type.Optional(Type.Enum([...ERASED_KINDS])) },
  },
  ({ db }: ReadCtx, { state, kind }, range) => {
    let rows = erasures(db.kysely).orderBy('id', 'desc')
    if (state !== undefined) rows = rows.where('state', '=', state)
    if (kind !== undefined) rows = rows.where('kind', '=', kind)
    return pageOf(rows, range, (row) => jsonReady(row) as Erasure)
  },
)
