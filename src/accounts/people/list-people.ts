// Lists the people who run the service, without removed ones.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { pageOfPeople } from './store.ts'
import type { Person } from './types.ts'

export const listPeople = verb(
  { name: 'listPeople', needs: 'owner', input: Type.Object(pageParams(), { additionalProperties: false }) },
  (ctx: ReadCtx, input): Promise<Page<Person>> => readPage(input, (_all, limit, offset) => pageOfPeople(ctx.db.kysely, limit, offset)),
)
