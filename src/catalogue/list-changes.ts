// Change feed of the catalogue: changes since a position, in commit order, each object once per page.
import { invalid, ServiceError } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import {
  type CatalogueKind,
  type LoggedPart,
  type LogPage,
  type LogPosition,
  positionText,
  readLog,
  readPosition,
} from '#db/changes/logged-changes.ts'
import type { LongPolls, Wait } from '#db/changes/long-polls.ts'
import type { SharedLogReads } from '#db/changes/shared-log-reads.ts'
import { eachPackedPrice, PRICE_BYTES, packedCount } from '#prices/records/price-payload.ts'
import { allows } from '#prices/records/source-terms.ts'
import {
  type CategoryRow,
  CategoryRowSchema,
  categoryRowsOf,
  type ItemRow,
  ItemRowSchema,
  itemRowsOf,
  type PriceRow,
  PriceRowSchema,
  priceRowsOf,
} from './catalogue-rows.ts'
import type { CatalogueNode } from './context.ts'

const KINDS = ['item', 'category', 'price', 'merge', 'delete'] as const
type Kind = (typeof KINDS)[number]

/** The kinds of log rows that contain each kind of change. */
const LOGGED: Record<CatalogueKind, readonly Kind[]> = {
  items: ['item', 'merge', 'delete'],
  categories: ['category', 'delete'],
  prices: ['price'],
}

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000
const MAX_WAIT_SECONDS = 30
/** Entries that one request examines for kinds which the log does not tell apart, such as deletions among items. */
const MAX_EXAMINED = 10_000

const ChangedItemSchema = Type.Object({ ...ItemRowSchema.properties, prices: Type.Array(PriceRowSchema) }, { title: 'ChangedItem' })

export const ChangeSchema = Type.Object(
  {
    cursor: Type.String({ description: 'Send it as `after` to continue after this change' }),
    kind: Type.Enum([...KINDS], {
      description:
        '`item`: created or changed, possibly with all its prices; `price`: a price was added, changed or removed; ' +
        '`merge`: the item `id` was merged into `item_id`; `delete`: an item (`item_id`) or a category (null) was deleted',
    }),
    id: Type.Integer({ description: 'Id of the item or category' }),
    item_id: orNull(Type.Integer(), { description: 'Id of the item; null for categories' }),
    market: orNull(Type.Enum([...MARKETS]), { description: 'Market of a price' }),
    label: orNull(Type.String(), { description: 'Condition or grade of a price' }),
    at: Type.String({ format: 'date-time', description: 'When it was written, UTC' }),
    data: Type.Optional(
      Type.Union([ChangedItemSchema, CategoryRowSchema, PriceRowSchema, Type.Null()], {
        description: 'With `with_data=1`: the current data; null if it no longer exists',
      }),
    ),
  },
  { title: 'Change' },
)
export type Change = Static<typeof ChangeSchema>

export interface ChangePage {
  changes: Change[]
  /** the cursor of the next page */
  next: string
  /** whether there may be changes after this page already, even if it is empty */
  more: boolean
}

export interface ChangesCtx extends CatalogueNode, Pick<WriteCtx, 'db' | 'viewer' | 'caughtUp'> {
  polls: LongPolls
  logReads: SharedLogReads
  onDisconnect: Wait['onDisconnect']
  currencies: Readonly<Record<Market, string>>
}

/** The log position in a cursor. @throws VALIDATION_ERROR naming `after` */
function positionOf(cursor: string): LogPosition {
  const position = readPosition(cursor)
  if (position === null) throw invalid('after', 'change_cursor')
  return position
}

export const listChanges = verb(
  {
    name: 'listChanges',
    needs: OPERATION_PLAN.listChanges,
    input: Type.Object({
      after: Type.Optional(
        Type.String({
          maxLength: 4_000,
          description: '`next` or a `cursor` from an earlier response, or the `change_cursor` of a dump; default: the oldest change',
        }),
      ),
      kinds: Type.Optional(
        Type.String({
          maxLength: 100,
          pattern: `^(${KINDS.join('|')})(,(${KINDS.join('|')}))*$`,
          allowed: reason('list_of', { values: KINDS }),
          description: `Only these of ${KINDS.map((kind) => `\`${kind}\``).join(', ')}; default: all`,
          examples: ['item,merge,delete'],
        }),
      ),
      wait: Type.Optional(
        Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0, description: 'Seconds to wait for a change if there is none yet' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT, description: 'Maximum number of changes' })),
      with_data: Type.Optional(Type.Boolean({ default: false, description: 'Add the current data' })),
    }),
  },
  async (ctx: ChangesCtx, { after, kinds, wait = 0, limit = DEFAULT_LIMIT, with_data: withData = false }): Promise<ChangePage> => {
    const requestedKinds = KINDS.filter((kind) => kinds?.split(',').includes(kind) ?? true)
    const logged = (Object.keys(LOGGED) as CatalogueKind[]).filter((kind) => LOGGED[kind].some((one) => requestedKinds.includes(one)))
    const isWhole = logged.every((kind) => LOGGED[kind].every((one) => requestedKinds.includes(one)))
    const request = { kinds: logged, most: isWhole ? limit : MAX_EXAMINED, entryBytes: PRICE_BYTES }
    let position = after === undefined ? null : positionOf(after)
    let upTo = ''
    let hasWaited = false
    const read = async (): Promise<{ found: ChangePage; isEmpty: boolean }> => {
      for (;;) {
        const page = await (hasWaited ? ctx.logReads.read(position!, request) : readLog(ctx.db.kysely, { ...request, after: position }))
        if (page === 'expired') throw new ServiceError('CURSOR_EXPIRED', reason('cursor_expired'))
        if (page.parts.length > 0) await ctx.caughtUp()
        const { changes, next } = changesIn(ctx, page, requestedKinds, limit)
        // What committed since the range began is in the next one.
        const endedRange = next.range === null && position !== null && position.range !== null
        ;[position, upTo] = [next, page.upTo]
        if (endedRange && changes.length === 0) continue
        const more = next.range !== null || endedRange
        hasWaited = changes.length === 0 && !more
        return { found: { changes, next: positionText(next), more }, isEmpty: hasWaited }
      }
    }
    const accountId = ctx.viewer.kind === 'account' ? ctx.viewer.accountId : null
    const found = await ctx.polls.read({ topics: logged, accountId, wait: { ms: wait * 1_000, onDisconnect: ctx.onDisconnect } }, read)
    if (withData) await addData(ctx, found.changes, upTo)
    return found
  },
)

/** The first changes of a page, each object once with its current kind. */
function changesIn(
  { catalogue }: CatalogueNode,
  { parts, cluster, seen, upTo, next }: LogPage,
  requestedKinds: readonly Kind[],
  limit: number,
): { changes: Change[]; next: LogPosition } {
  const { items, categories, labels } = catalogue
  const changes: Change[] = []
  const listed = new Set<string>()
  let isFull = false
  let last: LogPosition = next
  const add = (part: LoggedPart, entry: number, change: Omit<Change, 'cursor' | 'at'>) => {
    const { kind, id, market, label } = change
    const thing = `${kind} ${change.item_id === null ? 'category' : 'item'} ${id} ${market} ${label}`
    if (isFull || !requestedKinds.includes(kind) || listed.has(thing)) return
    if (changes.length === limit) {
      isFull = true
      return
    }
    listed.add(thing)
    last = { cluster, seen, range: { upTo, xact: part.xact, seq: part.seq, entry: part.first + entry + 1 } }
    changes.push({ cursor: positionText(last), ...change, at: part.at.toISOString() })
  }
  for (const part of parts) {
    const of = { market: null, label: null }
    part.ids?.forEach((id, entry) => {
      if (part.kind === 'categories') {
        add(part, entry, { kind: categories.get(id) ? 'category' : 'delete', id, item_id: null, ...of })
        return
      }
      const row = items.rowOf(id)
      if (row < 0) add(part, entry, { kind: 'delete', id, item_id: id, ...of })
      else add(part, entry, { kind: items.id[row] === id ? 'item' : 'merge', id, item_id: items.id[row]!, ...of })
    })
    if (part.payload) {
      let entry = 0
      eachPackedPrice(part.payload, 0, packedCount(part.payload), ({ itemId, market, labelId }) => {
        entry += 1
        if (!allows(catalogue.terms[market]!, 'redistribute')) return
        const row = items.rowOf(itemId)
        const id = row < 0 ? itemId : items.id[row]!
        add(part, entry - 1, { kind: 'price', id, item_id: id, market: MARKETS[market]!, label: labels.name(labelId) })
      })
    }
    if (isFull) break
  }
  return { changes, next: isFull ? last : next }
}

/** Adds the current data of each changed object, which is at least as new as the moment up to which the changes were read. */
async function addData({ db, currencies, logReads }: ChangesCtx, changes: Change[], upTo: string): Promise<void> {
  const idsOf = (...kinds: Kind[]) => [...new Set(changes.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id))]
  const ids = { items: idsOf('item'), prices: idsOf('item', 'price'), categories: idsOf('category') }
  const { items, prices, categories } = await logReads.share(JSON.stringify([upTo, ids]), async () => ({
    items: await itemRowsOf(db.kysely, ids.items),
    prices: await priceRowsOf(db.kysely, ids.prices, currencies),
    categories: await categoryRowsOf(db.kysely, ids.categories),
  }))
  for (const change of changes) change.data = dataOf(change)

  function dataOf({ kind, id, market, label }: Change): CategoryRow | PriceRow | (ItemRow & { prices: PriceRow[] }) | null {
    if (kind === 'category') return categories.get(id) ?? null
    const ofItem = prices.get(id) ?? []
    if (kind === 'price') return ofItem.find((price) => price.market === market && price.label === label) ?? null
    const item = kind === 'item' ? items.get(id) : undefined
    return item ? { ...item, prices: ofItem } : null
  }
}
