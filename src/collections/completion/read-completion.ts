// How far a collection is towards a goal: owned and missing cards, the cost to finish, and copies to spare.
import { readPublicQuery } from '#catalogue/public-query.ts'
import { byPlainness, finishRules, finishSlug } from '#catalogue/records/finishes.ts'
import { imagesOf } from '#catalogue/snapshot/item-json.ts'
import { CategoryParam, QueryParam } from '#catalogue/params.ts'
import { invalidFields } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import { offsetOf, type Page, pageParams, pagination, type Pagination } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem } from '#core/problems.ts'
import { planViewer, verb } from '#core/verb.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { ownerOf, requireCollection } from '../records/store.ts'
import type { CollectionReadCtx } from '../records/types.ts'
import { costCurrency, type FittingPrice, fittingPrice } from '../worth.ts'
import { type Completion, GOAL_FIELDS, type GoalCard, type MissingCard, percentOf, type SetCompletion } from './completion-types.ts'
import { copiesOf } from './copies.ts'
import { duplicatesIn } from './duplicates.ts'
import { ANY_LANGUAGE, GoalCards } from './goals.ts'
import { readSetCompletion } from './set-completion.ts'
import { CurrencySums } from './sums.ts'

export const MISSING_PER_PAGE = 100
/** Larger than any set; a query may select more. */
export const MAX_GOAL_ITEMS = 20_000

/** The listings on sale in the node's memory. */
export interface OffersOnSale {
  listings: {
    cheapestOffer: (
      itemIds: readonly number[],
      exceptSeller: number | null,
      language: string | null,
    ) => { listingId: number; itemId: number; label: string; kurus: number } | null
  }
}

export type CompletionCtx = CollectionReadCtx & OffersOnSale & Pick<WriteCtx, 'now'>

/** The completion of one goal, or of every set. */
export interface CompletionPage {
  data: Completion | SetCompletion[]
  pagination: Pagination
}

export const readCompletion = verb(
  {
    name: 'readCompletion',
    needs: OPERATION_PLAN.readCompletion,
    input: Type.Object({
      id: id('collection'),
      category_id: Type.Optional(CategoryParam),
      query: Type.Optional(QueryParam),
      with_owned: Type.Optional(
        Type.Boolean({ default: false, description: '`1` adds `cards` for a goal: pages then contain its owned and missing cards' }),
      ),
      ...GOAL_FIELDS,
      ...pageParams(MISSING_PER_PAGE),
    }),
  },
  async (ctx: CompletionCtx, { category_id: categoryId, query, ...input }): Promise<CompletionPage> => {
    if (categoryId === undefined && query === undefined) {
      const { rows, pagination: position }: Page<SetCompletion> = await readSetCompletion.run(ctx, input)
      return { data: rows, pagination: position }
    }
    await requireCollection(ctx.db.kysely, ctx.viewer, input.id)
    const rows = goalRows(ctx, categoryId, query)
    if ('field' in rows) throw invalidFields([rows])
    return completionOf(ctx, rows, input)
  },
)

/** The rows of items that a goal is chosen from; a problem if there is no such set, or if they are too many. */
export function goalRows(
  { catalogue, viewer }: Pick<CompletionCtx, 'catalogue' | 'viewer'>,
  categoryId?: number,
  query?: string,
): Int32Array | Problem {
  if (categoryId !== undefined && !catalogue.categories.get(categoryId))
    return problem('category_id', 'unknown_id', { thing: 'category', id: categoryId })
  const filter = { categoryId, query: readPublicQuery(query, planViewer(viewer)) }
  const { rows, total } = catalogue.queries.page(filter, 'name', 'asc', 0, MAX_GOAL_ITEMS)
  if (total <= MAX_GOAL_ITEMS) return rows
  return problem(query === undefined ? 'category_id' : 'query', 'goal_size', { max: MAX_GOAL_ITEMS, count: total })
}

interface GoalInput {
  id: number
  goal?: Completion['goal']
  language?: string
  with_owned?: boolean
  page?: number
  per_page?: number
}

/** @param selected rows of items, some of which may not belong to the goal */
async function completionOf(ctx: CompletionCtx, selected: Int32Array, input: GoalInput): Promise<CompletionPage> {
  const { goal = 'complete', language = ANY_LANGUAGE, page = 1, per_page: perPage = MISSING_PER_PAGE } = input
  const { items } = ctx.catalogue
  const goalCards = new GoalCards(ctx.catalogue, goal, language)
  const rows = selected.filter((row) => goalCards.has(row))
  const copies = await copiesOf(
    ctx.db.kysely,
    input.id,
    Array.from(rows, (row) => items.id[row]!),
  )
  const held = new Map<number, number>()
  for (const { item_id: itemId, quantity } of copies) held.set(items.rowOf(itemId), (held.get(items.rowOf(itemId)) ?? 0) + quantity)
  const cards = Map.groupBy(rows, (row) => goalCards.cardOf(row))
  const missing: MissingPrintings[] = []
  const owned: CardOfGoal[] = []
  const printings = [...cards.values()]
  const own = ownerOf(ctx.viewer)
  const offersIn = language === ANY_LANGUAGE ? null : goalCards.languageCode
  await runInSlices(printings.length, (from, to) => {
    for (const card of printings.slice(from, to)) {
      const ofCard = card.filter((row) => held.has(row))
      if (ofCard.length > 0) {
        if (input.with_owned) owned.push({ row: plainestFirst(ctx, ofCard)[0]!, copies: ofCard.reduce((sum, row) => sum + held.get(row)!, 0) })
        continue
      }
      const offer = ctx.listings.cheapestOffer(
        card.map((row) => items.id[row]!),
        own,
        offersIn,
      )
      missing.push({ ...shownPrinting(ctx, card), copies: 0, offer })
    }
  })
  const from = offsetOf(page, perPage)
  const sorted = [...missing, ...owned].sort(byNumber(ctx))
  const shown = sorted.slice(from, from + perPage)
  const counts = { owned: cards.size - missing.length, of: cards.size, percent: percentOf(cards.size - missing.length, cards.size) }
  return {
    data: {
      goal,
      language,
      ...counts,
      missing: shown.filter(isMissing).map((card) => missingCard(ctx, card)),
      cards: input.with_owned ? shown.map((card) => ({ ...cardShown(ctx, card.row), copies: card.copies })) : null,
      cost_to_finish: costToFinish(ctx, missing),
      duplicates: duplicatesIn(ctx, copies),
    },
    pagination: pagination(page, perPage, sorted.length),
  }
}

/** A card of the goal: the printing to show, and its copies in the collection. */
interface CardOfGoal {
  row: number
  copies: number
}

/** A missing card: also what it costs. */
interface MissingPrintings extends CardOfGoal {
  price: FittingPrice | null
  offer: ReturnType<OffersOnSale['listings']['cheapestOffer']>
}

function isMissing(card: CardOfGoal): card is MissingPrintings {
  return 'offer' in card
}

/** By set and number, then by name. */
function byNumber({ catalogue: { items } }: CompletionCtx): (a: CardOfGoal, b: CardOfGoal) => number {
  const { codes, names } = items
  return ({ row: a }, { row: b }) =>
    items.categoryId[a]! - items.categoryId[b]! ||
    byCode(items.code[a]!, items.code[b]!, (x, y) => codes.compare(x, y)) ||
    names.compare(items.name[a]!, items.name[b]!) ||
    items.id[a]! - items.id[b]!
}

function plainestFirst({ catalogue: { items } }: CompletionCtx, rows: readonly number[]): readonly number[] {
  if (rows.length === 1) return rows
  const rules = finishRules(items.gameOf(rows[0]!))
  const finishOf = (row: number) => {
    const finish = items.finishOf(row)
    return finish === null ? null : finishSlug(finish, rules)
  }
  return rows.toSorted((a, b) => byPlainness(rules)(finishOf(a), finishOf(b)) || items.id[a]! - items.id[b]!)
}

/** The plainest printing that has a trusted price, otherwise the plainest. */
function shownPrinting(ctx: CompletionCtx, rows: readonly number[]): Pick<MissingPrintings, 'row' | 'price'> {
  const { items } = ctx.catalogue
  const sorted = plainestFirst(ctx, rows)
  const priced = sorted.map((row) => ({ row, price: fittingPrice(ctx, items.id[row]!, null) }))
  return priced.find(({ price }) => price?.state === 'trusted') ?? priced[0]!
}

/** Cards without a number last. */
function byCode(a: number, b: number, compare: (a: number, b: number) => number): number {
  return a < 0 || b < 0 ? Number(a < 0) - Number(b < 0) : compare(a, b)
}

function cardShown({ catalogue: { items, addresses } }: CompletionCtx, row: number): Omit<GoalCard, 'copies'> {
  const { slug, images } = items.texts.get(row)
  return {
    item_id: items.id[row]!,
    name: items.nameOf(row),
    number: items.codeOf(row),
    slug,
    finish: items.finishOf(row),
    category_id: items.categoryId[row]!,
    image: imagesOf(items.id[row]!, images, addresses)[0]?.url ?? null,
  }
}

function missingCard(ctx: CompletionCtx, { row, price, offer }: MissingPrintings): MissingCard {
  return {
    ...cardShown(ctx, row),
    price: price && { market: price.market, label: price.label, currency: price.currency, amount: minorToNumber(price.minor), state: price.state },
    offer: offer && {
      listing_id: offer.listingId,
      item_id: offer.itemId,
      label: offer.label,
      currency: costCurrency(ctx),
      amount: minorToNumber(offer.kurus),
    },
  }
}

function costToFinish(ctx: CompletionCtx, missing: readonly MissingPrintings[]): Completion['cost_to_finish'] {
  const market = new CurrencySums()
  const listings = new CurrencySums()
  let offered = 0
  let priced = 0
  for (const { price, offer } of missing) {
    if (price?.state === 'trusted') {
      priced += 1
      market.add(price.currency, BigInt(price.minor))
    }
    if (offer) {
      offered += 1
      listings.add(costCurrency(ctx), BigInt(offer.kurus))
    }
  }
  const currency = costCurrency(ctx)
  return {
    market: { currencies: market.shown(currency), priced, unpriced: missing.length - priced },
    listings: { currency, amount: listings.shown(currency)[0]?.amount ?? 0, offered, not_offered: missing.length - offered },
  }
}
