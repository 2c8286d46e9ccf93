// All refused rows of an import as CSV.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { refusedRowsCsv } from './refused-rows-csv.ts'
import { fetchImport } from './stored-imports.ts'

export interface RefusalExport {
  id: number
  lines: AsyncIterable<string>
}

export const exportRefusals = verb(
  { name: 'exportRefusals', needs: 'operator', input: Type.Object({ id: id('import') }, { additionalProperties: false }) },
  async (ctx: ReadCtx, { id }): Promise<RefusalExport> => {
    const { errors } = await fetchImport(ctx.db.kysely, id)
    return { id, lines: refusedRowsCsv(ctx.db.kysely, id, errors) }
  },
)
