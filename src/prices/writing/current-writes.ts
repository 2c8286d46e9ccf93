// Writes the current prices that a batch sets or confirms, and logs them for the nodes.
import { type RawBuilder, sql } from 'kysely'
import { confidenceIn, type CurrentPrices, flagsIn, stateIn } from '../records/current.ts'
import type { CurrentChanges } from './current-changes.ts'
import { FIGURE_COLUMNS, figureArrays } from '../records/feed-figures.ts'
import { evidenceOf, logEvidence, auditSettledDisputes } from '../judging/judge-prices.ts'
import { packPrices } from '../records/price-payload.ts'
import type { PriceBatch } from '../records/price-batch.ts'
import { amounts, type Write } from './batch-table.ts'

export async function writeCurrent(write: Write, batch: PriceBatch, currents: CurrentPrices, changes: CurrentChanges): Promise<void> {
  if (changes.before.size === 0) return
  const { set, setAt } = changes
  const known: number[] = []
  const fresh: number[] = []
  for (const n of set.keys()) (currents.places[setAt[n]!] === undefined ? fresh : known).push(n)
  const updated = await updateCurrent(write, batch, currents, pick(set, known), pick(setAt, known))
  const missed = updated < known.length ? [...set.keys()] : fresh
  await upsertCurrent(write, batch, currents, pick(set, missed), pick(setAt, missed))
  await updateConfirmed(write, currents, [...changes.confirmed])
  if (set.length > 0) await write.note.changedPrices(packPrices(set.map((i) => batch.at(i))))
  const changed = [...changes.before.keys()].filter((at) => changes.isNews(at))
  await logEvidence(
    write.note,
    changed.map((at) => evidenceOf(currents, at, currents.itemId(at), currents.verdict[at]!)),
  )
  const verdicts = changed.map((at) => {
    const [itemId, market, labelId] = [currents.itemId(at), currents.market(at), currents.labelId(at)]
    return { itemId, market, labelId, before: changes.before.get(at)!, verdict: currents.verdict[at]! }
  })
  await auditSettledDisputes(write.tx, write.note, verdicts)
}

/**
 * Updates current prices by the ctid at which they were read, which takes half as long as by key.
 * @returns their number: fewer than given if another writer has moved some since (the service's own prices are not locked)
 */
async function updateCurrent(
  write: Write,
  batch: PriceBatch,
  currents: CurrentPrices,
  set: readonly number[],
  ats: readonly number[],
): Promise<number> {
  if (set.length === 0) return 0
  const { arrays, columns, set: evidence } = evidenceParts(currents, ats)
  const { numAffectedRows } = await sql`
    update prices p set price = g.price, updated_at = to_timestamp(g.at_ms / 1000), import_id = ${write.importId}::int4,
      line = g.line, ${evidence}
    from unnest(${placesOf(currents, ats)}::tid[], ${lines(write, batch, set)}::int4[], ${batch.column('itemId', set)}::int4[],
      ${batch.column('market', set)}::int2[], ${batch.column('labelId', set)}::int4[], ${amounts(batch, set)}::numeric[],
      ${batch.column('updatedAtMs', set)}::float8[]${arrays})
      as g(place, line, item_id, market, label_id, price, at_ms${columns})
    where p.ctid = g.place and p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id`.execute(write.tx)
  return Number(numAffectedRows)
}

async function upsertCurrent(
  write: Write,
  batch: PriceBatch,
  currents: CurrentPrices,
  set: readonly number[],
  ats: readonly number[],
): Promise<void> {
  if (set.length === 0) return
  const columns = sql.raw(`confirmed_at, state, confidence, flags, ${FIGURE_COLUMNS.join(', ')}`)
  await sql`
    insert into prices (item_id, market, label_id, updated_at, price, import_id, line, ${columns})
    select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${write.importId}::int4, line,
      to_timestamp(confirmed_ms / 1000), ((verdict >> 16) & 15)::int2, (verdict >> 20)::int2, verdict & 65535, ${sql.raw(FIGURE_COLUMNS.join(', '))}
    from unnest(${lines(write, batch, set)}::int4[], ${batch.column('itemId', set)}::int4[], ${batch.column('market', set)}::int2[],
      ${batch.column('labelId', set)}::int4[], ${amounts(batch, set)}::numeric[], ${batch.column('updatedAtMs', set)}::float8[],
      ${evidenceArrays(currents, ats)})
      as g(line, item_id, market, label_id, price, at_ms, confirmed_ms, verdict, ${sql.raw(FIGURE_COLUMNS.join(', '))})
    on conflict (item_id, market, label_id) do update
      set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id, line = excluded.line,
        (${columns}) = (${sql.raw(['confirmed_at', 'state', 'confidence', 'flags', ...FIGURE_COLUMNS].map((name) => `excluded.${name}`).join(', '))})`.execute(
    write.tx,
  )
}

/** Updates the evidence of prices that were only confirmed; those that another writer has moved are found by key. */
async function updateConfirmed(write: Write, currents: CurrentPrices, ats: readonly number[]): Promise<void> {
  if (ats.length === 0) return
  const { arrays, columns, set } = evidenceParts(currents, ats)
  const update = async (where: RawBuilder<unknown>) => {
    const { numAffectedRows } = await sql`
      update prices p set ${set}
      from unnest(${placesOf(currents, ats)}::tid[], ${currents.column('itemId', ats)}::int4[], ${currents.column('market', ats)}::int2[],
        ${currents.column('labelId', ats)}::int4[]${arrays})
        as g(place, item_id, market, label_id${columns})
      where ${where} and p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id`.execute(write.tx)
    return Number(numAffectedRows)
  }
  if ((await update(sql`p.ctid = g.place`)) < ats.length) await update(sql`true`)
}

/** Lines of the file as a PostgreSQL array literal; a price that a person accepted has none. */
function lines(write: Write, batch: PriceBatch, positions: readonly number[]): string {
  return write.accepted ? `{${positions.map(() => 'NULL').join(',')}}` : batch.column('row', positions)
}

function pick(values: readonly number[], positions: readonly number[]): number[] {
  return positions.map((n) => values[n]!)
}

function placesOf({ places }: CurrentPrices, ats: readonly number[]): string {
  return `{"${ats.map((at) => places[at]!).join('","')}"}`
}

/** SQL parts for the evidence of some prices in a statement over a table `g`: additional arrays, their columns, and the assignments. */
interface EvidenceParts {
  arrays: RawBuilder<unknown>
  columns: RawBuilder<unknown>
  set: RawBuilder<unknown>
}

/** If thousands of prices have the same evidence, as with most feeds, no arrays are needed. */
function evidenceParts(currents: CurrentPrices, ats: readonly number[]): EvidenceParts {
  const { confirmedAtMs, updatedAtMs, verdict } = currents
  const first = verdict[ats[0]!]!
  const isAlike = ats.every((at) => verdict[at] === first && !(confirmedAtMs[at]! > updatedAtMs[at]!))
  const figures = currents.figures.isEmpty ? [] : FIGURE_COLUMNS
  const names = [...(isAlike ? [] : ['confirmed_ms', 'verdict']), ...figures]
  const confirmed = isAlike ? '' : `{${ats.map((at) => (confirmedAtMs[at]! > updatedAtMs[at]! ? confirmedAtMs[at]! : 'NULL')).join(',')}}`
  const verdicts = isAlike ? '' : `{${ats.map((at) => verdict[at]!).join(',')}}`
  const [state, confidence, flags] = isAlike
    ? [stateIn(first), confidenceIn(first), flagsIn(first)].map(String)
    : ['((g.verdict >> 16) & 15)::int2', '(g.verdict >> 20)::int2', 'g.verdict & 65535']
  const set = [
    `confirmed_at = ${isAlike ? 'null' : 'to_timestamp(g.confirmed_ms / 1000)'}, state = ${state}, confidence = ${confidence}, flags = ${flags}`,
    ...figures.map((name) => `${name} = g.${name}`),
  ]
  return {
    arrays: sql`${isAlike ? sql`` : sql`, ${confirmed}::float8[], ${verdicts}::int4[]`}${figures.length === 0 ? sql`` : sql`, ${figureArrays(currents.figures, ats)}`}`,
    columns: sql.raw(names.map((name) => `, ${name}`).join('')),
    set: sql.raw(set.join(', ')),
  }
}

/** All evidence columns, for prices that may be new. */
function evidenceArrays(currents: CurrentPrices, ats: readonly number[]): RawBuilder<unknown> {
  const { confirmedAtMs, updatedAtMs, verdict } = currents
  const confirmed = ats.map((at) => (confirmedAtMs[at]! > updatedAtMs[at]! ? confirmedAtMs[at]! : 'NULL'))
  const arrays = sql`${`{${confirmed.join(',')}}`}::float8[], ${`{${ats.map((at) => verdict[at]!).join(',')}}`}::int4[]`
  return sql`${arrays}, ${figureArrays(currents.figures, ats)}`
}
