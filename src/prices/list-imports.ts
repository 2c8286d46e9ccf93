// Lists imports and price posts as operators see them, newest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { namesOf, sortParams } from '#db/sorting.ts'
import { IMPORT_SORTING, IMPORT_STATUSES, type ImportSummary, pageOfImports } from './stored-imports.ts'

export const listImports = verb(
  {
    name: 'listImports',
    needs: 'operator',
    input: Type.Object(
      {
        format: filter('Such as `tcgdex`; `prices-api` for price posts'),
        status: Type.Optional(Type.Enum([...IMPORT_STATUSES])),
        search: filter('Part of the file name, case-insensitive'),
        ...sortParams(namesOf(IMPORT_SORTING)),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<ImportSummary>> =>
    readPage(input, (filter, limit, offset) => pageOfImports(ctx.db.kysely, filter, limit, offset)),
)
