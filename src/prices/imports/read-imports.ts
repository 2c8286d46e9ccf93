// Reads imports and price posts as operators see them, with their refused rows.
import { sql } from 'kysely'
import { filter, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx, WriteCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { contains, pageOf } from '#db/page.ts'
import { namesOf, orderBy, type Sorting, sortParams } from '#db/sorting.ts'
import { refusedRowsCsv } from './refused-rows-csv.ts'
import { fetchImport, IMPORT_STATUSES, type ImportDetail, SUMMARY_COLUMNS } from './stored-imports.ts'

const importId = sql.ref('id')
const SORTING = { by: { started_at: importId }, id: importId, usual: { by: importId, direction: 'desc' } } satisfies Sorting<string>

/** Lists imports and price posts as operators see them, newest first. */
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

/** Reads an import with its refused rows; a finished import is visible in this node's catalogue when this returns. */
export const getImport = verb(
  { name: 'getImport', needs: 'operator', input: Type.Object({ id: id('import') }) },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'caughtUp'>, { id }): Promise<ImportDetail> => {
    const found = await fetchImport(ctx.db.kysely, id)
    if (found.status === 'done') await ctx.caughtUp()
    return found
  },
)

export interface RefusalExport {
  id: number
  lines: AsyncIterable<string>
}

/** All refused rows of an import as CSV. */
export const exportRefusals = verb(
  { name: 'exportRefusals', needs: 'operator', input: Type.Object({ id: id('import') }) },
  async (ctx: ReadCtx, { id }): Promise<RefusalExport> => {
    const { errors } = await fetchImport(ctx.db.kysely, id)
    return { id, lines: refusedRowsCsv(ctx.db.kysely, id, errors) }
  },
)
