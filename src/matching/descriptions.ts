// Normalises how a row of a file describes a card: separates the name from number and printing.
import { sameCode } from '#index/codes.ts'
import { FIT, type Fit, finishFit, finishRules, finishWords } from '#catalogue/records/finishes.ts'
import type { FinishRules } from '#games/schema.ts'
import { looseName, normalName } from './names.ts'
import { totalOf } from './numbers.ts'
import type { SourceCard } from './source-cards.ts'

/** Excludes nested parentheses, so that a run of opening ones is not scanned again from each of them. */
const PARENTHESES = /\(([^()]*)\)/g
const BRACKETS = /\[[^[\]]*\]/g

export interface ParsedDescription {
  name: string
  /** including the words in parentheses */
  fullName: string
  looseName: string
  set: string
  /** the set without the parentheses at its end */
  bareSet: string
  /** total of the number; empty if it has none */
  total: string
  /** whether no finish is stated, neither separately nor in the name */
  isPlain: (rules: FinishRules) => boolean
  /** how well an item's finish fits the finish stated by the row, separately or in its name or set */
  fits: (words: readonly string[] | null, card: SourceCard) => Fit
}

interface Written {
  name: string
  number: string | null
  set: string | null
  finish: string | null
}

/** Normalises a row for the matcher; printings may be in the finish, or in parentheses after the name or set. */
export function parseDescription({ name, number, set, finish }: Written): ParsedDescription {
  const { bareName, printing } = printingIn(name, number)
  /** words of the stated finish; null if none is stated */
  const describedBy = (rules: FinishRules) => {
    const stated = finish === null && printing === '' ? null : finishWords(`${finish ?? ''} ${printing}`, rules)
    return finish === null && stated?.length === 0 ? null : stated
  }
  const setVariants = [...(set ?? '').matchAll(PARENTHESES)].flatMap((inner) => inner[1]!.split(/[&,/]/))
  const plainSet = normalName(withoutBrackets(set ?? ''))
  const fullName = normalName(withoutNumber(name, number))
  return {
    name: normalName(bareName),
    fullName,
    looseName: looseName(bareName),
    set: plainSet,
    bareSet: normalName(withoutBrackets(set ?? '').replace(PARENTHESES, ' ')),
    total: number === null ? '' : totalOf(number),
    isPlain: (rules) => describedBy(rules) === null,
    fits: (words, card) => {
      const rules = finishRules(card.game)
      const described = describedBy(rules)
      const inSetName = card.set !== null && normalName(withoutBrackets(card.set.facts.name)) === plainSet
      // A set named after printings (`Base Set (1st Edition & Shadowless)`) contains only those.
      const variants = inSetName ? [] : setVariants.flatMap((variant) => finishWords(variant, rules))
      if (variants.length > 0 && !variants.some((word) => described?.includes(word))) return FIT.none
      // Words in parentheses that are part of the card's name are not a printing.
      const nameHasThem = printing !== '' && card.names.includes(fullName)
      return finishFit(nameHasThem ? (finish === null ? null : finishWords(finish, rules)) : described, words, rules)
    },
  }
}

/**
 * The name without its parentheses: a repeated number is dropped, and words of a printing such as `Alternate Art` are returned as
 * `printing`.
 */
export function printingIn(name: string, number: string | null): { bareName: string; printing: string } {
  const variants: string[] = []
  let bare = name
  for (let outer = ''; bare !== outer; ) {
    outer = bare
    bare = outer.replace(PARENTHESES, (_all, inner: string) => {
      if (!/^#?\d*$/.test(inner.trim())) variants.push(inner)
      return ' '
    })
  }
  return { bareName: withoutNumber(bare.trimEnd(), number).trim(), printing: variants.join(' ') }
}

/** A set's name without a code in brackets, such as `[OP-01]` in `ROMANCE DAWN [OP-01]`. */
export function withoutBrackets(set: string): string {
  return set.replace(BRACKETS, ' ')
}

/** Drops a repeated number, as in `Charizard ex - 199/165`. */
function withoutNumber(name: string, number: string | null): string {
  const dash = name.lastIndexOf(' - ')
  const end = name.slice(dash + 3)
  const repeats = dash >= 0 && /^[\w-]+(?:\/[\w-]+)?$/.test(end) && /^[^/]*\d/.test(end) && (number === null || sameCode(end, number))
  return repeats ? name.slice(0, dash) : name
}
