// Search text of each item: its names in all languages, code, set and tags, folded once for all items that share them.
import { gameOf } from '#games/games.ts'
import { type FoldedDoc, groupCode } from '#index/text.ts'
import { fold } from '#index/fold.ts'
import type { ColumnStore } from '#index/stored.ts'
import { languageCode } from '../records/languages.ts'
import { GENRES } from '../records/catalogue-records.ts'
import { tagsOf } from './search-tags.ts'
import type { Category, CategoryTree } from './category-tree.ts'
import type { ItemTable } from './items.ts'

const LATIN_CHARACTER = /^[a-z0-9 ]$/
const LATIN = /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]*$/u
/** Numbers of finishes, rarities and languages below this limit can be combined into one number. */
const MAX_VALUES = 65_536

export class SearchDocs {
  readonly #items: ItemTable
  readonly #categories: CategoryTree
  readonly #folded = new Map<string, string>()
  /** by number of the game and by the numbers of what they contain */
  readonly #tags = new Map<number, Map<number, string>>()
  readonly #groups = new WeakMap<Category, string>()
  /** English names by code, for cards whose source has one item per language */
  readonly #englishNames = new Map<number, number>()

  constructor(items: ItemTable, categories: CategoryTree) {
    this.#items = items
    this.#categories = categories
  }

  store(columns: ColumnStore): void {
    const codes = columns.numbers(this.#englishNames.keys())
    const names = columns.numbers(this.#englishNames.values())
    if (columns.reading) for (const [i, code] of codes.entries()) this.#englishNames.set(code, names[i]!)
  }

  /** Stores the name of an English card for cards with the same code in other languages. @returns whether the name is new */
  learn(row: number): boolean {
    const { code, name } = this.#items
    const key = code[row]!
    if (key < 0 || this.#languageOf(row) !== 'en' || this.#englishNames.get(key) === name[row]!) return false
    this.#englishNames.set(key, name[row]!)
    return true
  }

  /** Whether the item is also found by the name of the English card with the same code. */
  borrows(row: number): boolean {
    const language = this.#languageOf(row)
    return language !== '' && language !== 'en' && this.#items.code[row]! >= 0
  }

  /** @param names in other languages; the item itself does not store them */
  docOf(row: number, names: readonly string[], dexIds: readonly number[]): FoldedDoc {
    const items = this.#items
    const name = items.names.keys[items.name[row]!]!
    const code = items.codeOf(row)
    const category = this.#categories.get(items.categoryId[row]!)
    const aliases = this.#aliasesOf(row, name, names, dexIds)
    return {
      name: aliases === null ? name : `${name}\n${aliases}`,
      code: code ? this.#fold(code) : null,
      more: category ? this.#groupOf(category) : null,
      tags: this.#tagsOf(row),
    }
  }

  /** Frees data that only loading needs. */
  pack(): void {
    this.#folded.clear()
  }

  /** The language of an item whose source has one item per language; '' for all others. */
  #languageOf(row: number): string {
    const { columns, values } = this.#items.facets
    const language = values.language.keys[columns.language[row]!]!
    const code = languageCode(language)
    return code === language ? '' : code
  }

  #aliasesOf(row: number, name: string, names: readonly string[], dexIds: readonly number[]): string | null {
    const aliases = new Set(names.map(fold))
    // Names in other scripts keep their Latin suffix, such as `ex`.
    const end = LATIN.test(name) ? '' : latinEnd(name)
    const species = dexIds.flatMap((id) => gameOf(this.#items.gameOf(row)).species[id - 1] ?? []).filter((one) => !name.includes(one))
    if (species.length > 0) aliases.add([...species, end].filter(Boolean).join(' '))
    if (this.borrows(row)) {
      const english = this.#englishNames.get(this.#items.code[row]!)
      if (english !== undefined) aliases.add(this.#items.names.keys[english]!)
    }
    aliases.delete(name)
    aliases.delete('')
    return aliases.size > 0 ? [...aliases].join('\n') : null
  }

  #groupOf(category: Category): string {
    const cached = this.#groups.get(category)
    if (cached !== undefined) return cached
    // Sources spell half sets in three ways: `sv4.5`, `sv4pt5` and `sm35`.
    const { decimalPoints } = gameOf(category.game).sets
    const spellings = category.codes.flatMap((code) => [code, ...(/\d\.\d/.test(code) ? decimalPoints.map((point) => code.replace('.', point)) : [])])
    const codes = new Set(spellings.map((code) => groupCode(fold(code))))
    codes.delete('')
    const group = [fold(category.name), ...codes].join('\n')
    this.#groups.set(category, group)
    return group
  }

  #tagsOf(row: number): string {
    const {
      facets: { columns, values },
      genre,
      game,
    } = this.#items
    const [finish, rarity, language] = [columns.finish[row]!, columns.rarity[row]!, columns.language[row]!]
    const key = ((finish * MAX_VALUES + rarity) * MAX_VALUES + language) * GENRES.length + genre[row]!
    const ofGame = this.#tags.getOrInsertComputed(game[row]!, () => new Map())
    const cached = ofGame.get(key)
    if (cached !== undefined) return cached
    const texts = [values.finish.texts[finish]!, values.rarity.texts[rarity]!, values.language.texts[language]!] as const
    const tags = tagsOf(...texts, this.#items.genreOf(row), this.#items.gameOf(row))
    // Not cached if the numbers are too large to be combined into one key, which no real catalogue reaches.
    if (Math.max(finish, rarity, language) < MAX_VALUES) ofGame.set(key, tags)
    return tags
  }

  #fold(text: string): string {
    const cached = this.#folded.get(text)
    if (cached !== undefined) return cached
    const folded = fold(text)
    this.#folded.set(text, folded)
    return folded
  }
}

/** The Latin suffix of a folded name in another script: `ex` of `リザードンex`. */
function latinEnd(name: string): string {
  let start = name.length
  while (start > 0 && LATIN_CHARACTER.test(name[start - 1]!)) start -= 1
  return name.slice(start).trim()
}
