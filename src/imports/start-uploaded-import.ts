// Receives an uploaded file and queues its import; returns the id immediately.
import { machineMs } from '#core/process/time-and-chance.ts'
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import { openImport } from '#prices/imports/imports.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import type { ImportQueue } from './queue.ts'
import { MAPPING_INPUT, mappingOf } from './mapping-input.ts'
import { IMPORT_INPUT, importFormat } from './registry.ts'
import type { Upload } from './upload.ts'

export interface UploadCtx extends PriceWriteCtx {
  imports: ImportQueue
}

export const startUploadedImport = verb(
  {
    name: 'startUploadedImport',
    needs: 'catalogue',
    input: Type.Object({
      ...IMPORT_INPUT,
      ...MAPPING_INPUT,
      file_name: Type.Optional(
        Type.String({
          maxLength: 200,
          pattern: '^[^\\p{Cc}\\p{Cs}/\\\\]*$',
          allowed: reason('file_name', { max: 200 }),
          description: 'Name shown with the import',
        }),
      ),
      file: Type.Unknown({ description: 'The file, plain or gzip-compressed' }),
    }),
  },
  async (ctx: UploadCtx, input): Promise<{ id: number; status: 'queued' }> => {
    const { format: name, market: into = null, dry_run: dryRun = false, accept_drift: acceptDrift = false } = input
    const upload = input.file as Upload
    let fresh = false
    try {
      const format = importFormat(name)
      const mapping = await mappingOf(ctx, format, input)
      const fileName = nameOf(input.file_name ?? name, upload)
      const importId = await change(ctx, (tx, { at }) => {
        fresh = true
        const opening = { format: name, market: into ?? mapping?.market ?? format.defaultMarket, fileName, dryRun, status: 'queued' as const }
        return openImport(tx, { ...opening, author: actorOf(ctx.viewer), conditionKnown: mapping?.condition_known ?? true }, at)
      })
      if (fresh) {
        const { rules, viewer, requestId } = ctx
        const clockOffsetMs = ctx.now().getTime() - machineMs()
        const file = { path: upload.path, size: upload.size, name: fileName }
        await ctx.imports.add({
          importId,
          format: name,
          files: [file],
          keepFiles: false,
          market: into,
          mapping,
          dryRun,
          acceptDrift,
          rules,
          viewer,
          requestId,
          clockOffsetMs,
        })
      }
      return { id: importId, status: 'queued' }
    } finally {
      // A retried request has uploaded the file a second time, so that copy is discarded.
      if (!fresh) ctx.imports.discard(upload)
    }
  },
)

/** The file name with `.gz` at its end if, and only if, the content is gzip-compressed. */
function nameOf(name: string, { gzip }: Upload): string {
  const bare = name.replace(/\.gz$/i, '')
  return gzip ? `${bare}.gz` : bare
}
