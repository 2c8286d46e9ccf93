// Evaluates current prices in the database: loads them with the data the rules need, and stores changed verdicts.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import type { Note } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { confidenceIn, CurrentPrices, flagsIn, stateIn } from '../records/current.ts'
import { type EvidenceChange, packEvidence } from '../evidence/evidence-payload.ts'
import { CONFIDENCES, STATES } from '../evidence/evidence-types.ts'
import { labelIds } from '../records/labels.ts'
import { type FigureMove, findFrozenPrices } from './frozen-prices.ts'
import { PriceJudge } from './price-judge.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'

/** Context of judging. */
export type JudgeCtx = Pick<PriceWriteCtx, 'rules' | 'now'>

/** A verdict to store, packed as `packedVerdict` does; `before` is the stored one. */
export interface VerdictChange {
  itemId: number
  market: number
  labelId: number
  before: number
  verdict: number
}

const LOCK = 7311
/** Items judged at once. */
const ITEMS = 5_000
/** Maximum size of a change-log entry. */
const PACK = 20_000

/**
 * Serialises transactions that judge prices until they commit: each sees the results of the previous ones. Take it after every other lock, because a
 * transaction must not wait for another lock while it holds this one.
 */
export async function lockJudging(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)}, 0)`.execute(tx)
}

/**
 * Judges the current prices of items; call it at the end of the caller's transaction (see `lockJudging`). Changed verdicts are stored, logged for the
 * nodes, and audited if a dispute was settled. Prices being written by another transaction are skipped, because that one judges them itself.
 * @param itemIds ids of items that are not deleted or merged, in any order
 * @param loaded a judge already loaded in this transaction
 * @returns number of changed verdicts
 */
export async function judgePrices(ctx: JudgeCtx, tx: Tx, note: Note, itemIds: Iterable<number>, loaded?: PriceJudge): Promise<number> {
  const ids = [...new Set(itemIds)].sort((a, b) => a - b)
  if (ids.length === 0) return 0
  await lockJudging(tx)
  const judge = loaded ?? (await PriceJudge.load(tx, ctx.rules, ctx.now().getTime()))
  let changed = 0
  for (let from = 0; from < ids.length; from += ITEMS) changed += await judgeSome(tx, note, judge, ids.slice(from, from + ITEMS))
  return changed
}

/**
 * Judges all current prices of items after an id, in batches; also finds out which are frozen.
 * @param moves when figures of repeated prices last moved (`findFigureMoves`)
 * @param market position in MARKETS: only items with a price there; null for all
 * @returns the id to continue after; null at the end
 */
export async function judgeBatch(
  ctx: JudgeCtx,
  tx: Tx,
  note: Note,
  moves: readonly FigureMove[],
  after: number,
  market: number | null = null,
): Promise<number | null> {
  const only = market === null ? sql`` : sql`and market = ${market}`
  const { rows } = await sql<{ item_id: number }>`
    select distinct item_id from prices where item_id > ${after} ${only} order by item_id limit ${sql.lit(ITEMS)}`.execute(tx)
  const ids = rows.map((row) => row.item_id)
  await lockJudging(tx)
  const judge = await PriceJudge.load(tx, ctx.rules, ctx.now().getTime())
  judge.mark(await findFrozenPrices(tx, judge.conditions, ids, moves))
  await judgePrices(ctx, tx, note, ids, judge)
  return ids.length < ITEMS ? null : ids.at(-1)!
}

async function judgeSome(tx: Tx, note: Note, judge: PriceJudge, ids: readonly number[]): Promise<number> {
  const currents = await CurrentPrices.read(tx, ids)
  await judge.prepare(tx, currents)
  const changes: VerdictChange[] = []
  const places = new Map<string, number>()
  for (const itemId of currents.itemIds()) {
    const labels = new Set<number>()
    for (let at = currents.first(itemId); at >= 0; at = currents.next(at)) labels.add(currents.labelId(at))
    for (const labelId of labels) {
      judge.judge(currents, itemId, labelId, (at, verdict) => {
        const before = currents.verdict[at]!
        if (verdict === before) return
        const market = currents.market(at)
        changes.push({ itemId, market, labelId, before, verdict })
        places.set(keyOf(itemId, market, labelId), at)
      })
    }
  }
  const stored = await storeVerdicts(tx, changes)
  await logEvidence(
    note,
    stored.map(({ itemId, market, labelId, verdict }) => evidenceOf(currents, places.get(keyOf(itemId, market, labelId))!, itemId, verdict)),
  )
  await auditSettledDisputes(tx, note, stored)
  return stored.length
}

/** Stores verdicts of rows that are not locked by other writers. @returns those that were stored */
async function storeVerdicts(tx: Tx, changes: readonly VerdictChange[]): Promise<VerdictChange[]> {
  if (changes.length === 0) return []
  const { rows } = await sql<{ n: number }>`
    with free as materialized (
      select p.item_id, p.market, p.label_id, g.verdict, g.n
      from unnest(${column(changes, 'itemId')}::int4[], ${column(changes, 'market')}::int2[], ${column(changes, 'labelId')}::int4[],
        ${column(changes, 'verdict')}::int4[]) with ordinality as g(item_id, market, label_id, verdict, n)
      join prices p on (p.item_id, p.market, p.label_id) = (g.item_id, g.market, g.label_id)
      for update of p skip locked
    )
    update prices p set state = ((f.verdict >> 16) & 15)::int2, confidence = (f.verdict >> 20)::int2, flags = f.verdict & 65535
    from free f where (p.item_id, p.market, p.label_id) = (f.item_id, f.market, f.label_id)
    returning f.n::int4 as n`.execute(tx)
  return rows.map(({ n }) => changes[n - 1]!)
}

function column(changes: readonly VerdictChange[], name: 'itemId' | 'market' | 'labelId' | 'verdict'): string {
  return `{${changes.map((change) => change[name]).join(',')}}`
}

/** The evidence of a price for the nodes. */
export function evidenceOf(currents: CurrentPrices, at: number, itemId: number, verdict: number): EvidenceChange {
  const figures = currents.figures.at(at)
  const confirmedAtMs = currents.confirmedAtMs[at]!
  return {
    itemId,
    market: currents.market(at),
    labelId: currents.labelId(at),
    state: STATES[stateIn(verdict)]!,
    confidence: CONFIDENCES[confidenceIn(verdict)]!,
    flags: flagsIn(verdict),
    confirmedAtMs: confirmedAtMs > currents.updatedAtMs[at]! ? confirmedAtMs : null,
    avg7: figures?.avg7 ?? null,
    avg30: figures?.avg30 ?? null,
    low: figures?.low ?? null,
    high: figures?.high ?? null,
  }
}

/** Logs the changes for the nodes. */
export async function logEvidence(note: Note, changes: readonly EvidenceChange[]): Promise<void> {
  for (let from = 0; from < changes.length; from += PACK) await note.changedEvidence(packEvidence(changes.slice(from, from + PACK)))
}

/** Adds an audit row for each dispute that was settled. */
export async function auditSettledDisputes(on: Queryable, note: Note, changes: readonly VerdictChange[]): Promise<void> {
  const settled = changes.filter(({ before, verdict }) => STATES[stateIn(before)] === 'disputed' && STATES[stateIn(verdict)] !== 'disputed')
  if (settled.length === 0) return
  const names = new Map([...(await labelIds(on))].map(([name, id]) => [id, name]))
  for (const { itemId, market, labelId, verdict } of settled) {
    const after = { market: MARKETS[market]!, label: names.get(labelId)!, state: STATES[stateIn(verdict)]! }
    note.audit({ action: 'price.settled', subject: 'item', id: itemId, after })
  }
}

function keyOf(itemId: number, market: number, labelId: number): string {
  return `${itemId} ${market} ${labelId}`
}
