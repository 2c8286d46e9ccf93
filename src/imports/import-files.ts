// Imports local files as one import, and returns its report.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf } from '#db/changes/change.ts'
import { openImport } from '#prices/imports/imports.ts'
import type { ImportFile } from './files.ts'
import { MAPPING_INPUT, mappingOf } from './mapping-input.ts'
import { IMPORT_INPUT, importFormat } from './registry.ts'
import { type ImportRunCtx, type ImportReport, runImport } from './run.ts'

export const importFiles = verb(
  { name: 'importFiles', needs: 'catalogue', input: Type.Object({ ...IMPORT_INPUT, ...MAPPING_INPUT, files: Type.Array(Type.Unknown()) }) },
  async (ctx: ImportRunCtx, { files: uploads, ...input }): Promise<ImportReport> => {
    const { format: name, market = null, dry_run: dryRun = false, accept_drift: acceptDrift = false } = input
    const format = importFormat(name)
    const files = uploads as ImportFile[]
    const mapping = await mappingOf(ctx, format, input)
    const fileName = files.map((file) => file.name ?? '-').join(', ')
    const opening = { format: name, market: market ?? mapping?.market ?? format.defaultMarket, fileName, author: actorOf(ctx.viewer), dryRun }
    const id = await openImport(ctx.db.kysely, { ...opening, conditionKnown: mapping?.condition_known ?? true }, ctx.now())
    return runImport(ctx, id, { format, files, market, mapping, dryRun, acceptDrift })
  },
)
