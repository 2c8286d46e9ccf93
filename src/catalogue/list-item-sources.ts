// Lists what each source states about an item, in order of precedence.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { closed } from './fields.ts'
import { statedSourcesOf } from './item-sources.ts'
import { fetchItem } from './stored-items.ts'
import type { StatedItemSource } from './stored-schemas.ts'

export const listItemSources = verb(
  { name: 'listItemSources', needs: 'operator', input: Type.Object({ id: id('item') }, closed) },
  async ({ db }: ReadCtx, { id }): Promise<StatedItemSource[]> => statedSourcesOf(db.kysely, (await fetchItem(db.kysely, id)).id),
)
