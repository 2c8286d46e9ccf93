// All import formats by name, catalogue and prices alike, and the order in which several files of one import are read.
import type { CatalogueFormat } from '#catalogue/records/catalogue-records.ts'
import { CATALOGUE_FORMATS } from '#catalogue/sources/formats.ts'
import { notFound } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import type { PriceFormat } from '#prices/records/feed-rows.ts'
import { PRICE_FORMATS } from '#prices/sources/formats.ts'
import { headOf, type ImportFile } from './files.ts'

export type ImportFormat = ({ kind: 'catalogue' } & CatalogueFormat) | ({ kind: 'prices' } & PriceFormat)

export const IMPORT_FORMATS: readonly ImportFormat[] = [
  ...CATALOGUE_FORMATS.map((format) => ({ kind: 'catalogue' as const, ...format })),
  ...PRICE_FORMATS.map((format) => ({ kind: 'prices' as const, ...format })),
]

const NAMES = IMPORT_FORMATS.map((format) => format.name)

/** The format of this name. @throws NOT_FOUND with the existing names */
export function importFormat(name: string): ImportFormat {
  const format = IMPORT_FORMATS.find((listed) => listed.name === name)
  if (format) return format
  throw notFound('no_format', { name, values: NAMES })
}

/** Parameters of every import besides its files and mapping. */
export const IMPORT_INPUT = {
  format: Type.String({ description: `One of ${NAMES.join(', ')}` }),
  market: Type.Optional(Type.Enum([...MARKETS], { description: "Market to import into; default: the format's market" })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Only report; change nothing' })),
  accept_drift: Type.Optional(Type.Boolean({ description: 'Import a price list although its prices are off as a whole (rule `feed_drift`)' })),
}

/** Sorts files so that those that others refer to are read first: series before sets before cards, regardless of the order of the arguments. */
export async function inReadingOrder(format: ImportFormat, files: ImportFile[]): Promise<ImportFile[]> {
  if (files.length < 2 || format.kind !== 'catalogue' || !format.rank) return files
  const ranked = await Promise.all(files.map(async (file) => ({ file, rank: format.rank!(await headOf(file)) })))
  return ranked.sort((a, b) => a.rank - b.rank).map(({ file }) => file)
}
