// Imports a seller's listings from a file: matched rows become pending listings, ambiguous rows are parked, invalid rows are rejected.
import { createHash } from 'node:crypto'
import { ItemLookup } from '#catalogue/items/item-lookup.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { type Match, matchItem } from '#collections/import/match.ts'
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, reason, textOf } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { ownAccount } from '#core/verb.ts'
import { change, earlierResult, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { addListings, type ListingInput } from '../listings/add-listings.ts'
import { ignoredColumnsOf } from '../csv-body.ts'
import { type IntakeEntry, MAX_ROWS, readRow, type ReadRow } from './read-rows.ts'
import { insertImport, saveImport } from './import-store.ts'
import { countPlaces, dropParkedKeys, listedSkus, lockIntake, type NewParked, park, parkedKeys, requireIntake, unsoldListings } from './store.ts'
import { titleOf } from './titles.ts'
import type { IntakeCtx, ListingImport, ListingImportRow } from './types.ts'

/** A valid row with its catalogue match. */
interface Matched {
  line: number
  entry: IntakeEntry
  key: string
  match: Match
  /** the listing that the row was exported from */
  listingId: number | null
}
/** Listings inserted before the event loop handles other requests. */
const ADDED_AT_ONCE = 500

type RowResult = Matched | Extract<ReadRow, { refused: readonly Problem[] }>

export const importListings = writeVerb(
  {
    name: 'importListings',
    needs: OPERATION_PLAN.importListings,
    input: Type.Object({
      // Each row is validated on its own: invalid rows are rejected, the others become listings.
      rows: Type.Array(Type.Unknown(), {
        minItems: 1,
        maxItems: MAX_ROWS,
        allowed: reason('list', { min: 1, max: MAX_ROWS }),
        description: 'Objects with the columns of the CSV as fields; `images` is a list',
        examples: [[{ sku: 'BASE1-4-NM', item_id: 4, grade: 'Near Mint', price: 1250.5 }]],
      }),
    }),
  },
  async (ctx: IntakeCtx, { rows: given }): Promise<ListingImport> => {
    const ignored_columns = ignoredColumnsOf(given)
    const accountId = ownAccount(ctx.viewer)
    const earlier = await earlierResult<ListingImport>(ctx)
    if (earlier) return earlier
    await requireIntake(ctx.db.kysely, accountId)
    const { judged, withoutStock } = await judgeAll(ctx, given)
    return change(ctx, async (tx, note) => {
      const importId = await insertImport(tx, accountId, ctx.now())
      const rows = await write(ctx, tx, note, { accountId, importId }, judged)
      const counts = { created: 0, parked: 0, refused: 0, passed_over: withoutStock }
      for (const { outcome } of rows) counts[outcome] += 1
      await saveImport(
        tx,
        importId,
        { ...counts, ignored_columns },
        rows.flatMap((row) => row.listing_id ?? []),
      )
      note.audit({ action: 'listing.import', subject: 'account', id: accountId, after: { import_id: importId, ...counts } })
      if (!ctx.rehearsal) return { id: importId, ...counts, ignored_columns, rows }
      // A dry run creates nothing that these ids could name.
      return { id: null, ...counts, ignored_columns, rows: rows.map((row) => ({ ...row, listing_id: null, parked_id: null })) }
    })
  },
)

/** Reads and matches all rows before locking anything. */
async function judgeAll({ db, catalogue }: IntakeCtx, given: readonly unknown[]): Promise<{ judged: RowResult[]; withoutStock: number }> {
  const read: ReadRow[] = []
  await runInSlices(given.length, (from, to) => {
    for (let i = from; i < to; i += 1) read.push(readRow(catalogue, given[i], i + 1))
  })
  const lookup = new ItemLookup(db.kysely)
  await lookup.load(read.flatMap((row) => ('entry' in row && row.itemId === null ? row.entry.item.keys : [])))
  const judged: RowResult[] = []
  const again = new Map<string, number>()
  const judge = (row: ReadRow) => {
    if ('refused' in row) judged.push(row)
    if (!('entry' in row)) return
    const { line, entry, itemId, listingId } = row
    const match = itemId === null ? matchItem(catalogue, lookup, entry.item) : { itemId }
    judged.push({ line, entry, match, listingId, key: keyOf(entry, again) })
  }
  await runInSlices(read.length, (i) => judge(read[i]!), 1)
  return { judged, withoutStock: read.filter((row) => 'isWithoutStock' in row).length }
}

/** Key that identifies a row when the file is imported again: its SKU, or its content and the number of identical rows before it. */
function keyOf(entry: IntakeEntry, again: Map<string, number>): string {
  if (entry.sku !== null) return `sku ${entry.sku}`
  const content = createHash('sha256').update(JSON.stringify(entry)).digest('base64url')
  const before = again.get(content) ?? 0
  again.set(content, before + 1)
  return `row ${content} ${before}`
}

async function write(
  ctx: IntakeCtx,
  tx: Tx,
  note: Note,
  { accountId, importId }: { accountId: number; importId: number },
  judged: readonly RowResult[],
): Promise<ListingImportRow[]> {
  const now = ctx.now()
  const quota = await lockIntake(tx, accountId)
  let places = quota - (await countPlaces(tx, accountId))
  const entries = judged.filter((row) => 'entry' in row)
  const taken = await listedSkus(
    tx,
    accountId,
    entries.flatMap(({ entry }) => entry.sku ?? []),
  )
  const unsold = await unsoldListings(
    tx,
    accountId,
    entries.flatMap(({ listingId }) => listingId ?? []),
  )
  const waiting = await parkedKeys(
    tx,
    accountId,
    entries.map(({ key }) => key),
  )
  const rows = judged.map((row) => blankRow(row.line, 'entry' in row ? row.entry.sku : row.sku))
  const refusalOf = ({ entry, key, listingId }: Matched): readonly Problem[] | null => {
    if (listingId !== null && unsold.has(listingId)) return [problem('listing_id', 'listing_exists', { id: listingId })]
    if (entry.sku !== null && taken.has(entry.sku)) return [problem('sku', 'sku_listed')]
    return places > 0 || waiting.has(key) ? null : [problem('row', 'intake_full', { max: quota })]
  }
  const wanted: { at: number; key: string; listing: ListingInput }[] = []
  const parked: (NewParked & { at: number })[] = []
  for (const [at, row] of judged.entries()) {
    const refused = 'refused' in row ? row.refused : refusalOf(row)
    if (refused) {
      refuse(rows[at]!, refused)
      continue
    }
    const { line, entry, key, match } = row as Matched
    // A row that is already parked is already counted in the quota.
    if (!waiting.has(key)) places -= 1
    if (entry.sku !== null) taken.add(entry.sku)
    if ('why' in match) parked.push({ at, line, key, entry, why: match.why, candidates: match.candidates })
    else wanted.push({ at, key, listing: listingOf(ctx.catalogue, entry, match.itemId) })
  }
  const listed: string[] = []
  for (let from = 0; from < wanted.length; from += ADDED_AT_ONCE) {
    const some = wanted.slice(from, from + ADDED_AT_ONCE)
    const added = await addListings(
      tx,
      note,
      { sellerId: accountId, now },
      some.map(({ listing }) => listing),
    )
    for (const [i, { at, key }] of some.entries()) {
      const one = added[i]!
      if (one instanceof ServiceError) {
        refuse(rows[at]!, 'rule' in one.why ? [problem('sku', 'sku_listed')] : one.why)
        continue
      }
      Object.assign(rows[at]!, { outcome: 'created', listing_id: one.id })
      if (waiting.has(key)) listed.push(key)
    }
  }
  if (listed.length > 0) await dropParkedKeys(tx, accountId, listed)
  const ids = await park(
    tx,
    { accountId, importId },
    parked.map(({ at: _at, ...row }) => row),
    now,
  )
  for (const { at, key, why, candidates } of parked) {
    Object.assign(rows[at]!, { outcome: 'parked', parked_id: ids.get(key)!, candidates, why: { message: textOf(why), ...why } })
  }
  return rows
}

/** A row as a new listing of the item. */
export function listingOf(catalogue: Catalogue, { fields, sku }: IntakeEntry, itemId: number): ListingInput {
  return { fields: { ...fields, title: fields.title ?? titleOf(catalogue, itemId), item_id: itemId }, sku }
}

function blankRow(line: number, sku: string | null): ListingImportRow {
  return { line, sku, outcome: 'refused', listing_id: null, parked_id: null, candidates: [], why: null, refused: null }
}

function refuse(row: ListingImportRow, problems: readonly Problem[]): void {
  row.refused = problems.map(({ field, rule, params }) => ({ field, message: textOf({ rule, params }), rule, params }))
}
