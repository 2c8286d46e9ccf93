// Lists the people who run the service, without removed ones.
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { people, PERSON_COLUMNS } from './store.ts'

export const listPeople = listVerb({ name: 'listPeople', needs: 'owner' }, ({ db }: ReadCtx, _all, range) =>
  pageOf(people(db.kysely).select(PERSON_COLUMNS).orderBy('id'), range, jsonReady),
)
