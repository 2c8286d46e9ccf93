// Starts a fetch of a public source in the background; its import is queued as an uploaded one is.
import { basename } from 'node:path'
import { machineMs } from '#core/process/time-and-chance.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import { importFormat } from '#imports/registry.ts'
import type { UploadCtx } from '#imports/start-uploaded-import.ts'
import { openImport } from '#prices/imports/imports.ts'
import type { ImportedFile } from './fetch-files.ts'
import { type ListedSource, publicSource, publicSources } from './list-public-sources.ts'
import type { SourceFetches } from './source-fetches.ts'
import type { PublicSource } from './sources.ts'

export interface FetchCtx extends UploadCtx {
  fetches: SourceFetches
}

export const startSourceFetch = verb(
  {
    name: 'startSourceFetch',
    needs: 'catalogue',
    input: Type.Object({
      name: Type.String({ maxLength: 100, description: 'Name of the source, as `GET /public-sources` lists it' }),
      again: Type.Optional(Type.Boolean({ description: 'Download and import files that have not changed, too' })),
    }),
  },
  async (ctx: FetchCtx, { name, again = false }): Promise<ListedSource> => {
    const source = publicSource(name)
    let began = false
    return change(ctx, async (_tx, note) => {
      // The write may be retried after a deadlock. The result of the fetch is visible in its state.
      if (!began) await ctx.fetches.begin(source, { again, importFiles: (files) => queueImport(ctx, source, files) })
      began = true
      note.audit({ action: 'source.fetch', subject: 'public source', id: name, after: { licence: source.licence, terms: source.termsUrl } })
      return (await publicSources(ctx)).find((listed) => listed.name === name)!
    })
  },
)

/** The name that the import of a source's files is listed under. */
function importNameOf(source: PublicSource, files: readonly ImportedFile[]): string {
  return files.length === 1 ? basename(files[0]!.path) : `${source.name} (${files.length} files)`
}

async function queueImport(ctx: FetchCtx, source: PublicSource, files: ImportedFile[]): Promise<number> {
  const { db, imports, now, requestId, rules, viewer } = ctx
  const format = importFormat(source.format)
  const opening = {
    format: format.name,
    market: format.defaultMarket,
    fileName: importNameOf(source, files),
    dryRun: false,
    status: 'queued' as const,
  }
  const importId = await openImport(db.kysely, { ...opening, author: actorOf(viewer) }, now())
  const clockOffsetMs = now().getTime() - machineMs()
  const job = { importId, format: format.name, files, keepFiles: true, market: null, mapping: null, dryRun: false, acceptDrift: false }
  await imports.add({ ...job, rules, viewer, requestId, clockOffsetMs })
  return importId
}
