// Reads the people who run the service.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson, people, PERSON_COLUMNS } from './people-store.ts'

/** Lists the people who run the service, without removed ones. */
export const listPeople = listVerb({ name: 'listPeople', needs: 'owner' }, ({ db }: ReadCtx, _all, range) =>
  pageOf(people(db.kysely).select(PERSON_COLUMNS).orderBy('id'), range, jsonReady),
)

/** Reads a person: owners may read everyone, others only themselves. */
export const getPerson = verb({ name: 'getPerson', needs: 'self', input: Type.Object({ id: id('person') }) }, async (ctx: ReadCtx, { id }) => {
  selfOrOwner(ctx, id)
  return fetchPerson(ctx.db.kysely, id)
})
