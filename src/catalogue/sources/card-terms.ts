// Normalises terms that sources spell differently, by the words of the game: rarities, stages, card types and collector numbers.
import type { Game } from '#games/games.ts'
import { splitNumber } from '#games/number-forms.ts'
import { fold, words } from '#index/fold.ts'
import { text } from './reading.ts'

/** The game's spelling of a rarity; undefined if the source has none or the text `None`. */
export function rarityTerm(value: unknown, { rarities: { spellings, capitalised } }: Game): string | undefined {
  const rarity = text(value)
  if (rarity === undefined || rarity.toLowerCase() === 'none') return undefined
  const known = termIn(spellings, rarity)
  if (known !== undefined) return known
  // Sources write some words with and without a capital (`Double rare`).
  return rarity
    .split(/\b/)
    .map((word) => capitalised.find((capital) => capital.toLowerCase() === word) ?? word)
    .join('')
}

/** `Stage1` → `Stage 1`. */
export function stageTerm(value: unknown, { terms }: Game): string | undefined {
  const stage = text(value)
  return stage && (termIn(terms.stages, stage) ?? stage)
}

/** `Pokemon` → `Pokémon`. */
export function cardTypeTerm(value: unknown, { terms }: Game): string | undefined {
  const type = text(value)
  return type && (termIn(terms.cardTypes, type) ?? type)
}

function termIn(terms: Readonly<Record<string, string>>, written: string): string | undefined {
  const key = written.toLowerCase()
  return Object.hasOwn(terms, key) ? terms[key] : undefined
}

/** A single capital letter: `j` → `J`; undefined for the text `None`. */
export function regulationMarkTerm(value: unknown): string | undefined {
  const mark = text(value)
  return mark && mark.length === 1 ? mark.toUpperCase() : undefined
}

/**
 * The total printed after the collector numbers of a set.
 * @returns null if unknown or 0, or for sets such as promos, which print only the number
 */
export function printedTotalOf(official: number | undefined, setName: string, { numbers }: Game): number | null {
  if (official === undefined) return null
  return words(fold(setName)).some((word) => numbers.setsWithoutTotal.includes(word)) ? null : official
}

/** The number as printed: `4` and 102 → `4/102`; the game says which forms of numbers have a total. */
export function collectorNumber(number: string, printedTotal: number | null, { numbers }: Game): string {
  return printedTotal !== null && splitNumber(numbers.forms, number)?.total ? `${number}/${printedTotal}` : number
}
