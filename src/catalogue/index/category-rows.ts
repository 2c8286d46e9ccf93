// Rows of items by category, so that a category filter visits only its own items.
import { Postings } from '#index/postings.ts'
import type { ColumnStore } from '#index/stored.ts'

/** Append-only lists of rows. A row that has left a category stays on its list, so readers check the row's current category. */
export class CategoryRows {
  readonly #rows = new Postings()

  store(columns: ColumnStore): void {
    this.#rows.store(columns)
  }

  /** Adds a row that is now in the category. */
  add(categoryId: number, row: number): void {
    this.#rows.add(categoryId, row)
  }

  /** Frees memory that is left over from loading. */
  pack(): void {
    this.#rows.pack()
  }

  /** Visits every row that is or was in one of the categories; may visit a row more than once. */
  forEach(categoryIds: Iterable<number>, visit: (row: number) => void): void {
    for (const categoryId of categoryIds) for (const row of this.#rows.view(categoryId)) visit(row)
  }
}
