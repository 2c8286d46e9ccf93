// Dumps of the catalogue: an addition to the interface.
import { orNull } from '#core/fields.ts'
import type { HasViewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { getDump } from '#dumps/get-dump.ts'
import type { DumpCtx } from '#dumps/maker.ts'
import { type NamedDumpFile, readDumpFile } from '#dumps/read-dump-file.ts'
import { type Dump, DumpSchema } from '#dumps/dump-types.ts'
import type { Route } from '#http/route.ts'

const tag = 'Catalogue'
const GZIP = 'application/gzip'
const PARQUET = 'application/vnd.apache.parquet'

export const dumpRoutes: Route<DumpCtx & HasViewer & { db: Db }>[] = [
  {
    method: 'GET',
    path: '/dumps',
    verb: getDump,
    summary: 'Read the latest dump of the catalogue',
    description:
      'A consistent snapshot of categories, items, current prices and the price points of each month, created every night. `data` is null ' +
      'until the first dump exists. For later changes, read `/changes` after its `change_cursor`. Professional and above.',
    tag,
    answer: (dump: Dump | null) => ({ data: dump }),
    data: orNull(DumpSchema),
  },
  {
    method: 'GET',
    path: '/dumps/:name',
    verb: readDumpFile,
    summary: 'Download a file of a dump',
    description:
      'A file of the latest dump or the one before it. `Range` resumes a download, with `If-Range` and the `ETag` of the first part. Professional and above.',
    tag,
    answer: ({ name, ...file }: NamedDumpFile) => ({
      headers: ['content-type', name.endsWith('.parquet') ? PARQUET : GZIP, 'content-disposition', `attachment; filename="${name}"`],
      // The name contains the time of the dump: its content never changes.
      file: { ...file, tag: name },
    }),
    files: { types: [GZIP, PARQUET], resumable: true },
    errors: ['NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
  },
]
