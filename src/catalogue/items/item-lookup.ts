// Resolves the ref, or the foreign id and finish, of a price row or request to an item. It never guesses an ambiguous one.
import { sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { Queryable } from '#db/schema.ts'
import type { FinishRules } from '#games/schema.ts'
import type { ItemKey } from '#prices/records/feed-rows.ts'
import { byPlainness, FIT, finishFit, finishRules, finishSlug, finishWords, fittest } from '../records/finishes.ts'

/**
 * `itemId`; otherwise the reason: `reject` (`unknown` if no item has the ref or id), or `ambiguous` if several items are possible, with
 * all `items` and the first of them.
 */
export type LookupResult = { itemId: number } | { reject: Reason; unknown: boolean } | { ambiguous: Reason; itemId: number; items: readonly number[] }

/** A candidate item, with the properties that matching a finish needs. */
export interface Candidate {
  itemId: number
  /** canonical slug; null if none is stated */
  finish: string | null
  words: readonly string[] | null
  /** equal for all finishes of a card */
  card: string
  /** of its game */
  rules: FinishRules
}

/** Of a candidate. */
type KnownItem = Pick<Candidate, 'card'> & { game: string }

interface RefItem {
  itemId: number
  market: Market
}

/** Maximum number of cached keys; recent ones are enough, because feeds repeat those. */
const MAX_CACHED_KEYS = 100_000
/** Longer than any ref or foreign id of an item. */
const MAX_KEY_LENGTH = 500

/** Looks up keys in batches and caches the results, including misses. */
export class ItemLookup {
  readonly #db: Queryable
  readonly #known: ((itemId: number) => KnownItem) | undefined
  readonly #byForeignId = new Map<string, Candidate[]>()
  readonly #byRef = new Map<string, RefItem[]>()
  #last: { ref: string; all: RefItem[] } = { ref: '', all: [] }

  /** @param known card and game of an item; read from the database by default */
  constructor(db: Queryable, known?: (itemId: number) => KnownItem) {
    this.#db = db
    this.#known = known
  }

  /** Loads a batch of keys, so that `find` needs no query. */
  async load(keys: Iterable<ItemKey>): Promise<void> {
    if (this.#byRef.size + this.#byForeignId.size > MAX_CACHED_KEYS) this.#forget()
    const refs = new Set<string>()
    const names = new Map<string, { source: string; id: string }>()
    let lastRef: string | null = null
    for (const key of keys) {
      if ('ref' in key) {
        // Prices of one item are mostly adjacent, and comparing with the last ref is faster than a lookup in the map.
        if (key.ref === lastRef) continue
        lastRef = key.ref
        if (key.ref.length <= MAX_KEY_LENGTH && !this.#byRef.has(key.ref)) refs.add(key.ref)
      } else if (key.id.length <= MAX_KEY_LENGTH) {
        const name = nameOf(key.source, key.id)
        if (!this.#byForeignId.has(name)) names.set(name, key)
      }
    }
    if (refs.size > 0) await this.#loadRefs([...refs])
    if (names.size > 0) await this.#loadForeignIds([...names.values()])
  }

  find(key: ItemKey): LookupResult {
    return 'ref' in key ? this.#findRef(key) : this.#findForeignId(key)
  }

  /** All items with an id of another system, such as the printings of a card. */
  itemsOf({ source, id }: { source: string; id: string }): number[] {
    return [...new Set(this.#byForeignId.get(nameOf(source, id))?.map(({ itemId }) => itemId))]
  }

  #forget(): void {
    this.#byRef.clear()
    this.#byForeignId.clear()
    this.#last = { ref: '', all: [] }
  }

  async #loadRefs(refs: string[]): Promise<void> {
    // Copies, because a slice of a file's text would keep the whole text in memory.
    for (const ref of refs) this.#byRef.set(Buffer.from(ref).toString(), [])
    const { rows } = await sql<{ id: number; ref: string; market: Market }>`
      select id, ref, market from items where market = any('{service,source_a,source_b,source_c}') and ref = any(${refs}::text[])
      union all select live_item(item_id), ref, market from item_aliases where ref = any(${refs}::text[])
      order by id`.execute(this.#db)
    for (const row of rows) this.#byRef.get(row.ref)!.push({ itemId: row.id, market: row.market })
  }

  async #loadForeignIds(keys: { source: string; id: string }[]): Promise<void> {
    const lists = keys.map((): Candidate[] => [])
    for (const [i, { source, id }] of keys.entries()) this.#byForeignId.set(Buffer.from(nameOf(source, id)).toString(), lists[i]!)
    const known = this.#known
    const ofItem = sql`, (select concat_ws(chr(9), i.category_id, i.code, i.name) from items i where i.id = f.item_id) as card,
      (select i.game from items i where i.id = f.item_id) as game`
    const { rows } = await sql<{ n: number; item_id: number; finish: string } & Partial<KnownItem>>`
      select k.n::int, f.item_id, f.finish ${known ? sql`` : ofItem}
      from unnest(${keys.map(({ source }) => source)}::text[], ${keys.map(({ id }) => id)}::text[]) with ordinality as k (source, id, n)
      join item_foreign_ids f on f.source = k.source and f.foreign_id = k.id
      order by f.item_id`.execute(this.#db)
    for (const { n, item_id: itemId, finish, ...item } of rows) {
      const { card, game } = known?.(itemId) ?? (item as KnownItem)
      lists[n - 1]!.push(candidateOf(itemId, finish === '' ? null : finish, card, game))
    }
  }

  #findRef({ ref, market }: { ref: string; market?: Market }): LookupResult {
    if (ref !== this.#last.ref) this.#last = { ref, all: this.#byRef.get(ref) ?? [] }
    const { all } = this.#last
    const found = market === undefined ? all : all.filter((item) => item.market === market)
    if (found.length > 0 && found.every(({ itemId }) => itemId === found[0]!.itemId)) return { itemId: found[0]!.itemId }
    if (found.length === 0) return { reject: reason('no_ref', { ref }), unknown: true }
    return { reject: reason('refs', { markets: found.map((item) => item.market), ref }), unknown: false }
  }

  #findForeignId({ source, id, finish }: { source: string; id: string; finish?: string }): LookupResult {
    const all = this.#byForeignId.get(nameOf(source, id)) ?? []
    if (all.length === 0) return { reject: reason('no_foreign_id', { source, id }), unknown: true }
    const items = itemsOfFinish(all, finish)
    if (items.length === 1) return { itemId: items[0]! }
    if (items.length > 1) return { ambiguous: reason('foreign_id', { source, id, items }), itemId: items[0]!, items }
    return { reject: reason('no_finish', { source, id, finish: finish! }), unknown: false }
  }
}

/** The candidate of a stored finish in any spelling; null if none is stated. */
export function candidateOf(itemId: number, finish: string | null, card: string, game: string): Candidate {
  const rules = finishRules(game)
  const slug = finish === null ? null : finishSlug(finish, rules)
  return { itemId, finish: slug, words: slug === null ? null : finishWords(slug, rules), card, rules }
}

/** Ids of the items with this finish; without a finish, of the plainest ones. Several if ambiguous, none if no finish fits. */
export function itemsOfFinish(candidates: readonly Candidate[], finish: string | undefined): number[] {
  const chosen = finish === undefined ? plainestOf(candidates) : ofFinish(candidates, finish)
  return [...new Set(chosen.map(({ itemId }) => itemId))]
}

/** The items whose finish fits best; none if no finish fits. */
function ofFinish(all: readonly Candidate[], finish: string): readonly Candidate[] {
  const stated = finish.slice(0, MAX_KEY_LENGTH)
  // An item without a stated finish matches only the plain card: a missing price is better than a wrong one.
  const fitOf = ({ words, rules }: Candidate) => {
    const wanted = finishWords(stated, rules)
    return words === null && wanted.length > 0 ? FIT.none : finishFit(wanted, words, rules)
  }
  return fittest(all.map((candidate) => ({ ...candidate, fit: fitOf(candidate) })))
}

/** Among several finishes of a card, an id without a finish means the plain one: no finish, normal, or holo. */
function plainestOf(all: readonly Candidate[]): readonly Candidate[] {
  if (all.length < 2 || all.some(({ card }) => card !== all[0]!.card)) return all
  const { rules } = all[0]!
  const [first, second] = all.toSorted((a, b) => byPlainness(rules)(a.finish, b.finish))
  const isPlain = first!.words === null || first!.words.every((word) => word === rules.foil)
  return isPlain && (first!.finish !== second!.finish || first!.itemId === second!.itemId) ? [first!] : all
}

function nameOf(source: string, id: string): string {
  return `${source}\t${id}`
}
