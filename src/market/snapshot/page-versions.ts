// Versions of listings and of everything else in memory, by which a page that was read earlier is compared with one read now.
import { withCapacity } from '#index/columns.ts'
import type { ListingPage } from './queries.ts'

export class PageVersions {
  /** increases with every change of what a search finds or shows */
  all = 0
  /** counts those that are not changes of single listings */
  #others = 0
  /** by row: counts changes of what responses show of it */
  #rows = new Uint32Array(0)

  changed(row: number): void {
    this.all += 1
    this.#rows = withCapacity(this.#rows, row + 1)
    this.#rows[row]! += 1
  }

  changedOthers(): void {
    this.all += 1
    this.#others += 1
  }

  /** A function that tells later whether a page would still be the same, although listings or prices have changed. */
  follow({ rows, listVersion }: ListingPage): () => boolean {
    const others = this.#others
    const versions = this.#sumOf(rows)
    const listed = listVersion()
    return () => others === this.#others && versions === this.#sumOf(rows) && listed === listVersion()
  }

  /** Versions of rows only increase, so their sum stays the same only if all do. */
  #sumOf(rows: Int32Array): number {
    let sum = 0
    for (let i = 0; i < rows.length; i += 1) sum += this.#rows[rows[i]!] ?? 0
    return sum
  }
}
