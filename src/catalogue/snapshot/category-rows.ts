// Rows of items by their category, so that a filter by category looks at its own items only.
import { Postings } from '#index/postings.ts'
import type { ColumnStore } from '#index/stored.ts'

/** Lists that only grow: a row that has left a category stays on its list, and readers check its current category. */
export class CategoryRows {
  readonly #rows = new Postings()

  store(columns: ColumnStore): void {
    this.#rows.store(columns)
  }

  /** Tells that a row stands in a category from now on. */
  add(categoryId: number, row: number): void {
    this.#rows.add(categoryId, row)
  }

  /** Gives back room that loading has left. */
  pack(): void {
    this.#rows.pack()
  }

  /** Visits every row that stands or stood in one of the categories, some of them more than once. */
  forEach(categoryIds: Iterable<number>, visit: (row: number) => void): void {
    for (const categoryId of categoryIds) for (const row of this.#rows.view(categoryId)) visit(row)
  }
}
