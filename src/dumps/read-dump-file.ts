// Opens a file of an available dump.
import { notFound } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { DumpCtx } from './maker.ts'
import type { StoredDumpFile } from './dump-store.ts'

/** A file with its requested name. */
export type NamedDumpFile = StoredDumpFile & { name: string }

export const readDumpFile = verb(
  {
    name: 'readDumpFile',
    needs: OPERATION_PLAN.readDumpFile,
    input: Type.Object({
      name: Type.String({ maxLength: 100, description: 'As in the manifest', examples: ['items-20261122T030000000Z.ndjson.gz'] }),
    }),
  },
  async ({ dumps }: DumpCtx & HasViewer, { name }): Promise<NamedDumpFile> => {
    const file = await dumps.store.open(name)
    if (!file) throw notFound('not_found', { thing: 'file', id: name })
    return { ...file, name }
  },
)
