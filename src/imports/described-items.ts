// Finds the items of price rows by set, number, name and finish: what no id leads to. One that could be two is refused.
import type { Tx } from '#db/schema.ts'
import { familiesOf, loadItemIndex } from '#identity/item-index.ts'
import type { CardDescription, CardIndex } from '#matching/card-index.ts'
import type { ItemKey, ItemKeys, ItemWords, PriceRow } from '#prices/records.ts'

/** Ids of items that a reason names. */
const MOST_NAMED = 3
const LONGEST_SHOWN = 120

export class DescribedItems {
  readonly #tx: Tx
  #index: CardIndex | null = null
  /** game and language of the index; null for all */
  #loaded: { game: string | null; language: string | null } = { game: null, language: null }

  constructor(tx: Tx) {
    this.#tx = tx
  }

  /** Whether the row says enough for more than a guess: without a set, a number that is no more than that names no card. */
  static canFind(item: ItemKey | ItemKeys): boolean {
    if ('ref' in item) return false
    if ('anyOf' in item) return item.name !== undefined
    return Boolean(item.name && item.number && item.set)
  }

  /** Reads the items when they are needed for the first time, and learns what the rows call the sets. */
  async load(rows: readonly PriceRow[]): Promise<void> {
    const words = rows.map(({ item }): ItemWords => ('ref' in item ? {} : item))
    const [game, language] = [onlyOf(words.map((row) => row.game)), onlyOf(words.map((row) => row.language))]
    const has = (loaded: string | null, wanted: string | null) => loaded === null || loaded === wanted
    if (this.#index === null || !has(this.#loaded.game, game) || !has(this.#loaded.language, language)) {
      this.#index = null
      this.#index = await loadItemIndex(this.#tx, game, familiesOf(language ?? undefined))
      this.#loaded = { game, language }
    }
    this.#index.learn(rows.map(({ item }) => described(item)))
  }

  /** After `load`. */
  find(item: ItemKey | ItemKeys): { itemId: number } | { reject: string } {
    const description = described(item)
    const { name, number, set, finish } = description
    const text = [name, number, set].filter(Boolean).join(' · ')
    const shown = `"${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}"`
    if (name === '') return { reject: 'the row names no item' }
    if (number !== null && set === null && /^[0-9]+$/.test(number)) return { reject: `the row names no set, and ${shown} can be of several` }
    const found = this.#index!.find(description)
    if ('itemId' in found) return found
    const ids = found.candidates.slice(0, MOST_NAMED).map(({ itemId }) => itemId)
    switch (found.reason.rule) {
      case 'several':
        return { reject: `several items fit ${shown}: ${ids.join(', ')}` }
      case 'finish':
        return { reject: `no item that fits ${shown} has the finish "${finish ?? ''}"` }
      case 'set-unclear':
        return { reject: `the set of ${shown} is not in the catalogue by that name` }
      default:
        return { reject: ids.length > 0 ? `no item fits ${shown} in name, number and set (like it: ${ids.join(', ')})` : `no item is like ${shown}` }
    }
  }
}

/** What all have in common, null where they differ. */
function onlyOf(texts: readonly (string | undefined)[]): string | null {
  const all = new Set(texts)
  return all.size === 1 ? ([...all][0] ?? null) : null
}

function described(item: ItemKey | ItemKeys): CardDescription {
  const { name = '', number, set, game, finish, language }: ItemWords = 'ref' in item ? {} : item
  const written = (text: string | undefined) => (text === undefined || text === '' ? null : text)
  return {
    keys: [], name, number: written(number), set: written(set), game: written(game), finish: written(finish), families: familiesOf(language),
  }
}
