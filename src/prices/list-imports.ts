// Lists imports and price posts as operators see them, newest first.
import { sql } from 'kysely'
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { contains, pageOf } from '#db/page.ts'
import { namesOf, orderBy, type Sorting, sortParams } from '#db/sorting.ts'
import { IMPORT_STATUSES, SUMMARY_COLUMNS } from './stored-imports.ts'

const id = sql.ref('id')
const SORTING = { by: { started_at: id }, id, usual: { by: id, direction: 'desc' } } satisfies Sorting<string>

export const listImports = listVerb(
  {
    name: 'listImports',
    needs: 'operator',
    filters: {
      format: filter('Such as `tcgdex`; `prices-api` for price posts'),
      status: Type.Optional(Type.Enum([...IMPORT_STATUSES])),
      search: filter('Part of the file name, case-insensitive'),
      ...sortParams(namesOf(SORTING)),
    },
  },
  ({ db }: ReadCtx, { format, status, search, ...sort }, range) => {
    let imports = db.kysely.selectFrom('imports').where((e) => e.and({ format, status }))
    if (search !== undefined) imports = imports.where(contains('file_name', search))
    return pageOf(imports.select(SUMMARY_COLUMNS).orderBy(orderBy(SORTING, sort)), range, jsonReady)
  },
)
