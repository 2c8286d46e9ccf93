// Types of a dump: its manifest and files.
import { type Static, Type } from '#core/input.ts'

export const DumpFileSchema = Type.Object(
  {
    name: Type.String({ description: 'Path below `/api/v1/dumps/`', examples: ['items-20261122T030000000Z.ndjson.gz'] }),
    rows: Type.Integer({ description: 'Rows in it' }),
    bytes: Type.Integer({ description: 'Its size' }),
    sha256: Type.String({ description: 'SHA-256 of the file, in hexadecimal' }),
  },
  { title: 'DumpFile', description: 'A file of a dump; download it over REST' },
)
export type DumpFile = Static<typeof DumpFileSchema>

export const DumpSchema = Type.Object(
  {
    as_of: Type.String({ format: 'date-time', description: 'Time of the database snapshot, UTC' }),
    change_cursor: Type.String({ description: 'Send it to `changes` as `after` to get the changes since the dump' }),
    files: Type.Array(DumpFileSchema, { description: 'Each table as NDJSON (gzip) and Parquet; price points by month' }),
  },
  { title: 'Dump', description: 'Categories, items, prices and price points from one point in time' },
)
export type Dump = Static<typeof DumpSchema>
