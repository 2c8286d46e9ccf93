// Imports a seller's listings from a file: matched rows become pending listings, ambiguous rows are parked, invalid rows are rejected.
import { createHash } from 'node:crypto'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { invalid, ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, reason, textOf } from '#core/problems.ts'
import { fitsCharacters } from '#core/text.ts'
import { ownAccount } from '#core/verb.ts'
import { change, earlierResult, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { type CheckedRow, checkRows, columnReadingsOf, ignoredColumnsOf } from '#intake/csv-body.ts'
import { candidateOf, type Match, matchItems } from '#intake/match-items.ts'
import type { NewParked } from '#intake/parked.ts'
import { completed, gradeOf, type KnownCertificate, knownCertificates } from '../certificates/known.ts'
import { addListings, type ListingInput } from '../listings/add-listings.ts'
import { MAX_TITLE_LENGTH } from '../records/fields.ts'
import { type IntakeEntry, type IntakeRow, MAX_ROWS, readRow, skuOf } from './read-rows.ts'
import { insertImport, saveImport } from './import-store.ts'
import { conversionOf } from './row-currency.ts'
import { countPlaces, dropParkedKeys, listedSkus, lockIntake, park, parkedKeys, requireIntake, unsoldListings } from './store.ts'
import type { IntakeCtx, ListingImport, ListingImportRow } from './types.ts'

/** A valid row with the key that identifies it, and its catalogue match. */
type MatchedRow = IntakeRow & { line: number; key: string; match: Match }
type RefusedRow = { line: number; fields: unknown; refused: readonly Problem[] }

/** Listings inserted before the event loop handles other requests. */
const ADDED_AT_ONCE = 500

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
    const columns = columnReadingsOf(given) as ListingImport['columns']
    const accountId = ownAccount(ctx.viewer)
    const earlier = await earlierResult<ListingImport>(ctx)
    if (earlier) return earlier
    await requireIntake(ctx.db.kysely, accountId)
    const judged = await judgeAll(ctx, given)
    return change(ctx, async (tx, note) => {
      const importId = await insertImport(tx, accountId, ctx.now())
      const rows = await write(ctx, tx, note, { accountId, importId }, judged)
      const counts = { created: 0, parked: 0, refused: 0, passed_over: given.length - judged.length }
      for (const { outcome } of rows) counts[outcome] += 1
      await saveImport(
        tx,
        importId,
        { ...counts, ignored_columns },
        rows.flatMap((row) => row.listing_id ?? []),
      )
      note.audit({ action: 'listing.import', subject: 'account', id: accountId, after: { import_id: importId, ...counts } })
      if (!ctx.rehearsal) return { id: importId, ...counts, ignored_columns, columns, rows }
      // A dry run creates nothing that these ids could name.
      return { id: null, ...counts, ignored_columns, columns, rows: rows.map((row) => ({ ...row, listing_id: null, parked_id: null })) }
    })
  },
)

/** Validates and matches all rows, except those without stock, before locking anything. */
async function judgeAll(ctx: IntakeCtx, given: readonly unknown[]): Promise<(MatchedRow | RefusedRow)[]> {
  const again = new Map<string, number>()
  const at = ctx.now()
  const read = await checkRows(given, (fields) => {
    const row = readRow(ctx.catalogue, fields, at)
    return { ...row, key: keyOf(row, again) }
  })
  const rows = await withCertificates(ctx, read)
  const items = rows.flatMap((row) => ('value' in row ? [row.value] : [])).map(({ entry, itemId }) => (itemId === null ? entry.item : { itemId }))
  const matches = (await matchItems(ctx, items)).values()
  return rows.flatMap((row): (MatchedRow | RefusedRow)[] => {
    if ('value' in row) return [{ line: row.line, ...row.value, match: matches.next().value! }]
    return row.refused ? [{ ...row, refused: row.refused }] : []
  })
}

/** Rows with their certificates in the stored form: what the service knows of them states item, grade and label where the row does not. */
async function withCertificates<Row extends IntakeRow>({ db, catalogue, viewer }: IntakeCtx, rows: CheckedRow<Row>[]): Promise<CheckedRow<Row>[]> {
  const bodies = rows.flatMap((row) => ('value' in row && row.value.entry.fields.certificate) || [])
  const known = (await knownCertificates(db.kysely, ownAccount(viewer), bodies)).values()
  return rows.map((row): CheckedRow<Row> => {
    if (!('value' in row) || !row.value.entry.fields.certificate) return row
    try {
      return { ...row, value: certified(catalogue, row.value, known.next().value!) }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { line: row.line, fields: { sku: row.value.entry.sku }, refused: error.details }
    }
  })
}

/** @throws VALIDATION_ERROR for an unknown certificate that must state the item or the grade */
function certified<Row extends IntakeRow>(catalogue: Catalogue, row: Row, known: KnownCertificate | null): Row {
  const { itemId, isDescribed, entry } = row
  const body = entry.fields.certificate!
  if (!isDescribed && !known) throw invalid('certificate.cert', 'certificate_unknown')
  const certificate = completed(body, known)
  const grade_id = entry.grade === null ? gradeOf(catalogue, certificate, known) : entry.fields.grade_id
  return { ...row, itemId: isDescribed ? itemId : known!.itemId, entry: { ...entry, fields: { ...entry.fields, certificate, grade_id } } }
}

/** Key that identifies a row when the file is imported again: its SKU, or its content and the number of identical rows before it. */
function keyOf({ entry, conversion }: IntakeRow, again: Map<string, number>): string {
  if (entry.sku !== null) return `sku ${entry.sku}`
  const { amount: price, currency } = conversion ?? {}
  // The price as stated, because the row is the same on a day with another rate.
  const stated = conversion === null ? entry : { ...entry, currency, fields: { ...entry.fields, price, min_offer_price: undefined } }
  const content = createHash('sha256').update(JSON.stringify(stated)).digest('base64url')
  const before = again.get(content) ?? 0
  again.set(content, before + 1)
  return `row ${content} ${before}`
}

async function write(
  ctx: IntakeCtx,
  tx: Tx,
  note: Note,
  { accountId, importId }: { accountId: number; importId: number },
  judged: readonly (MatchedRow | RefusedRow)[],
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
  const rows = judged.map((row) => blankRow(ctx, row))
  const refusalOf = ({ entry, key, listingId }: MatchedRow): readonly Problem[] | null => {
    if (listingId !== null && unsold.has(listingId)) return [problem('listing_id', 'listing_exists', { id: listingId })]
    if (entry.sku !== null && taken.has(entry.sku)) return [problem('sku', 'sku_listed')]
    return places > 0 || waiting.has(key) ? null : [problem('row', 'intake_full', { max: quota })]
  }
  const wanted: { at: number; key: string; listing: ListingInput }[] = []
  const parked: (NewParked<IntakeEntry> & { at: number })[] = []
  for (const [at, row] of judged.entries()) {
    const refused = 'refused' in row ? row.refused : refusalOf(row)
    if (refused) {
      refuse(rows[at]!, refused)
      continue
    }
    const { line, entry, key, match } = row as MatchedRow
    // A row that is already parked is already counted in the quota.
    if (!waiting.has(key)) places -= 1
    if (entry.sku !== null) taken.add(entry.sku)
    if ('why' in match) parked.push({ at, line, key, entry, ...match })
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
export function listingOf(catalogue: Catalogue, { fields, sku }: Pick<IntakeEntry, 'fields' | 'sku'>, itemId: number): ListingInput {
  return { fields: { ...fields, title: fields.title ?? titleOf(catalogue, itemId), item_id: itemId }, sku }
}

/** The default title of a listing: name, number and set of its item, shortened to fit; '' for an unknown item. */
function titleOf(catalogue: Catalogue, itemId: number): string {
  const row = catalogue.items.rowOf(itemId)
  if (row < 0) return ''
  const { name, code, set } = candidateOf(catalogue, row)
  const numbered = code === null ? name : `${name} ${code}`
  const whole = set === '' ? numbered : `${numbered}, ${set}`
  return [whole, numbered].find((text) => fitsCharacters(text, MAX_TITLE_LENGTH)) ?? name
}

/** The report of a row until its outcome is known. */
function blankRow({ catalogue, now }: IntakeCtx, row: MatchedRow | RefusedRow): ListingImportRow {
  const [sku, converted] = 'entry' in row ? [row.entry.sku, row.conversion] : [skuOf(row.fields), conversionOf(catalogue, row.fields, now())]
  return { line: row.line, sku, outcome: 'refused', listing_id: null, parked_id: null, candidates: [], why: null, refused: null, converted }
}

function refuse(row: ListingImportRow, problems: readonly Problem[]): void {
  row.refused = problems.map(({ field, rule, params }) => ({ field, message: textOf({ rule, params }), rule, params }))
}
