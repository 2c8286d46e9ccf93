// Reads an import with its refused rows; a finished import is visible in this node's catalogue when this returns.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { fetchImport, type ImportDetail } from './stored-imports.ts'

export const getImport = verb(
  { name: 'getImport', needs: 'operator', input: Type.Object({ id: id('import') }, { additionalProperties: false }) },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'caughtUp'>, { id }): Promise<ImportDetail> => {
    const found = await fetchImport(ctx.db.kysely, id)
    if (found.status === 'done') await ctx.caughtUp()
    return found
  },
)
