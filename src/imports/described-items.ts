// Finds the items of price rows by set, number, name and finish, if no item has their ids. A row that matches two items is rejected.
import { type Reason, reason } from '#core/problems.ts'
import type { Tx } from '#db/schema.ts'
import { familiesOf, loadItemIndex } from '#identity/records/item-index.ts'
import type { CardDescription, CardIndex } from '#matching/card-index.ts'
import { type ItemKey, type ItemKeys, type PriceRow, wordsOf } from '#prices/records/feed-rows.ts'

/** Maximum item ids that a reason lists. */
const MAX_LISTED_IDS = 3
const MAX_SHOWN_LENGTH = 120

export class DescribedItems {
  readonly #tx: Tx
  /** indexes of the candidate items, by `worldsOf` of the rows */
  readonly #indexes = new Map<string, CardIndex>()

  constructor(tx: Tx) {
    this.#tx = tx
  }

  /** Whether the row has enough details for a reliable match. */
  static canFind(item: ItemKey | ItemKeys): boolean {
    const { name, number, set } = wordsOf(item)
    return 'anyOf' in item ? name !== undefined : Boolean(name && number && set)
  }

  /** Reads the candidate items of the rows, and learns the rows' names for sets. */
  async load(rows: readonly PriceRow[]): Promise<void> {
    this.#indexes.clear()
    for (const [worlds, own] of Map.groupBy(
      rows.map(({ item }) => described(item)),
      worldsOf,
    )) {
      const index = await loadItemIndex(this.#tx, own)
      index.learn(own)
      this.#indexes.set(worlds, index)
    }
  }

  /** Finds the item of a row whose batch has been passed to `load`. */
  find(item: ItemKey | ItemKeys): { itemId: number } | { reject: Reason } {
    const description = described(item)
    const { name, number, set, finish } = description
    if (name === '') return { reject: reason('no_item') }
    const shown = short([name, number, set].filter(Boolean).join(' · '))
    if (number !== null && set === null && /^[0-9]+$/.test(number)) return { reject: reason('no_set_named', { name: shown }) }
    const found = this.#indexes.get(worldsOf(description))!.find(description)
    if ('itemId' in found) return found
    const items = found.candidates.slice(0, MAX_LISTED_IDS).map(({ itemId }) => itemId)
    switch (found.reason.rule) {
      case 'several':
        return { reject: reason('several_items', { name: shown, items }) }
      case 'finish':
        return { reject: reason('finish_unknown', { name: shown, finish: short(finish ?? '') }) }
      case 'set-unclear':
        return { reject: reason('unknown_set', { set: short(set!) }) }
      default:
        return { reject: reason('no_match', { name: shown, ...(items.length > 0 && { items }) }) }
    }
  }
}

/** Equal for rows of the same game and language families, as far as the rows state them. */
function worldsOf({ game, families }: CardDescription): string {
  return `${game ?? ''}\t${families?.join() ?? ''}`
}

function described(item: ItemKey | ItemKeys): CardDescription {
  const { name = '', number, set, game, finish, language } = wordsOf(item)
  return { name, number: number ?? null, set: set ?? null, game: game ?? null, finish: finish ?? null, families: familiesOf(language, game ?? null) }
}

function short(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}
