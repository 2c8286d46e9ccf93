// A shared collection as anyone with its link sees it: never costs, notes, codes, dates of purchase, or who owns it.
import { sql } from 'kysely'
import { monotonicMs } from '#core/process/time-and-chance.ts'
import { imagesOf } from '#catalogue/snapshot/item-json.ts'
import { Cache } from '#core/cache.ts'
import { minorToNumber } from '#core/money.ts'
import { notFound } from '#core/errors.ts'
import { offsetOf, pageParams, type Pagination, pagination, type Range } from '#core/paging.ts'
import { Type } from '#core/input.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { Queryable } from '#db/schema.ts'
import { completionBySet } from '../completion/set-completion.ts'
import { ANY_LANGUAGE } from '../completion/goals.ts'
import { isShareToken } from '../records/share-token.ts'
import { collectionByToken } from '../records/store.ts'
import type { Collection, PricingCtx } from '../records/types.ts'
import { costCurrency, currencyOrder, numberOf, priceForGrade, worthOf, worthResponse } from '../worth.ts'
import { worthDaysOf } from '../worth-store.ts'
import type { SharedCollection, SharedItem } from './shared-types.ts'

/** Sets of the summary. */
const MAX_SETS = 50
/** Days of the chart: a year. */
const MAX_DAYS = 366
/** How long visitors see the same worth and completion, from when they are asked for. */
const SUMMARY_MS = 30_000
const SUMMARIES = 1_000
/** Records on a page, unless the request says otherwise. */
const ITEMS_PER_PAGE = 60

/** The parts that take a read of all records. */
type Summary = Pick<SharedCollection, 'worth' | 'sets'>

export interface SharedDays {
  name: string
  visibility: Collection['visibility']
  /** null if the last day has no value */
  currency: string | null
  /** oldest first */
  days: { day: string; value: number }[]
}

/** Reads shared collections. The link is looked up in the database each time, so that a revoked one ends at once on every node. */
export class SharedCollections {
  readonly #ctx: PricingCtx
  /** by collection: many visitors of a large collection cost as much as one */
  readonly #summaries = new Cache<number, { endsMs: number; summary: Promise<Summary> }>({ limit: SUMMARIES })
  /** summaries are computed one after another, so that visitors never occupy more than one connection with them */
  #last: Promise<unknown> = Promise.resolve()

  constructor(ctx: PricingCtx) {
    this.#ctx = ctx
  }

  /** @throws NOT_FOUND, the same for tokens that are malformed, unknown or revoked */
  async read(token: string, range: Range): Promise<SharedCollection> {
    const { kysely: db } = this.#ctx.db
    const { id, name, description, visibility } = await this.#find(token)
    const items_count = await countRecords(db, id)
    const items = range.offset >= items_count ? [] : (await recordsOf(db, id, range)).map((row) => this.#item(row))
    return { name, description, visibility, items_count, ...(await this.#summaryOf(id)), items }
  }

  /** The worth by day, in the first currency in which the last day has a value. @throws NOT_FOUND as `read` does */
  async readDays(token: string): Promise<SharedDays> {
    const { kysely: db } = this.#ctx.db
    const { id, name, visibility } = await this.#find(token)
    const days = await worthDaysOf(db, { collectionId: id, from: undefined, to: undefined }, MAX_DAYS)
    const valued = days.at(-1)?.currencies.filter(({ value }) => value !== 0n) ?? []
    const currency = valued.toSorted(currencyOrder(costCurrency(this.#ctx)))[0]?.currency ?? null
    const values = days.flatMap(({ day, currencies }) => {
      const found = currencies.find((one) => one.currency === currency)
      return found ? [{ day, value: Number(found.value) / 100 }] : []
    })
    return { name, visibility, currency, days: values }
  }

  async #find(token: string): Promise<Collection> {
    const collection = isShareToken(token) ? await collectionByToken(this.#ctx.db.kysely, token) : null
    if (!collection) throw notFound('share_not_found')
    return collection
  }

  #summaryOf(id: number): Promise<Summary> {
    const nowMs = monotonicMs()
    const stored = this.#summaries.get(id)
    if (stored && stored.endsMs > nowMs) return stored.summary
    const summary = this.#last.then(() => this.#summarise(id))
    this.#last = summary.catch(() => this.#summaries.delete(id))
    this.#summaries.set(id, { endsMs: nowMs + SUMMARY_MS, summary })
    return summary
  }

  async #summarise(id: number): Promise<Summary> {
    const { catalogue, db } = this.#ctx
    const { currencies, without_price, without_trusted_price } = worthResponse(await worthOf(this.#ctx, id))
    const sets = await completionBySet(catalogue, db.kysely, id, 'complete', ANY_LANGUAGE)
    return {
      // A currency in which the collection has only costs says what was paid.
      worth: {
        currencies: currencies.filter(({ value }) => value !== 0).map(({ currency, value }) => ({ currency, value })),
        without_value: without_price + without_trusted_price,
      },
      sets: sets.slice(0, MAX_SETS).map(({ name, slug, game, image, owned, of, percent }) => ({ name, slug, game, image, owned, of, percent })),
    }
  }

  #item({ item_id, name, slug, label, quantity }: ShownRecord): SharedItem {
    const { items, addresses } = this.#ctx.catalogue
    const row = items.rowOf(item_id)
    const images = row < 0 ? [] : imagesOf(items.id[row]!, items.texts.get(row).images, addresses)
    const price = priceForGrade(this.#ctx, item_id, label)
    const value =
      typeof price === 'string'
        ? null
        : { currency: price.currency, price: minorToNumber(price.minor), amount: numberOf(BigInt(price.minor) * BigInt(quantity)) }
    return { name, slug, label, quantity, picture: images[0]?.url ?? null, value }
  }
}

export interface SharedCtx extends HasViewer {
  shared: Pick<SharedCollections, 'read'>
}

/** A page of a shared collection, for anyone: every caller may do what the smallest plan allows. */
export const readSharedCollection = verb(
  {
    name: 'readSharedCollection',
    needs: 'starter',
    input: Type.Object({
      token: Type.String({ description: 'The last part of `shared_url`', examples: ['q3JxZr8sVt0YbKcW5nLhTgDfPaRmUe7i'] }),
      ...pageParams(ITEMS_PER_PAGE),
    }),
  },
  async ({ shared }: SharedCtx, { token, page = 1, per_page: perPage = ITEMS_PER_PAGE }): Promise<SharedPage> => {
    const collection = await shared.read(token, { limit: perPage, offset: offsetOf(page, perPage) })
    return { collection, pagination: pagination(page, perPage, collection.items_count) }
  },
)

export interface SharedPage {
  collection: SharedCollection
  pagination: Pagination
}

/** What others may see of a record: nothing else is read. */
interface ShownRecord {
  item_id: number
  name: string
  slug: string
  label: string | null
  quantity: number
}

/** Records with copies: one whose copies are all sold is not shown. */
async function countRecords(on: Queryable, collectionId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int4 as count from collection_items where collection_id = ${collectionId} and quantity > 0`.execute(on)
  return rows[0]!.count
}

async function recordsOf(on: Queryable, collectionId: number, { limit, offset }: Range): Promise<ShownRecord[]> {
  const { rows } = await sql<ShownRecord>`
    select r.item_id, i.name, i.slug, g.name as label, r.quantity
    from (
      select id, item_id, grade_id, quantity from collection_items
      where collection_id = ${collectionId} and quantity > 0 order by id desc limit ${limit} offset ${offset}
    ) r join items i on i.id = r.item_id left join groups g on g.id = r.grade_id
    order by r.id desc`.execute(on)
  return rows
}
