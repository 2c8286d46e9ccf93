// Mirrors the catalogue of another Mintmark service: loads a dump, then follows the changes.
import type { CategoryRow, ItemRow, PriceRow } from '#catalogue/catalogue-rows.ts'
import type { CatalogueCopy } from './copy.ts'
import { changesAfter, CursorExpired, dumpedRows, newestDump, type Remote } from './remote.ts'

export interface FollowOptions {
  remote: Remote
  copy: CatalogueCopy
  /** stop when all changes so far are applied */
  once: boolean
  /** called after each dump and page of changes */
  onApplied?: (applied: { dump: boolean; changes: number }) => void
  signal?: AbortSignal
}

const WAIT_SECONDS = 30

/** Follows until it is aborted, or with `once` until it is up to date. */
export async function follow({ remote, copy, once, onApplied = () => {}, signal }: FollowOptions): Promise<void> {
  let cursor = copy.cursorOf(remote.url)
  while (!signal?.aborted) {
    if (cursor === null) {
      const dump = await newestDump(remote)
      await copy.replace(remote.url, dump.change_cursor, {
        categories: dumpedRows<CategoryRow>(remote, dump, 'categories'),
        items: dumpedRows<ItemRow>(remote, dump, 'items'),
        prices: dumpedRows<PriceRow>(remote, dump, 'prices'),
      })
      cursor = dump.change_cursor
      onApplied({ dump: true, changes: 0 })
    }
    try {
      const { changes, next, more } = await changesAfter(remote, cursor, once ? 0 : WAIT_SECONDS)
      if (next !== cursor) copy.apply(changes, next)
      cursor = next
      if (changes.length > 0) onApplied({ dump: false, changes: changes.length })
      if (once && !more) return
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error
      cursor = null
    }
  }
}
