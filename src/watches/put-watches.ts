// Creates an account's watches, or changes their amounts.
import { ANY_LANGUAGE } from '#collections/completion/goals.ts'
import { goalRows } from '#collections/completion/read-completion.ts'
import { parseLabel } from '#core/labels.ts'
import { invalid, invalidFields } from '#core/errors.ts'
import { id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorOfNumber, minorToText } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'
import { localDay } from '#core/time.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { liveItemIds } from '#db/live-item.ts'
import type { Tx } from '#db/schema.ts'
import { GOAL_WATCH_KIND, type ItemWatchKind } from '#webhooks/events/event-body.ts'
import { lockGoalParts, type NewGoal, writeGoals } from './goal-store.ts'
import { type NewWatch, checkLimits, findWatch, findWatches, lockWatchesOf, setAmount, writeWatches } from './watch-store.ts'
import {
  AMOUNT,
  amount,
  ITEM_ID,
  type ItemWatch,
  MAX_GOAL_WATCHES,
  MAX_WATCHES_PER_REQUEST,
  OFFER_CURRENCY,
  type Watch,
  type WatchFields,
  WatchInput,
  type WatchWriteCtx,
} from './watch-types.ts'

const Rows = Type.Array(WatchInput, { minItems: 1, maxItems: MAX_WATCHES_PER_REQUEST })

export const putWatches = writeVerb(
  { name: 'putWatches', needs: OPERATION_PLAN.putWatches, input: Type.Object({ watches: Type.Union([WatchInput, Rows]) }) },
  (ctx: WatchWriteCtx, { watches: sent }): Promise<Watch[]> => {
    const accountId = ownAccount(ctx.viewer)
    const rows = [sent].flat()
    const nameOf = (i: number) => (Array.isArray(sent) ? `watches.${i}` : 'watches')
    return change(ctx, async (tx, note) => {
      await lockWatchesOf(tx, accountId)
      const checked = await checkedRows(ctx, tx, accountId, rows, nameOf)
      // Of rows for the same watch, the last one counts.
      const byKey = new Map(checked.map((watch) => [keyOf(watch), watch]))
      const now = ctx.now()
      const zone = ctx.market.timeZone
      const today = localDay(now, zone)
      const watches = [...byKey.values()].filter((watch) => 'itemId' in watch)
      const goals = [...byKey.values()].filter((watch) => 'goal' in watch)
      const written = await writeWatches(tx, accountId, watches, now, today)
      const writtenGoals = await writeGoals(tx, accountId, goals, now, today)
      await checkLimits(tx, accountId)
      const changes = [
        ...written.flatMap(({ id, before, isChanged }, i) => (isChanged ? [{ id, amount_before: before, ...watches[i]! }] : [])),
        ...writtenGoals.flatMap(({ id, isNew }, i) => (isNew ? [{ id, ...goals[i]! }] : [])),
      ]
      if (changes.length > 0) note.audit({ action: 'watches.put', subject: 'account', id: accountId, after: { watches: changes } })
      const ids = [...written, ...writtenGoals]
      const idOf = new Map([...watches, ...goals].map((watch, i) => [keyOf(watch), ids[i]!.id]))
      return findWatches(
        tx,
        accountId,
        zone,
        checked.map((watch) => idOf.get(keyOf(watch))!),
      )
    })
  },
)

function keyOf(watch: NewWatch | NewGoal): string {
  if ('goal' in watch) return `${watch.collectionId} ${watch.categoryId} ${watch.goal} ${watch.language}`
  const { kind, itemId, labelId, language } = watch
  return `${kind} ${itemId} ${labelId} ${language}`
}

/** @throws VALIDATION_ERROR, or NOT_FOUND for collections that the account does not have */
async function checkedRows(
  ctx: WatchWriteCtx,
  tx: Tx,
  accountId: number,
  rows: readonly WatchFields[],
  nameOf: (i: number) => string,
): Promise<(NewWatch | NewGoal)[]> {
  const items = await liveItemIds(
    tx,
    rows.flatMap((row) => row.item_id ?? []),
  )
  const goals = rows.filter((row) => row.kind === GOAL_WATCH_KIND)
  if (goals.length > MAX_GOAL_WATCHES) throw invalid('watches', 'too_many_goals', { max: MAX_GOAL_WATCHES })
  const parts = goals.length > 0 ? await lockGoalParts(tx, accountId, goals) : null
  const sets = new Map(Array.from(parts?.categories ?? [], (id) => [id, problemOfSet(ctx, id)]))
  const checked = rows.map((row) => (row.kind === GOAL_WATCH_KIND ? checkedGoal(row, sets) : checkedWatch(ctx, row, items)))
  const problems = checked.flatMap((one, i) => (Array.isArray(one) ? one.map((why) => ({ ...why, field: `${nameOf(i)}.${why.field}` })) : []))
  if (problems.length > 0) throw invalidFields(problems)
  const foreign = goals.find((row) => !parts!.collections.has(row.collection_id!))
  if (foreign) throw missing('collection', foreign.collection_id!)
  return checked as (NewWatch | NewGoal)[]
}

/** Problems of fields that watches of another kind have. */
function fieldsOfOthers(row: WatchFields, names: readonly (keyof WatchFields)[], why: Reason): Problem[] {
  return names.filter((name) => row[name] !== undefined && row[name] !== null).map((field) => ({ field, ...why }))
}

const ID = reason('integer', { min: ITEM_ID.minimum, max: ITEM_ID.maximum })

function problemOfSet(ctx: WatchWriteCtx, categoryId: number): Problem | null {
  const rows = goalRows(ctx, categoryId)
  return 'field' in rows ? rows : null
}

/**
 * The watch of a goal to store, or what is wrong with its fields.
 * @param sets problems of the categories that exist, null for none
 */
function checkedGoal(row: WatchFields, sets: ReadonlyMap<number, Problem | null>): NewGoal | Problem[] {
  const { collection_id: collectionId, category_id: categoryId, goal = 'complete', language } = row
  const problems = fieldsOfOthers(row, ['item_id', 'label', 'amount', 'currency'], reason('not_for_kind', { kind: GOAL_WATCH_KIND }))
  if (collectionId === undefined) problems.push(problem('collection_id', 'required', { must: ID }))
  if (categoryId === undefined) problems.push(problem('category_id', 'required', { must: ID }))
  else {
    const why = sets.get(categoryId)
    if (why !== null) problems.push(why ?? problem('category_id', 'unknown_id', { thing: 'category', id: categoryId }))
  }
  if (problems.length > 0) return problems
  return { collectionId: collectionId!, categoryId: categoryId!, goal, language: language?.toLowerCase() ?? ANY_LANGUAGE }
}

/** The watch to store, or what is wrong with its fields. */
function checkedWatch({ catalogue: { labels }, market }: WatchWriteCtx, row: WatchFields, items: ReadonlyMap<number, number>): NewWatch | Problem[] {
  const { item_id: itemId, label, language, amount, currency } = row
  const kind = row.kind as ItemWatchKind
  const problems = fieldsOfOthers(row, ['collection_id', 'category_id', 'goal'], reason('only_for_kind', { kind: GOAL_WATCH_KIND }))
  const isOffer = kind === 'offer_below'
  const allowed = isOffer ? [OFFER_CURRENCY] : [...new Set(Object.values(market.sourceCurrencies))]
  const oneOf: Reason = reason('one_of', { values: allowed })
  if (currency === undefined && !isOffer) problems.push(problem('currency', 'required', { must: oneOf }))
  else if (currency !== undefined && !allowed.includes(currency)) problems.push({ field: 'currency', ...oneOf })
  const item = items.get(itemId ?? 0)
  if (itemId === undefined) problems.push(problem('item_id', 'required', { must: ID }))
  else if (item === undefined) problems.push(problem('item_id', 'unknown_id', { thing: 'item', id: itemId }))
  const found = label == null ? null : labels.ofLabel(parseLabel(label)?.label ?? label)
  if (label == null && !isOffer) problems.push(problem('label', 'required', { must: reason('label') }))
  if (found === undefined) problems.push(problem('label', 'label', { value: label! }))
  if (language != null && !isOffer) problems.push(problem('language', 'only_for_kind', { kind: 'offer_below' }))
  const minor = amount === undefined ? null : minorOfNumber(amount)
  if (amount === undefined) problems.push(problem('amount', 'required', { must: AMOUNT }))
  else if (!minor) problems.push({ field: 'amount', ...AMOUNT })
  if (problems.length > 0) return problems
  // Listings without a stated condition have the label of Near Mint.
  const labelId = isOffer && found?.name === 'Ungraded' ? labels.nearMint : (found?.id ?? null)
  return {
    kind,
    itemId: item!,
    labelId,
    language: language?.toLowerCase() ?? null,
    amount: minorToText(minor!),
    currency: currency ?? OFFER_CURRENCY,
  }
}

export const changeWatch = writeVerb(
  { name: 'changeWatch', needs: OPERATION_PLAN.changeWatch, input: Type.Object({ id: id('watch'), amount: amount() }) },
  (ctx: WatchWriteCtx, input): Promise<Watch> => {
    const accountId = ownAccount(ctx.viewer)
    const minor = minorOfNumber(input.amount)
    if (!minor) throw invalidFields([{ field: 'amount', ...AMOUNT }])
    return change(ctx, async (tx, note) => {
      const zone = ctx.market.timeZone
      const before = await findWatch(tx, accountId, zone, input.id)
      if (before.kind === GOAL_WATCH_KIND) throw invalid('amount', 'not_for_kind', { kind: GOAL_WATCH_KIND })
      const now = ctx.now()
      await setAmount(tx, accountId, input.id, minorToText(minor), now, localDay(now, zone))
      const after = (await findWatch(tx, accountId, zone, input.id)) as ItemWatch
      if (after.amount !== before.amount) note.audit({ action: 'watch.change', subject: 'watch', id: after.id, before, after })
      return after
    })
  },
)
