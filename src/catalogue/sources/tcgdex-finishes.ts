// The finishes of a TCGdex card: each stated printing, and its ids in shops.
import { gameOf } from '#games/games.ts'
import { finishSlug } from '../records/finishes.ts'
import type { ForeignId } from '../records/catalogue-records.ts'
import { isObject, type Json, text, texts, wholeNumber } from './reading.ts'

/** A finish of a card, which becomes one item. The first one uses the card's own ref. */
export interface Finish {
  /** canonical slug such as `holo-first-edition`, unique within the card; null if the source states no finish */
  slug: string | null
  /** `Holo First Edition` */
  label: string | undefined
  /** its name in price files (`normal`, `reverse`, `holo`, `firstEdition`), or the slug if another item uses that name */
  priceFinish: string | undefined
  /** ids in shops, with the finish of the shop's product that matches this item */
  foreignIds: ForeignId[]
}

interface ShopIds {
  cardmarket: number | undefined
  tcgplayer: number | undefined
}

interface Printing {
  slug: string
  /** the name used by price files */
  word: string
  /** no stamp, special foil or size */
  plain: boolean
  ids: ShopIds
}

const RULES = gameOf('pokemon').finishes
const SHOPS = ['cardmarket', 'tcgplayer'] as const
const FLAGS = ['normal', 'holo', 'reverse', 'firstEdition'] as const
const PLAIN_SLUGS = new Set(['normal', 'holo', 'reverse', 'first-edition', 'holo-first-edition', 'shadowless', 'holo-shadowless'])

/** The finishes of a card, at least one: from its list of printings, or from its flags if it has those instead. */
export function finishesOf(card: Json): Finish[] {
  const cardIds = shopIds(card.thirdParty)
  const printings = distinct(statedPrintings(card.variants, cardIds))
  if (printings.length === 0) {
    return [{ slug: null, label: undefined, priceFinish: undefined, foreignIds: foreignIds(cardIds, () => undefined) }]
  }
  const claimed = new Set<string>()
  return printings.map((printing) => {
    const { slug, word, ids } = printing
    // If two items of a card share a shop's id and finish name, only the first uses it: a price must not apply to both.
    const own = foreignIds(ids, (source, id) => {
      const key = `${source} ${id} ${word}`
      if (claimed.has(key)) return slug
      claimed.add(key)
      return word
    })
    return { slug, label: labelOf(slug), priceFinish: plainestOf(printings, word) === printing ? word : slug, foreignIds: own }
  })
}

function statedPrintings(variants: unknown, cardIds: ShopIds): Printing[] {
  if (Array.isArray(variants)) return variants.flatMap((variant: unknown) => printingOf(variant, cardIds))
  if (!isObject(variants)) return []
  return FLAGS.filter((flag) => variants[flag] === true).map((flag) => ({
    slug: finishSlug(flag, RULES),
    word: finishSlug(flag, RULES),
    plain: true,
    ids: cardIds,
  }))
}

function printingOf(variant: unknown, cardIds: ShopIds): Printing[] {
  const type = isObject(variant) ? text(variant.type) : undefined
  if (!isObject(variant) || type === undefined) return []
  const size = text(variant.size)
  const stated = [type, text(variant.subtype), ...(texts(variant.stamp) ?? []), text(variant.foil), size === 'standard' ? undefined : size]
  const slug = finishSlug(stated.filter((part) => part !== undefined).join(' '), RULES)
  const word = slug.includes('first-edition') ? 'first-edition' : finishSlug(type, RULES)
  const ids = shopIds(variant.thirdParty)
  return [{ slug, word, plain: PLAIN_SLUGS.has(slug), ids: hasIds(ids) ? ids : cardIds }]
}

function shopIds(thirdParty: unknown): ShopIds {
  const ids = isObject(thirdParty) ? thirdParty : {}
  return { cardmarket: wholeNumber(ids.cardmarket), tcgplayer: wholeNumber(ids.tcgplayer) }
}

function hasIds(ids: ShopIds): boolean {
  return SHOPS.some((shop) => ids[shop] !== undefined)
}

/** Removes duplicates by slug; printings with the same slug but contradictory shop ids are kept, with a number appended. */
function distinct(printings: Printing[]): Printing[] {
  const found: Printing[] = []
  const bySlug = new Map<string, Printing[]>()
  for (const printing of printings) {
    const alike = bySlug.get(printing.slug) ?? []
    const same = alike.find(({ ids }) =>
      SHOPS.every((shop) => ids[shop] === undefined || printing.ids[shop] === undefined || ids[shop] === printing.ids[shop]),
    )
    if (same) {
      same.ids = { cardmarket: same.ids.cardmarket ?? printing.ids.cardmarket, tcgplayer: same.ids.tcgplayer ?? printing.ids.tcgplayer }
      continue
    }
    const next = alike.length === 0 ? { ...printing } : { ...printing, slug: `${printing.slug}-${alike.length + 1}`, plain: false }
    bySlug.set(printing.slug, [...alike, next])
    found.push(next)
  }
  return found
}

/** The printing that price files mean by a name: the plain one, or the card's first if only that one has the name. */
function plainestOf(printings: readonly Printing[], word: string): Printing | undefined {
  const alike = printings.filter((printing) => printing.word === word)
  return alike.find(({ plain }) => plain) ?? alike.find((printing) => printing === printings[0])
}

function foreignIds(ids: ShopIds, finishOf: (source: string, id: number) => string | undefined): ForeignId[] {
  return SHOPS.flatMap((source) => {
    const id = ids[source]
    if (id === undefined) return []
    const finish = finishOf(source, id)
    return [{ source, id: String(id), ...(finish && { finish }) }]
  })
}

function labelOf(slug: string): string {
  return slug
    .split('-')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join(' ')
}
