// Reads fixtures and the real reference files through a catalogue format, for the tests of the formats.
import { createReadStream, existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import type {
  CatalogueFormat,
  CatalogueReader,
  CatalogueRow,
  CategoryRecord,
  ItemRecord,
  StoredCategory,
} from '#catalogue/records/catalogue-records.ts'
import { gunzip } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { ruleOf } from '../../support/reasons.ts'

const REFERENCE = new URL('../../../../shared/data/', import.meta.url)

/** A started import; `storedCategories` are the categories of earlier imports by ref. */
export function opened(
  format: CatalogueFormat,
  { market = format.defaultMarket, storedCategories = {} }: { market?: Market; storedCategories?: Record<string, StoredCategory> } = {},
): CatalogueReader {
  return format.open(market, new Map(Object.entries(storedCategories)))
}

/** All rows that a reader returns for a text; the bytes come in pieces of seven, so that nothing depends on chunk boundaries. */
export async function readText(reader: CatalogueReader, text: string): Promise<CatalogueRow[]> {
  async function* pieces() {
    const bytes = new TextEncoder().encode(text)
    for (let i = 0; i < bytes.length; i += 7) yield bytes.subarray(i, i + 7)
  }
  return (await Array.fromAsync(reader({ bytes: pieces(), fileName: null }))).flat()
}

export function ndjson(...rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** The rows of a file that contains these objects, one per line. */
export async function readRows(format: CatalogueFormat, ...rows: readonly unknown[]): Promise<CatalogueRow[]> {
  return readText(opened(format), ndjson(...rows))
}

export function itemsOf(rows: readonly CatalogueRow[]): ItemRecord[] {
  return rows.flatMap((row) => ('item' in row ? [row.item] : []))
}

export function categoriesOf(rows: readonly CatalogueRow[]): CategoryRecord[] {
  return rows.flatMap((row) => ('category' in row ? [row.category] : []))
}

/** `3 the card has no id` */
export function rejectsOf(rows: readonly CatalogueRow[]): string[] {
  return rows.flatMap((row) => ('reject' in row ? [`${row.line} ${ruleOf(row.reject)}`] : []))
}

/** The one item of these rows. */
export function onlyItem(rows: readonly CatalogueRow[]): ItemRecord {
  expect(rejectsOf(rows)).toEqual([])
  const items = itemsOf(rows)
  expect(items).toHaveLength(1)
  return items[0]!
}

export function attribute(item: ItemRecord, name: string): string | undefined {
  return item.attributes.find((a) => a.name === name)?.value
}

export interface FileCounts {
  /** lines that yielded anything: every row of the file */
  lines: number
  categories: number
  items: number
  rejects: number
}

/**
 * A test of real files, read as one import; skipped if the reference data is not available. Every line must
 * yield a category, an item or a rejection; refs must be unique, and categories must precede what refers to them.
 */
export function itReads(format: CatalogueFormat, expected: Readonly<Record<string, FileCounts>>) {
  const files = Object.keys(expected)
  const missing = files.some((file) => !existsSync(new URL(file, REFERENCE)))
  it.skipIf(missing)(`reads ${files.join(', ')} (skipped without ../shared/data)`, { tags: 'slow' }, async () => {
    const reader = opened(format)
    const counts: Record<string, FileCounts> = {}
    const categories = new Map<string, string>()
    const items = new Map<string, string>()
    const problems: string[] = []
    for (const file of files) {
      const lines = new Set<number>()
      const count = { lines: 0, categories: 0, items: 0, rejects: 0 }
      for await (const rows of reader({
        bytes: gunzip(createReadStream(new URL(file, REFERENCE))),
        fileName: file,
      })) {
        for (const row of rows) {
          lines.add(row.line)
          if ('reject' in row) count.rejects += 1
          else if ('category' in row) {
            count.categories += 1
            const { ref, parent } = row.category
            if (categories.get(ref) === file) problems.push(`category ${ref} twice`)
            if (parent && !categories.has(parent)) problems.push(`no parent ${parent} of ${ref}`)
            categories.set(ref, file)
          } else if ('item' in row) {
            count.items += 1
            const { ref, category, market, name, code } = row.item
            if (items.get(ref) === file) problems.push(`item ${ref} twice`)
            if (!categories.has(category)) problems.push(`no category ${category} of ${ref}`)
            if (market !== format.defaultMarket || name !== name.trim() || code === '') problems.push(`bad ${ref}`)
            items.set(ref, file)
          }
        }
      }
      counts[file] = { ...count, lines: lines.size }
    }
    expect(problems).toEqual([])
    expect(counts).toEqual(expected)
  })
}
