// What a row of a file says of a card, in normal form: names with their number and printing apart.
import { sameCode } from '#index/codes.ts'
import { FIT, type Fit, finishFit, finishWords } from '#catalogue/finishes.ts'
import { looseName, normalName } from './names.ts'
import { totalOf } from './numbers.ts'
import type { SourceCard } from './source-cards.ts'

/** No bracket within, so that a row of open ones is not read again from each of them. */
const PARENTHESES = /\(([^()]*)\)/g
const BRACKETS = /\[[^[\]]*\]/g

export interface Described {
  name: string
  /** with the words in parentheses */
  fullName: string
  looseName: string
  set: string
  /** the set without what stands in parentheses behind it */
  bareSet: string
  /** total of the number, empty without one */
  total: string
  /** no finish is stated, neither beside nor in the name */
  plain: boolean
  /** how a finish fits that the row states beside the name, in the name or in the set */
  fits: (words: readonly string[] | null, card: SourceCard) => Fit
}

interface Written {
  name: string
  number: string | null
  set: string | null
  finish: string | null
}

/** A row as the matcher compares it; printings are stated in the finish, and behind the name and the set in parentheses. */
export function describe({ name, number, set, finish }: Written): Described {
  const { bareName, printing } = printingIn(name, number)
  const stated = finish === null && printing === '' ? null : finishWords(`${finish ?? ''} ${printing}`)
  const wanted = finish === null && stated?.length === 0 ? null : stated
  const setVariants = [...(set ?? '').matchAll(PARENTHESES)].flatMap((inner) => inner[1]!.split(/[&,/]/).flatMap(finishWords))
  const plainSet = normalName(withoutBrackets(set ?? ''))
  const fullName = normalName(withoutNumber(name, number))
  return {
    name: normalName(bareName),
    fullName,
    looseName: looseName(bareName),
    set: plainSet,
    bareSet: normalName(withoutBrackets(set ?? '').replace(PARENTHESES, ' ')),
    total: number === null ? '' : totalOf(number),
    plain: wanted === null,
    fits: (words, card) => {
      const inSetName = card.set !== null && normalName(withoutBrackets(card.set.facts.name)) === plainSet
      // A set named for printings (`Base Set (1st Edition & Shadowless)`) holds nothing else.
      if (!inSetName && setVariants.length > 0 && !setVariants.some((word) => wanted?.includes(word))) return FIT.none
      // Words in parentheses that are part of the card's own name are no printing.
      const nameHasThem = printing !== '' && card.names.includes(fullName)
      return finishFit(nameHasThem ? (finish === null ? null : finishWords(finish)) : wanted, words)
    },
  }
}

/**
 * A name without what stands in parentheses behind it: a repeated number, and words of a printing such as
 * `Alternate Art`, which are given as `printing`.
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

/** A set's name without a code in brackets: `ROMANCE DAWN [OP-01]`. */
export function withoutBrackets(set: string): string {
  return set.replace(BRACKETS, ' ')
}

/** `Charizard ex - 199/165` repeats the number. */
function withoutNumber(name: string, number: string | null): string {
  const dash = name.lastIndexOf(' - ')
  const end = name.slice(dash + 3)
  const repeats = dash >= 0 && /^[\w-]+(?:\/[\w-]+)?$/.test(end) && /^[^/]*\d/.test(end) && (number === null || sameCode(end, number))
  return repeats ? name.slice(0, dash) : name
}
