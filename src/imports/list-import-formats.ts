// Lists the formats that an import can read.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { verb, type HasViewer } from '#core/verb.ts'
import { IMPORT_FORMATS } from './registry.ts'

export const ImportFormatSchema = Type.Object(
  {
    name: Type.String({ examples: ['mintmark-prices-csv'] }),
    kind: Type.Enum(['catalogue', 'prices']),
    mapped: Type.Boolean({ description: 'Whether it needs a column mapping' }),
    title: Type.String({ description: 'Human-readable description of the format' }),
    market: orNull(Type.Enum([...MARKETS]), { description: 'Default market to import into' }),
    marks: Type.Array(Type.Object({ type: Type.Enum(['csv', 'json']), names: Type.Array(Type.String()) }, { title: 'FileMark' }), {
      description:
        'A file has this format if it matches one of these signatures: all names are columns of its header line (`csv`), ' +
        'or all names are keys in its first 4,096 characters (`json`)',
    }),
  },
  { title: 'ImportFormat' },
)
export type ListedFormat = Static<typeof ImportFormatSchema>

export const listImportFormats = verb({ name: 'listImportFormats', needs: 'operator', input: Type.Object({}) }, (_ctx: HasViewer): ListedFormat[] =>
  IMPORT_FORMATS.map((format) => {
    const { name, kind, title, defaultMarket: market, marks: formatMarks } = format
    const marks = formatMarks.map(({ type, names }) => ({ type, names: [...names] }))
    return { name, kind, mapped: format.kind === 'prices' && format.mapped === true, title, market, marks }
  }),
)
