// Reads a person: owners may read everyone, others only themselves.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson } from './store.ts'

export const getPerson = verb(
  { name: 'getPerson', needs: 'self', input: Type.Object({ id: id('person') }, { additionalProperties: false }) },
  async (ctx: ReadCtx, { id }) => {
    selfOrOwner(ctx, id)
    return fetchPerson(ctx.db.kysely, id)
  },
)
