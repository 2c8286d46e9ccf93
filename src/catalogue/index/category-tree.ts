// Categories in memory: rows by id, ordered children, and everything below a category.
import type { Market } from '#core/markets.ts'
import type { ColumnStore } from '#index/stored.ts'

export interface Category {
  id: number
  market: Market
  name: string
  slug: string
  game: string
  image: string | null
  parentId: number | null
  /** number of cards that the set prints beside its numbers; null if none is stated */
  printedTotal: number | null
  /** codes that sources use for a set: ids and abbreviations */
  codes: readonly string[]
}

/** All categories of a catalogue; `version` counts every `set` and `remove`. */
export class CategoryTree {
  #byId = new Map<number, Category>()
  #children = new Map<number | null, number[]>()
  /** ids of all categories, ascending, built on first use */
  #ids: number[] | null = null
  /** counts every change, so that dependents can detect outdated derived data */
  version = 0

  store(columns: ColumnStore): void {
    for (const category of columns.value([...this.#byId.values()])) if (columns.reading) this.set(category)
  }

  set(category: Category): void {
    this.#detach(category.id)
    this.#byId.set(category.id, category)
    const siblings = this.#children.get(category.parentId)
    if (siblings) siblings.push(category.id)
    else this.#children.set(category.parentId, [category.id])
    this.#ids = null
    this.version += 1
  }

  remove(id: number): void {
    this.#detach(id)
    this.#byId.delete(id)
    this.#ids = null
    this.version += 1
  }

  get(id: number): Category | undefined {
    return this.#byId.get(id)
  }

  get size(): number {
    return this.#byId.size
  }

  ids(): readonly number[] {
    this.#ids ??= [...this.#byId.keys()].sort((a, b) => a - b)
    return this.#ids
  }

  childIds(id: number | null): readonly number[] {
    return this.#children.get(id) ?? []
  }

  /** The category and its descendants. */
  subtree(id: number): Set<number> {
    const found = new Set<number>()
    const open = this.#byId.has(id) ? [id] : []
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (found.has(next)) continue
      found.add(next)
      open.push(...this.childIds(next))
    }
    return found
  }

  #detach(id: number): void {
    const old = this.#byId.get(id)
    if (!old) return
    const siblings = this.#children.get(old.parentId)
    if (siblings) siblings.splice(siblings.indexOf(id), 1)
  }
}
