// Lists values of price indices that operators have loaded, newest month first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { pageOf } from '#db/page.ts'

export const IndexSchema = Type.Object(
  {
    index: Type.String({ examples: ['TRY_CPI'] }),
    month: Type.String({ description: 'Month of the prices', examples: ['2026-10'] }),
    value: Type.Number({ description: 'Level of the index', examples: [3512.18] }),
  },
  { title: 'PriceIndex' },
)

export const listIndices = listVerb(
  {
    name: 'listIndices',
    needs: 'operator',
    filters: { index: filter('Only this index; an unknown index returns an empty list') },
    perPage: 100,
  },
  ({ db }: ReadCtx, { index }, range) => {
    const indices = db.kysely.selectFrom('price_indices').where((e) => e.and({ name: index }))
    return pageOf(indices.select(['name', 'month', 'value']).orderBy('month', 'desc').orderBy('name'), range, ({ name, month, value }) => ({
      index: name,
      month,
      value: Number(value),
    }))
  },
)
