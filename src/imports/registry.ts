// All import formats by name, catalogue and prices alike, and the order in which several files of one import are read.
import { PRICE_FORMATS } from '#prices/sources/formats.ts'
import type { PriceFormat } from '#prices/records.ts'
import type { CatalogueFormat } from '#catalogue/records.ts'
import { CATALOGUE_FORMATS } from '#catalogue/sources/formats.ts'
import { headOf, type ImportFile } from './files.ts'

export type ImportFormat = ({ kind: 'catalogue' } & CatalogueFormat) | ({ kind: 'prices' } & PriceFormat)

export const IMPORT_FORMATS: readonly ImportFormat[] = [
  ...CATALOGUE_FORMATS.map((format) => ({ kind: 'catalogue' as const, ...format })),
  ...PRICE_FORMATS.map((format) => ({ kind: 'prices' as const, ...format })),
]

/** The format of this name; undefined for any other text. */
export function importFormat(name: string): ImportFormat | undefined {
  return IMPORT_FORMATS.find((format) => format.name === name)
}

/** Files that others refer to come first: series before sets before cards, whatever order they were named in. */
export async function inReadingOrder(format: ImportFormat, files: ImportFile[]): Promise<ImportFile[]> {
  if (files.length < 2 || format.kind !== 'catalogue' || !format.rank) return files
  const ranked = await Promise.all(files.map(async (file) => ({ file, rank: format.rank!(await headOf(file)) })))
  return ranked.sort((a, b) => a.rank - b.rank).map(({ file }) => file)
}
