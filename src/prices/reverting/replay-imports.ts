// Removes or restores an import that later imports followed: resets its prices to their state before it, and replays the statements of each later
// import in effect by the same rules.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { confidenceIn, CurrentPrices, flagsIn, stateIn } from '../records/current.ts'
import { restoreCoveredPoints } from '../writing/points.ts'
import type { EvidenceChange } from '../evidence/evidence-payload.ts'
import { CONFIDENCES, STATES } from '../evidence/evidence-types.ts'
import { FIGURE_COLUMNS } from '../records/feed-figures.ts'
import { judgePrices, logEvidence } from '../judging/judge-prices.ts'
import { PriceJudge } from '../judging/price-judge.ts'
import { resetCurrent } from '../writing/reset-current.ts'
import { type Jump, type LastStated, Statements } from '../writing/statements.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { PriceWriter } from '../writing/writer.ts'

const SERVICE = MARKETS.indexOf('service')
/** Prices per statement. */
const PRICES_PER_STATEMENT = 20_000
/** Items replayed at once. */
const ITEMS = 20_000

/** The items of an import, and the first batch of statements to replay. */
export interface Replay {
  from: number
  itemIds: ReadonlySet<number>
  /** items of the import that were also changed by something other than imports and their reverts */
  others: ReadonlySet<number>
  /** their prices before the revert */
  before: CurrentPrices
}

/**
 * What can be replayed after an import is reverted or restored. Call it before changing anything, with all markets locked.
 * @returns null if its statements are no longer stored
 */
export async function planReplay(tx: Tx, importId: number): Promise<Replay | null> {
  const stated = new Set<number>()
  for (const { id } of await tx.selectFrom('price_statements').select('id').where('import_id', '=', importId).orderBy('id').execute()) {
    const statements = await readStatements(tx, id)
    for (const itemId of statements.itemIds()) stated.add(itemId)
  }
  if (stated.size === 0) return null
  const from = await firstOf(tx, importId)
  const itemIds = await unchangedItems(tx, from, importId, stated)
  const others = new Set([...stated].filter((id) => !itemIds.has(id)))
  return { from, itemIds, others, before: await CurrentPrices.read(tx, itemIds) }
}

/** @returns number of current prices that changed in value or evidence */
export async function replayImports(ctx: PriceWriteCtx, tx: Tx, note: Note, { from, itemIds, others, before }: Replay): Promise<number> {
  const batches = await batchesFrom(tx, from)
  if (others.size > 0) await deleteStatements(tx, batches, others)
  // Disputes that the replay settles again were audited when they were first settled.
  const quiet: Note = { ...note, audit: () => {} }
  const all = [...itemIds]
  for (let at = 0; at < all.length; at += ITEMS) await writeSome(ctx, tx, quiet, batches, new Set(all.slice(at, at + ITEMS)))
  return countChanges(before, await CurrentPrices.read(tx, itemIds))
}

async function writeSome(ctx: PriceWriteCtx, tx: Tx, note: Note, batches: readonly Batch[], itemIds: ReadonlySet<number>): Promise<void> {
  const judge = async (before: number, now: Date) => {
    await judgePrices({ rules: ctx.rules, now: () => now }, tx, note, itemIds, await PriceJudge.load(tx, ctx.rules, now.getTime(), { before }))
  }
  await resetPrices(tx, note, batches, itemIds)
  await judge(batches[0]!.import_id, batches[0]!.at)
  let writer: PriceWriter | null = null
  for (const [i, { id, import_id: importId, at, in_effect: isInEffect }] of batches.entries()) {
    const statements = await readStatements(tx, id)
    const positions = statements.about(itemIds)
    if (positions.length > 0) {
      statements.setBefore(positions, await CurrentPrices.read(tx, statements.itemIds(positions)))
      await storeStatements(tx, id, statements)
      if (isInEffect) {
        writer ??= new PriceWriter({ db: ctx.db, tx, note, importId, rules: ctx.rules, replay: true, nowMs: at.getTime() })
        await writer.write(statements.batchOf(positions))
      }
    }
    if (batches[i + 1]?.import_id === importId) continue
    if (writer !== null) await judge(importId + 1, at)
    writer = null
  }
}

/** Deletes the batches' statements about some items, because they no longer determine their prices. */
async function deleteStatements(tx: Tx, batches: readonly Batch[], itemIds: ReadonlySet<number>): Promise<void> {
  for (const { id } of batches) {
    const statements = await readStatements(tx, id)
    const kept = statements.without(itemIds)
    if (kept.size < statements.size) await storeStatements(tx, id, kept)
  }
}

async function storeStatements(tx: Tx, id: number, statements: Statements): Promise<void> {
  await tx.updateTable('price_statements').set({ payload: statements.pack() }).where('id', '=', id).execute()
}

async function readStatements(tx: Tx, id: number): Promise<Statements> {
  const { payload } = await tx.selectFrom('price_statements').select('payload').where('id', '=', id).executeTakeFirstOrThrow()
  return Statements.unpack(payload)
}

/** The first batch that must be replayed. Batches are replayed whole, so each one may require an earlier one. */
async function firstOf(tx: Tx, importId: number): Promise<number> {
  let first = Number.MAX_SAFE_INTEGER
  for (;;) {
    const { rows } = await sql<{ first: number }>`
      select min(id) as first from price_statements where import_id = ${importId}::int4 or import_id in (
        select import_id from price_statements where id >= ${first}::int8
      )`.execute(tx)
    if (rows[0]!.first === first) return first
    first = rows[0]!.first
  }
}

/**
 * The items whose prices only imports and reverts have changed since: not merged or split, without decisions by people, and without statements of an
 * import that are no longer stored.
 */
async function unchangedItems(tx: Tx, from: number, importId: number, itemIds: Iterable<number>): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    with since as materialized (select at from price_statements where id = ${from}::int8)
    select i.id from since, unnest(${`{${[...itemIds].join(',')}}`}::int4[]) as g(id) join items i using (id)
    where not exists (select from merges m where m.from_item = i.id and greatest(m.at, m.undone_at) >= since.at)
      and not exists (select from merges m where m.into_item = i.id and greatest(m.at, m.undone_at) >= since.at)
      and not exists (
        select from held_prices h where h.item_id = i.id and h.decision in ('accepted', 'discarded') and h.decided_at >= since.at
      )
      and not exists (select from confirmed_prices c where c.item_id = i.id and c.at >= since.at)
      and i.id not in (
        select d.item_id from price_decisions p join price_decision_prices d on d.decision_id = p.id
        where greatest(p.at, p.undone_at) >= since.at
      )
      and not exists (
        select from price_points p where p.item_id = i.id and p.market <> ${sql.lit(SERVICE)} and p.import_id > ${importId}::int4
          and p.import_id not in (select import_id from price_statements where id >= ${from}::int8)
      )`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

interface Batch {
  id: number
  import_id: number
  at: Date
  in_effect: boolean
}

async function batchesFrom(tx: Tx, from: number): Promise<Batch[]> {
  const { rows } = await sql<Batch>`
    select s.id, s.import_id, s.at, i.reverted_by_import_id is null as in_effect
    from price_statements s join imports i on i.id = s.import_id where s.id >= ${from}::int8 order by s.id`.execute(tx)
  return rows
}

/** Resets history and current prices of the items to their state before the batches. */
async function resetPrices(tx: Tx, note: Note, batches: readonly Batch[], itemIds: ReadonlySet<number>): Promise<void> {
  const first = new Map<string, LastStated>()
  const jumps = new Map<string, Jump>()
  const seen = new Set<number>()
  for (const { id, import_id: importId } of batches) {
    const statements = await readStatements(tx, id)
    for (const jump of statements.jumps) if (itemIds.has(jump.itemId) && !seen.has(jump.itemId)) jumps.set(keyOf(jump), jump)
    const keys: LastStated[] = []
    for (const n of statements.about(itemIds)) {
      seen.add(statements.itemId(n))
      const last = statements.lastOf(n)
      if (!last) continue
      keys.push(last)
      if (!first.has(keyOf(last))) first.set(keyOf(last), last)
    }
    await takePoints(tx, importId, keys)
  }
  // One of the batches may have settled a jump, so it is flagged again.
  for (const [key, jump] of jumps) {
    const last = first.get(key)
    if (!last) continue
    last.verdict |= jump.flags
    jumps.delete(key)
  }
  const restored = [...first.values()]
  for (let at = 0; at < restored.length; at += PRICES_PER_STATEMENT) await restore(tx, note, restored.slice(at, at + PRICES_PER_STATEMENT))
  await flagJumps(tx, note, [...jumps.values()])
}

/** Flags jumps again on prices that none of the batches stated, until they are judged. */
async function flagJumps(tx: Tx, note: Note, jumps: readonly Jump[]): Promise<void> {
  if (jumps.length === 0) return
  await sql`
    update prices p set flags = p.flags | j.flags
    from ${keyTable(jumps)} join unnest(${`{${jumps.map(({ flags }) => flags).join(',')}}`}::int4[]) with ordinality as j(flags, n) using (n)
    where (p.item_id, p.market, p.label_id) = (g.item_id, g.market, g.label_id)`.execute(tx)
  note.changed(
    'items',
    jumps.map(({ itemId }) => itemId),
  )
}

/** Deletes the import's points. The latest points they covered become visible, and are deleted in turn if one of the batches stated them. */
async function takePoints(tx: Tx, importId: number, keys: readonly LastStated[]): Promise<void> {
  if (keys.length === 0) return
  const isOfKey = (table: string) => sql`(${sql.raw(`${table}.item_id, ${table}.market, ${table}.label_id`)}) = (g.item_id, g.market, g.label_id)`
  await sql`
    delete from hidden_points p using ${keyTable(keys)}
    where ${isOfKey('p')} and p.import_id = ${importId}::int4 and not p.withdrawn`.execute(tx)
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; updated_at: Date }>`
    delete from price_points p using ${keyTable(keys)} where ${isOfKey('p')} and p.import_id = ${importId}::int4
    returning p.item_id, p.market, p.label_id, p.updated_at`.execute(tx)
  if (rows.length === 0) return
  await restoreCoveredPoints(
    tx,
    sql`unnest(${rows.map((row) => row.item_id)}::int4[], ${rows.map((row) => row.market)}::int2[], ${rows.map((row) => row.label_id)}::int4[],
      ${rows.map((row) => row.updated_at)}::timestamptz[]) as d(item_id, market, label_id, updated_at)`,
  )
}

/** Restores current prices with all their evidence. */
async function restore(tx: Tx, note: Note, prices: readonly LastStated[]): Promise<void> {
  const column = (of: (price: LastStated) => number | string | null) => `{${prices.map((price) => of(price) ?? 'NULL').join(',')}}`
  const when = (of: (price: LastStated) => number | string | null) => column((price) => (price.isThere ? of(price) : null))
  await resetCurrent(
    tx,
    note,
    sql`select item_id, market, label_id, price, to_timestamp(at_ms / 1000) as updated_at, import_id
      from unnest(${column((p) => p.itemId)}::int4[], ${column((p) => p.market)}::int2[], ${column((p) => p.labelId)}::int4[],
        ${when((p) => minorToText(p.minor))}::numeric[], ${when((p) => p.updatedAtMs)}::float8[], ${when((p) => p.importId)}::int4[])
        as g(item_id, market, label_id, price, at_ms, import_id)`,
  )
  const figures = FIGURE_COLUMNS.map((name, i) => {
    const isSamples = name === 'samples'
    const text = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : isSamples ? value : minorToText(value))
    return sql`${when((p) => text(p.figures[i]))}::${sql.raw(isSamples ? 'int4' : 'numeric')}[]`
  })
  const names = sql.raw(FIGURE_COLUMNS.join(', '))
  await sql`
    update prices p set confirmed_at = to_timestamp(g.confirmed_ms / 1000), line = g.line, state = ((g.verdict >> 16) & 15)::int2,
      confidence = (g.verdict >> 20)::int2, flags = g.verdict & 65535, (${names}) = (${sql.raw(FIGURE_COLUMNS.map((name) => `g.${name}`).join(', '))})
    from unnest(${column((p) => p.itemId)}::int4[], ${column((p) => p.market)}::int2[], ${column((p) => p.labelId)}::int4[],
      ${when((p) => (p.confirmedAtMs > p.updatedAtMs ? p.confirmedAtMs : null))}::float8[], ${when((p) => (p.line < 0 ? null : p.line))}::int4[],
      ${when((p) => p.verdict)}::int4[], ${sql.join(figures)}) as g(item_id, market, label_id, confirmed_ms, line, verdict, ${names})
    where (p.item_id, p.market, p.label_id) = (g.item_id, g.market, g.label_id)`.execute(tx)
  await logEvidence(note, prices.filter(({ isThere }) => isThere).map(evidenceOf))
}

function evidenceOf({ itemId, market, labelId, verdict, confirmedAtMs, updatedAtMs, figures }: LastStated): EvidenceChange {
  const figure = (name: (typeof FIGURE_COLUMNS)[number]) => {
    const value = figures[FIGURE_COLUMNS.indexOf(name)]
    return value === undefined || Number.isNaN(value) ? null : value
  }
  return {
    itemId,
    market,
    labelId,
    state: STATES[stateIn(verdict)]!,
    confidence: CONFIDENCES[confidenceIn(verdict)]!,
    flags: flagsIn(verdict),
    confirmedAtMs: confirmedAtMs > updatedAtMs ? confirmedAtMs : null,
    avg7: figure('avg_7'),
    avg30: figure('avg_30'),
    low: figure('low'),
    high: figure('high'),
  }
}

function keyTable(keys: readonly Pick<LastStated, 'itemId' | 'market' | 'labelId'>[]) {
  const column = (name: 'itemId' | 'market' | 'labelId') => `{${keys.map((key) => key[name]).join(',')}}`
  return sql`unnest(${column('itemId')}::int4[], ${column('market')}::int2[], ${column('labelId')}::int4[])
    with ordinality as g(item_id, market, label_id, n)`
}

function keyOf({ itemId, market, labelId }: Pick<LastStated, 'itemId' | 'market' | 'labelId'>): string {
  return `${itemId} ${market} ${labelId}`
}

function countChanges(before: CurrentPrices, after: CurrentPrices): number {
  let [changed, found] = [0, 0]
  for (let at = 0; at < after.size; at += 1) {
    const was = before.find(before.first(after.itemId(at)), after.market(at), after.labelId(at))
    if (was >= 0) found += 1
    if (was < 0 || !isSame(before, was, after, at)) changed += 1
  }
  return changed + before.size - found
}

function isSame(a: CurrentPrices, atA: number, b: CurrentPrices, atB: number): boolean {
  const figures = b.figures.at(atB)
  return (
    a.minor[atA] === b.minor[atB] &&
    a.updatedAtMs[atA] === b.updatedAtMs[atB] &&
    a.importId[atA] === b.importId[atB] &&
    a.confirmedAtMs[atA] === b.confirmedAtMs[atB] &&
    (figures === null ? a.figures.at(atA) === null : a.figures.equals(atA, figures))
  )
}
