// The finishes of a TCGdex card: each printing that it states is an item of its own, with the shop ids that mean it.
import type { ForeignId } from '../records.ts'
import { slugWords } from '../slugs.ts'
import { isObject, type Json, text, texts, wholeNumber } from './reading.ts'

/** A finish that is one item. The first of a card is its primary one. */
export interface Finish {
  /** `holo-shadowless-1st-edition`, unique within the card; null where the source states no finish */
  slug: string | null
  /** `Holo Shadowless 1st Edition` */
  label: string | undefined
  /** its name in price files (`normal`, `reverse`, `holo`, `firstEdition`), or the slug where that is another item's */
  priceFinish: string | undefined
  /** ids in shops, with the finish of the shop's product that this item stands for */
  foreignIds: ForeignId[]
}

interface ShopIds {
  cardmarket: number | undefined
  tcgplayer: number | undefined
}

/** A printing of a card; `parts` are the slugs of type, subtype, stamps, foil and size. */
interface Printing {
  type: string
  parts: string[]
  ids: ShopIds
}

/** A printing, stated once or several times; one that has two products without a common id is two of them. */
interface Product {
  first: Printing
  ids: ShopIds
}

const SHOPS = ['cardmarket', 'tcgplayer'] as const
const FIRST_EDITION = '1st-edition'
const PLAIN_PARTS = new Set([FIRST_EDITION, 'unlimited', 'shadowless'])

/** The finishes of a card, at least one. Flags instead of a list of printings are unreliable and count as unstated. */
export function finishesOf(card: Json): Finish[] {
  const cardIds = shopIds(card.thirdParty)
  const printings = (Array.isArray(card.variants) ? card.variants : []).flatMap((v: unknown) => printingOf(v, cardIds))
  if (printings.length === 0) {
    return [{ slug: null, label: undefined, priceFinish: undefined, foreignIds: foreignIds(cardIds, undefined) }]
  }
  const products = productsOf(printings)
  const priceFinishes = priceFinishesOf(products)
  const slugs = new Map<string, number>()
  const claimed = new Set<string>()
  return products.map(({ first, ids }, i) => {
    const plainSlug = first.parts.join('-')
    const count = (slugs.get(plainSlug) ?? 0) + 1
    slugs.set(plainSlug, count)
    const slug = count === 1 ? plainSlug : `${plainSlug}-${count}`
    // Where two items of a card share a shop's id and finish, it means the first: a price must never hit both.
    const own = foreignIds(ids, finishWord(first)).filter(({ source, id, finish }) => {
      const key = `${source} ${id} ${finish}`
      return !claimed.has(key) && claimed.add(key)
    })
    return { slug, label: labelOf(slug), priceFinish: priceFinishes[i] ?? slug, foreignIds: own }
  })
}

function printingOf(variant: unknown, cardIds: ShopIds): Printing[] {
  if (!isObject(variant) || text(variant.type) === undefined) return []
  const size = text(variant.size)
  const stated = [text(variant.type), text(variant.subtype), ...(texts(variant.stamp) ?? []), text(variant.foil)]
  const parts = [...stated, size === 'standard' ? undefined : size].map((part) => slugWords(part ?? '')).filter(Boolean)
  const ids = shopIds(variant.thirdParty)
  return parts.length > 0 ? [{ type: parts[0]!, parts, ids: hasIds(ids) ? ids : cardIds }] : []
}

function shopIds(thirdParty: unknown): ShopIds {
  const ids = isObject(thirdParty) ? thirdParty : {}
  return { cardmarket: wholeNumber(ids.cardmarket), tcgplayer: wholeNumber(ids.tcgplayer) }
}

function hasIds(ids: ShopIds): boolean {
  return SHOPS.some((shop) => ids[shop] !== undefined)
}

/** Printings of different words are different items, of the same words unless their ids contradict each other. */
function productsOf(printings: Printing[]): Product[] {
  const products: Product[] = []
  for (const printing of printings) {
    const { ids, parts } = printing
    const slug = parts.join('-')
    const same = products.find(
      (other) => other.first.parts.join('-') === slug && (includes(other.ids, ids) || includes(ids, other.ids)),
    )
    if (!same) products.push({ first: printing, ids })
    else if (includes(ids, same.ids)) same.ids = ids
  }
  return products
}

function includes(outer: ShopIds, inner: ShopIds): boolean {
  return SHOPS.every((shop) => inner[shop] === undefined || inner[shop] === outer[shop])
}

function finishWord({ type, parts }: Printing): string {
  return parts.includes(FIRST_EDITION) ? 'firstEdition' : type
}

/** The finish word of each product, undefined where a plainer product of the card (no stamp, foil or size) has it. */
function priceFinishesOf(products: Product[]): (string | undefined)[] {
  const words = products.map(({ first }) => finishWord(first))
  const plain = products.map(({ first }) => first.parts.slice(1).every((part) => PLAIN_PARTS.has(part)))
  return words.map((word, i) => {
    const plainest = words.findIndex((other, j) => other === word && plain[j])
    return plainest === i || (plainest === -1 && i === 0) ? word : undefined
  })
}

function foreignIds(ids: ShopIds, finish: string | undefined): ForeignId[] {
  return SHOPS.flatMap((source) => {
    const id = ids[source]
    return id === undefined ? [] : [{ source, id: String(id), ...(finish && { finish }) }]
  })
}

function labelOf(slug: string): string {
  return slug.split('-').map((word) => word[0]!.toUpperCase() + word.slice(1)).join(' ')
}
