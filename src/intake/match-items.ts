// Finds the items of rows of users' files: by their ids, otherwise by matching rules applied to search results.
import type { CatalogueNode } from '#catalogue/context.ts'
import { ItemLookup } from '#catalogue/items/item-lookup.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { Market } from '#core/markets.ts'
import { type Reason, reason } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { type CardDescription, CardIndex, type FindResult, type IndexedRecord, isTooLong, itemRecord } from '#matching/card-index.ts'
import { printingIn } from '#matching/descriptions.ts'
import { finishRules, finishSlug } from '#catalogue/records/finishes.ts'
import type { ItemKey } from '#prices/records/feed-rows.ts'

/** How a file describes an item: by its ids, if the file has them, and by the text on the card. */
export interface ItemDescription extends CardDescription {
  keys: ItemKey[]
  /** The file cannot state the printing: an id of several printings is uncertain, and does not mean the plain one. */
  anyFinish?: boolean
}

/** A candidate item of a row. */
export interface Candidate {
  item_id: number
  name: string
  code: string | null
  set: string
  market: Market
  finish: string | null
}

export type Match = { itemId: number } | { why: Reason; candidates: Candidate[] }

/** If a search has fewer results, it is repeated with other words. */
const MIN_RESULTS = 5
/** Maximum search results that are checked. */
const MAX_CHECKED = 100

/** The items of rows, in order; a row whose item is already known keeps it. */
export async function matchItems(
  { db, catalogue }: Pick<ReadCtx, 'db'> & CatalogueNode,
  rows: readonly (ItemDescription | { itemId: number })[],
): Promise<Match[]> {
  const lookup = new ItemLookup(db.kysely)
  await lookup.load(rows.flatMap((row) => ('keys' in row ? row.keys : [])))
  const matches: Match[] = []
  const matchRow = (row: ItemDescription | { itemId: number }) => matches.push('keys' in row ? matchItem(catalogue, lookup, row) : row)
  await runInSlices(rows.length, (i) => matchRow(rows[i]!), 1)
  return matches
}

function matchItem(catalogue: Catalogue, lookup: ItemLookup, item: ItemDescription): Match {
  for (const key of item.keys) {
    const found = lookup.find(key)
    const printings = item.anyFinish && 'source' in key ? lookup.itemsOf(key) : []
    if (printings.length > 1) {
      // An item imported a moment ago is not in memory yet.
      const rows = printings.map((itemId) => catalogue.items.rowOf(itemId)).filter((row) => row >= 0)
      return { why: reason('fits_several'), candidates: rows.map((row) => candidateOf(catalogue, row)) }
    }
    if ('itemId' in found && !('ambiguous' in found)) return { itemId: found.itemId }
  }
  const found = findAmong(catalogue, item, isTooLong(item) ? [] : rowsFor(catalogue, item))
  if ('itemId' in found) return { itemId: found.itemId }
  const candidates = found.candidates.map(({ itemId }) => candidateOf(catalogue, catalogue.items.rowOf(itemId)))
  return { why: reason(ruleOf(found)), candidates }
}

/** An item of the catalogue by its row, as parked rows show it. */
export function candidateOf({ items, categories }: Catalogue, row: number): Candidate {
  return {
    item_id: items.id[row]!,
    name: items.nameOf(row),
    code: items.codeOf(row),
    set: categories.get(items.categoryId[row]!)?.name ?? '',
    market: items.marketOf(row),
    finish: items.finishOf(row),
  }
}

/** The same card may be in the catalogues of several markets: the first market with a suitable item counts. */
function findAmong(catalogue: Catalogue, item: ItemDescription, rows: readonly number[]): FindResult {
  // The search has already filtered by game.
  const description = { ...item, game: null }
  const markets = Map.groupBy(rows, (row) => catalogue.items.market[row]!)
  if (markets.size > 1) {
    for (const [, own] of [...markets].sort(([a], [b]) => a - b)) {
      const found = indexOf(catalogue, own).find(description)
      if ('itemId' in found || found.reason.rule === 'several') return found
    }
  }
  return indexOf(catalogue, rows).find(description)
}

function ruleOf(found: Exclude<FindResult, { itemId: number }>): 'fits_several' | 'fits_none' | 'like_none' {
  if (found.reason.rule === 'several') return 'fits_several'
  return found.candidates.length > 0 ? 'fits_none' : 'like_none'
}

function rowsFor({ queries }: Catalogue, { name, number, game }: ItemDescription): number[] {
  const filter = { game: game ?? undefined }
  const rows = new Set<number>()
  const { bareName } = printingIn(name, number)
  const bare = number?.replace(/\/.*/, '') ?? null
  for (const q of [bare === null ? '' : `${bareName} ${bare}`, bareName, number ?? '']) {
    if (q.trim() === '' || rows.size >= MIN_RESULTS) continue
    for (const row of queries.search(q, filter, 0, MAX_CHECKED).rows) rows.add(row)
  }
  return [...rows]
}

function indexOf(catalogue: Catalogue, rows: readonly number[]): CardIndex {
  return new CardIndex(rows.map((row) => indexed(catalogue, row)))
}

/** An item of the catalogue as a record; printing words after its name count as its finish. */
function indexed({ items, categories }: Catalogue, row: number): IndexedRecord {
  const itemId = items.id[row]!
  const number = items.codeOf(row)
  const category = categories.get(items.categoryId[row]!)
  const { bareName: name, printing } = printingIn(items.nameOf(row), number)
  const stated = items.finishOf(row)
  const game = items.gameOf(row)
  const finish = stated === null && printing === '' ? null : finishSlug(`${stated ?? ''} ${printing}`, finishRules(game))
  const set = category ? { ref: String(items.categoryId[row]), name: category.name, codes: category.codes, printedTotal: null } : null
  return itemRecord({ itemId, finish, card: String(itemId), game, genre: 'single', family: '', set, number, name })
}
