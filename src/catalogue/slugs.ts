// Slugs: readable, unique across the catalogue, and never changed once assigned.
import type { Queryable } from '#db/schema.ts'
import { kept } from '#index/kept.ts'
import type { ItemRecord } from './records.ts'

/** Lower-case ASCII words joined with `-`: `Nidoran ♀` → `nidoran-female`, `Farfetch'd` → `farfetchd`, Japanese → ''. */
export const slugWords = kept(wordsOfSlug)

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

/** The slug an item would like: name, code, set, and the finish where the record names one. */
export function wantedItemSlug(item: ItemRecord, categoryName: string): string {
  const finish = item.attributes.find((attribute) => attribute.name === 'Finish')?.value ?? ''
  const words = [item.name, item.code ?? '', categoryName, finish].map(slugWords).filter(Boolean)
  return words.join('-') || slugWords(item.ref) || 'item'
}

export interface SlugWish {
  wanted: string
  /** tells apart what wants the same slug; the same for the same thing every time */
  ref: string
}

/**
 * Gives each wish a slug nobody has: the wanted one, else with the ref behind it, else with a count.
 * @returns slugs in the order of the wishes
 */
export async function freeSlugs(db: Queryable, table: 'items' | 'categories', wishes: SlugWish[]): Promise<string[]> {
  const wanted = new Set<string>()
  const again = wishes.filter((wish) => wanted.size === wanted.add(wish.wanted).size)
  const taken = await takenSlugs(db, table, [...wanted])
  const asked = new Set([...again, ...wishes.filter((wish) => taken.has(wish.wanted))].map(withRef))
  for (const slug of await takenSlugs(db, table, [...asked])) taken.add(slug)
  const given: string[] = []
  for (const wish of wishes) {
    let slug = wish.wanted
    for (let count = 1; taken.has(slug); count += 1) {
      slug = count === 1 ? withRef(wish) : `${withRef(wish)}-${count}`
      if (!asked.has(slug) && (await takenSlugs(db, table, [slug])).has(slug)) taken.add(slug)
    }
    taken.add(slug)
    given.push(slug)
  }
  return given
}

function withRef({ wanted, ref }: SlugWish): string {
  return `${wanted}-${slugWords(ref)}`
}

/** Those of the slugs that an item or category has. */
export async function takenSlugs(db: Queryable, table: 'items' | 'categories', slugs: string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set()
  const slugsOf = (from: 'items' | 'categories' | 'item_aliases') =>
    db
      .selectFrom(from)
      .select('slug')
      .where('slug', '=', (eb) => eb.fn.any(eb.val(slugs)))
  // A merged item keeps its slug, so that it can have it again.
  const rows = await (table === 'items' ? slugsOf('items').union(slugsOf('item_aliases')) : slugsOf(table)).execute()
  return new Set(rows.map((row) => row.slug))
}
