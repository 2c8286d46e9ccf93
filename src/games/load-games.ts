// Loads the games from their folders and checks every file; an error names the file and the field.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ServiceError } from '#core/errors.ts'
import { bodyReader } from '#core/input.ts'
import { textOf } from '#core/problems.ts'
import { fold } from '#index/fold.ts'
import { mergeData } from './merge-data.ts'
import { compileForm, FormError, type NumberForm } from './number-forms.ts'
import {
  FILES,
  type FileName,
  type FinishRules,
  type GameData,
  type LanguageData,
  type NameRules,
  type RarityData,
  type SealedData,
  type SearchField,
  type SetRules,
  type SynonymData,
  type TermData,
} from './schema.ts'

/** A game: what its folder states, completed by what all games have in common. */
export interface Game {
  /** the name of its folder; empty for a game without one */
  slug: string
  name: string
  /** its name and other names of it */
  names: readonly string[]
  /** how shops write the game's name */
  shopNames: { cardmarket: string; pricecharting: string }
  finishes: FinishRules
  rarities: RarityData
  /** ranks of rarities by folded name */
  ranks: ReadonlyMap<string, number>
  numbers: { forms: readonly NumberForm[]; setsWithoutTotal: readonly string[] }
  sets: SetRules
  languages: LanguageData
  terms: TermData
  sealed: SealedData
  /** folded English names by number, from 1 */
  species: readonly string[]
}

export interface Games {
  /** ordered by slug */
  all: readonly Game[]
  /** what all games have in common, and all that is known of a game without a folder */
  common: Game
  /** rules for names of all games: a row of a list need not state its game */
  names: NameRules
  /** of all games, those of the common folder first */
  synonyms: readonly SynonymData[]
  /** rarities of all games, most common first */
  rarities: readonly string[]
  /** ranks of rarities by folded name: the rank in the first game that has it */
  ranks: ReadonlyMap<string, number>
  /** fields of search queries by attribute */
  attributes: Readonly<Record<string, SearchField>>
  /** codes of languages by their folded English names */
  languageCodes: Readonly<Record<string, string>>
  /** words that request sealed products */
  sealedWords: readonly string[]
}

/** The folder of the data that all games have in common. */
const COMMON = 'common'
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

class GameDataError extends Error {
  override name = 'GameDataError'
}

/**
 * Loads all games of a folder, which has a folder for each game and one for what they have in common; each of them may be missing.
 * @throws GameDataError with a line for each invalid field
 */
export function loadGames(folder: string): Games {
  const problems: string[] = []
  const folders = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : []
  const stated = new Map<string, GameData>()
  for (const { name } of folders.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!SLUG.test(name)) problems.push(`games/${name}: the name of the folder must be a slug, such as "pokemon"`)
    stated.set(name, readFolder(join(folder, name), problems))
  }
  const shared = stated.get(COMMON) ?? {}
  stated.delete(COMMON)
  const common = gameOf('', shared, shared, problems)
  const all = [...stated].map(([slug, data]) => gameOf(slug, mergeData(shared, data), data, problems))
  if (problems.length > 0) throw new GameDataError(problems.join('\n'))
  const every = [shared, ...stated.values()]
  const union = every.reduce((before, data) => mergeData(before, data), {})
  const ordered = all.flatMap(({ rarities }) => rarities.order).sort((a, b) => a.rank - b.rank)
  return deepFreeze({
    all,
    common,
    names: { characters: {}, words: {}, optional: [], second: {}, omitted: [], faces: [], endings: [], ...union.names },
    synonyms: every.flatMap(synonymsOf),
    rarities: [...new Set(ordered.flatMap(({ rarities }) => rarities))],
    ranks: new Map(all.toReversed().flatMap(({ ranks }) => [...ranks])),
    attributes: union.attributes ?? {},
    languageCodes: union.languages?.names ?? {},
    sealedWords: union.sealed?.words ?? [],
  })
}

function readFolder(folder: string, problems: string[]): GameData {
  const game = basename(folder)
  const data: Record<string, unknown> = {}
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  if (game !== COMMON && !files.includes('game.json')) problems.push(`games/${game}/game.json is missing`)
  for (const file of files.sort()) {
    const name = file.slice(0, -'.json'.length)
    const path = `games/${game}/${file}`
    if (!Object.hasOwn(FILES, name)) problems.push(`${path}: unknown file; allowed: ${Object.keys(FILES).join(', ')}`)
    else data[name] = readFile(join(folder, file), path, name as FileName, problems)
  }
  return data as GameData
}

const READERS = Object.fromEntries(Object.entries(FILES).map(([name, schema]) => [name, bodyReader(schema)])) as Record<
  FileName,
  (value: unknown) => unknown
>

/** The checked content of a file; undefined if it is invalid. */
function readFile(path: string, shown: string, name: FileName, problems: string[]): unknown {
  try {
    return READERS[name](JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError) problems.push(`${shown}: ${error.message}`)
    else if (error instanceof ServiceError) problems.push(...error.details.map((problem) => `${shown}: ${textOf(problem)}`))
    else throw error
    return undefined
  }
}

/** @param own what its own folder states */
function gameOf(slug: string, data: GameData, own: GameData, problems: string[]): Game {
  const name = data.game?.name ?? slug
  const path = `games/${slug || COMMON}`
  checkFolded(own, path, problems)
  return {
    slug,
    name,
    names: [name, ...(data.game?.otherNames ?? [])],
    shopNames: { cardmarket: name, pricecharting: name, ...data.game?.shopNames },
    finishes: { words: {}, plain: [], foil: '', foils: [], numbered: [], implied: [], separate: [], alsoFound: [], ...data.finishes },
    rarities: { order: [], spellings: {}, capitalised: [], short: {}, ...data.rarities },
    ranks: ranksOf(data, path, problems),
    numbers: { forms: formsOf(data, path, problems), setsWithoutTotal: data.numbers?.setsWithoutTotal ?? [] },
    sets: { galleries: [], decimalPoints: [], ...data.sets },
    languages: { names: {}, families: {}, ownItems: false, joined: {}, ...data.languages },
    terms: { stages: {}, cardTypes: {}, ...data.terms },
    sealed: { aliases: {}, words: [], ...data.sealed },
    species: (data.species ?? []).map(fold),
  }
}

function ranksOf({ rarities }: GameData, path: string, problems: string[]): Map<string, number> {
  const ranks = new Map<string, number>()
  for (const [i, { rank, rarities: names }] of (rarities?.order ?? []).entries()) {
    for (const name of names) {
      const other = ranks.get(fold(name)) ?? rank
      if (other !== rank) problems.push(`${path}/rarities.json: order.${i}.rarities repeats "${name}", which has rank ${other}`)
      ranks.set(fold(name), rank)
    }
  }
  return ranks
}

function formsOf({ numbers }: GameData, path: string, problems: string[]): NumberForm[] {
  return (numbers?.forms ?? []).flatMap((form, i) => {
    try {
      return compileForm(form)
    } catch (error) {
      if (!(error instanceof FormError)) throw error
      problems.push(`${path}/numbers.json: forms.${i} ${error.message}`)
      return []
    }
  })
}

/** Words are compared after folding, so a word in another form would never apply. */
function checkFolded({ finishes, names, rarities }: GameData, path: string, problems: string[]): void {
  const check = (file: string, words: readonly string[]) => {
    for (const word of words) if (word !== fold(word)) problems.push(`${path}/${file}: "${word}" must be written as "${fold(word)}"`)
  }
  check('finishes.json', [
    ...Object.keys(finishes?.words ?? {}),
    ...(finishes?.plain ?? []),
    ...(finishes?.foils ?? []),
    ...(finishes?.separate ?? []),
  ])
  check('names.json', [...Object.keys(names?.words ?? {}), ...(names?.optional ?? [])])
  check('rarities.json', Object.keys(rarities?.spellings ?? {}))
}

function synonymsOf({ synonyms = [], rarities }: GameData): SynonymData[] {
  return [...synonyms, ...Object.entries(rarities?.short ?? {}).flatMap(([word, meanings]) => meanings.map((means) => ({ word, means })))]
}

/** Nothing changes a game after it is loaded. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || value instanceof RegExp) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
