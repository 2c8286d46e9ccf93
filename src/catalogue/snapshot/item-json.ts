// The REST form of an item as JSON text, per shape; serialised once per change instead of per request.
import { DAY_MS } from '#core/duration.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { REST_ITEM_FIELDS_FROM_PROFESSIONAL } from '#core/plans.ts'
import { confidenceOf, confirmedAtMs, CACHED_FIGURES, stateOf } from '#prices/evidence/evidence-payload.ts'
import type { CostToMove } from '#prices/own/cost-to-move.ts'
import { costToMoveResponse } from '#prices/own/cost-to-move-schema.ts'
import { type Confidence, type Flag, flagsOf, type PriceState } from '#prices/evidence/evidence-types.ts'
import type { ImageAddresses } from '../records/image-addresses.ts'
import type { ItemImage } from '../records/catalogue-records.ts'
import type { CategoryTree } from '../index/category-tree.ts'
import type { ItemTable } from '../index/items.ts'
import type { LabelTree } from '../index/label-tree.ts'

const SERVICE = MARKETS.indexOf('service')

/** The shape of Starter, the one of Professional and above, and the latter with the evidence of prices. */
export type ItemShape = 'starter' | 'full' | 'stats'

export interface ItemPrice {
  /** index in the price table, valid until the catalogue changes */
  at: number
  /** row of the item */
  row: number
  labelId: number
  /** position in MARKETS */
  market: number
  label: string
  /** minor units */
  minor: number
  updatedAtMs: number
}

/** Information about a price besides its amount; amounts in minor units, null if the feed has none. */
export interface PriceEvidenceView extends Record<(typeof CACHED_FIGURES)[number], number | null> {
  state: PriceState
  confidence: Confidence
  flags: Flag[]
  confirmedAtMs: number
}

export interface ItemImageView {
  /** item id × 100 + order: unique and stable */
  id: number
  url: string
  order: number
}

/** The last formatted day and its start, cached because prices fall on few days. */
let day = Number.NaN
let date = ''
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/** Time of a price as in catalogue responses: UTC with `Z`, milliseconds only if not zero. */
export function utcTime(time: number): string {
  const ms = Math.trunc(time)
  const its = Math.floor(ms / DAY_MS)
  if (its !== day) {
    date = new Date(its * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length)
    day = its
  }
  const seconds = Math.floor(ms / 1_000) - its * 86_400
  const clock = `${TWO_DIGITS[Math.floor(seconds / 3_600)]}:${TWO_DIGITS[Math.floor(seconds / 60) % 60]}:${TWO_DIGITS[seconds % 60]}`
  const rest = ms - Math.floor(ms / 1_000) * 1_000
  return rest === 0 ? `${date}${clock}Z` : `${date}${clock}.${String(rest).padStart(3, '0')}Z`
}

/** Prices of an item in the order of labels, in all markets or one. */
export function pricesOf(items: ItemTable, labels: LabelTree, row: number, only: number | null): ItemPrice[] {
  const { prices } = items
  const start = prices.start(row)
  const end = start + prices.count(row)
  const found: { price: ItemPrice; rank: number }[] = []
  for (let i = start; i < end; i += 1) {
    if (only !== null && prices.market[i] !== only) continue
    const label = prices.label[i]!
    const market = prices.market[i]!
    const price = { at: i, row, market, labelId: label, label: labels.name(label), minor: prices.minor[i]!, updatedAtMs: prices.updatedAtMs.at(i) }
    found.push({ price, rank: market * 1_000_000 + labels.rank(label) })
  }
  found.sort((a, b) => a.rank - b.rank)
  return found.map(({ price }) => price)
}

/** The evidence of a price, by its index in the table. */
export function evidenceOf({ prices }: ItemTable, at: number): PriceEvidenceView {
  const [avg7, avg30, low, high] = CACHED_FIGURES.map((_, figure) => prices.figure(at, figure)) as [
    number | null,
    number | null,
    number | null,
    number | null,
  ]
  return {
    state: stateOf(prices.verdict[at]!),
    confidence: confidenceOf(prices.verdict[at]!),
    flags: flagsOf(prices.flags[at]!),
    confirmedAtMs: confirmedAtMs(prices.confirmedMinutes[at]!, prices.updatedAtMs.at(at)),
    avg7,
    avg30,
    low,
    high,
  }
}

/** The evidence in the form that an item's prices have with `with_stats=1`. */
function statsOf(items: ItemTable, at: number) {
  const { state, confidence, flags, confirmedAtMs, ...figures } = evidenceOf(items, at)
  const amount = (minor: number | null) => minor && minor / 100
  return {
    state,
    confidence,
    flags,
    confirmed_at: utcTime(confirmedAtMs),
    avg_7: amount(figures.avg7),
    avg_30: amount(figures.avg30),
    low: amount(figures.low),
    high: amount(figures.high),
  }
}

/** What it would cost to move our own price, as an item's prices have it with `with_stats=1`. */
function costOf({ costToMove, currencies }: ItemJsonSource, itemId: number, labelId: number) {
  const cost = costToMove(itemId, labelId)
  return { cost_to_move_10pct: cost && costToMoveResponse(cost, currencies.service) }
}

/** An item's images from their JSON text `[{url, order}]`; an image's id combines the item's id and its order. */
export function imagesOf(itemId: number, images: string, addresses: ImageAddresses): ItemImageView[] {
  return storedImages(images).map(({ url, order }) => ({ id: itemId * 100 + order, url: addresses.ofItem(itemId, order, url), order }))
}

/** An item's images as stored, from their JSON text. */
export function storedImages(images: string): ItemImage[] {
  return images === '[]' ? [] : (JSON.parse(images) as ItemImage[])
}

const FROM_PROFESSIONAL = new Set<string>(REST_ITEM_FIELDS_FROM_PROFESSIONAL)

/** The data that item JSON is built from. */
export interface ItemJsonSource {
  items: ItemTable
  categories: CategoryTree
  labels: LabelTree
  addresses: ImageAddresses
  currencies: Readonly<Record<Market, string>>
  costToMove: (itemId: number, labelId: number) => CostToMove | null
}

export interface ItemView {
  row: number
  /** position in MARKETS of the displayed market */
  market: number
  shape: ItemShape
}

/** JSON text of an item (interface.md, "Item (REST)"). */
export function itemJson(source: ItemJsonSource, { row, market, shape }: ItemView): string {
  const { items, categories, labels, addresses, currencies } = source
  const gated = (field: string) => shape === 'starter' && FROM_PROFESSIONAL.has(field)
  const id = items.id[row]!
  const texts = items.texts.get(row)
  const category = categories.get(items.categoryId[row]!)
  const fields: Record<string, () => unknown> = {
    id: () => id,
    name: () => items.nameOf(row),
    code: () => items.codeOf(row),
    slug: () => texts.slug,
    genre: () => items.genreOf(row),
    game: () => items.gameOf(row),
    market: () => MARKETS[market]!,
    category: () => category && { id: category.id, name: category.name, ...(!gated('category.slug') && { slug: category.slug }) },
    images: () => imagesOf(id, texts.images, addresses),
    prices: () =>
      pricesOf(items, labels, row, market).map(({ at, label, labelId, minor, updatedAtMs }) => ({
        label,
        price: minor / 100,
        updated_at: utcTime(updatedAtMs),
        ...(shape === 'stats' && {
          currency: currencies[MARKETS[market]!],
          ...statsOf(items, at),
          ...(market === SERVICE && costOf(source, id, labelId)),
        }),
      })),
    groups: () =>
      items.groupIds(row).map((groupId) => {
        const group = labels.get(groupId)
        return { id: groupId, name: group?.name ?? '', ...(!gated('groups.slug') && { slug: group?.slug ?? '' }) }
      }),
    attributes: () => JSON.parse(texts.attributes) as unknown,
  }
  const item: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(fields)) if (!gated(field)) item[field] = value()
  return JSON.stringify(item)
}
