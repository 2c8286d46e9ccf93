// Slugs: readable, unique in the catalogue, and never changed once assigned.
import type { Queryable } from '#db/schema.ts'
import { memoize } from '#index/memoize.ts'
import type { ItemRecord } from './catalogue-records.ts'

/** Lower-case ASCII words joined with `-`: `Nidoran ♀` → `nidoran-female`, `Farfetch'd` → `farfetchd`, Japanese → ''. */
export const slugWords = memoize(wordsOfSlug)

function wordsOfSlug(text: string): string {
  return text
    .replaceAll('♀', ' female')
    .replaceAll('♂', ' male')
    .replaceAll('δ', ' delta')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, '')
    .replaceAll('ı', 'i')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 120)
}

/** The preferred slug of an item: name, code, set, and the finish if the record states one. */
export function preferredItemSlug(item: ItemRecord, categoryName: string): string {
  const finish = item.attributes.find((attribute) => attribute.name === 'Finish')?.value ?? ''
  const words = [item.name, item.code ?? '', categoryName, finish].map(slugWords).filter(Boolean)
  return words.join('-') || slugWords(item.ref) || 'item'
}

export interface SlugRequest {
  preferred: string
  /** distinguishes records that want the same slug; stable for the same record */
  ref: string
}

/**
 * Assigns a free slug to each request: the wanted one, otherwise with the ref appended, otherwise with a counter.
 * @returns slugs in the order of the requests
 */
export async function freeSlugs(db: Queryable, table: 'items' | 'categories', requests: SlugRequest[]): Promise<string[]> {
  const preferred = new Set<string>()
  const repeated = requests.filter((request) => preferred.size === preferred.add(request.preferred).size)
  const taken = await takenSlugs(db, table, [...preferred])
  const alternatives = new Set([...repeated, ...requests.filter((request) => taken.has(request.preferred))].map(withRef))
  for (const slug of await takenSlugs(db, table, [...alternatives])) taken.add(slug)
  const assigned: string[] = []
  for (const request of requests) {
    let slug = request.preferred
    for (let count = 1; taken.has(slug); count += 1) {
      slug = count === 1 ? withRef(request) : `${withRef(request)}-${count}`
      if (!alternatives.has(slug) && (await takenSlugs(db, table, [slug])).has(slug)) taken.add(slug)
    }
    taken.add(slug)
    assigned.push(slug)
  }
  return assigned
}

function withRef({ preferred, ref }: SlugRequest): string {
  return `${preferred}-${slugWords(ref)}`
}

/** Those of the slugs that an item or category already uses. */
export async function takenSlugs(db: Queryable, table: 'items' | 'categories', slugs: string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set()
  const slugsOf = (from: 'items' | 'categories' | 'item_aliases') =>
    db
      .selectFrom(from)
      .select('slug')
      .where('slug', '=', (eb) => eb.fn.any(eb.val(slugs)))
  // A merged item keeps its slug, so that undoing the merge can restore it.
  const rows = await (table === 'items' ? slugsOf('items').union(slugsOf('item_aliases')) : slugsOf(table)).execute()
  return new Set(rows.map((row) => row.slug))
}
