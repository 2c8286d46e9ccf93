// What may be done with the prices of each source: the one place that decides which markets a reader, a copy or a language model sees.
import { sql } from 'kysely'
import { type Market, MARKETS } from '#core/markets.ts'
import { namedValues } from '#core/named-values.ts'
import type { Note } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'

/** From the narrowest to the widest use; each includes those before it. */
export const SOURCE_USES = namedValues('SourceUse', ['internal', 'show', 'redistribute'])
export type SourceUse = (typeof SOURCE_USES)[number]

export const MAX_LICENCE_LENGTH = 500

/** Advisory lock: terms are read and changed by one transaction at a time. */
const LOCK = 7321

export interface SourceTerms {
  use: SourceUse
  /** licence of the prices, or terms of their source */
  licence: string | null
  /** operator who set them; null for the default */
  author: string | null
}

/** Terms that an import format states for its prices. */
export interface FormatTerms {
  use?: SourceUse
  licence?: string
}

/** Prices of the service's own market are computed from its own sales. */
function defaultUse(market: Market): SourceUse {
  return market === 'service' ? 'redistribute' : 'show'
}

/** The terms before any import or decision. */
export const DEFAULT_TERMS: readonly SourceTerms[] = MARKETS.map((market) => ({ use: defaultUse(market), licence: null, author: null }))

/** The terms of all markets, in the order of MARKETS. */
export async function loadSourceTerms(on: Queryable): Promise<SourceTerms[]> {
  const rows = await on.selectFrom('source_terms').select(['market', 'use', 'licence', 'author']).execute()
  return DEFAULT_TERMS.map((terms, position) => {
    const { market: _, ...stored } = rows.find(({ market }) => market === position) ?? { market: position, ...terms }
    return stored
  })
}

/** Whether the terms allow a use. */
export function allows(terms: Pick<SourceTerms, 'use'>, use: SourceUse): boolean {
  return SOURCE_USES.indexOf(terms.use) >= SOURCE_USES.indexOf(use)
}

/** Positions of the markets whose terms allow a use. */
export function marketsFor(terms: readonly SourceTerms[], use: SourceUse): number[] {
  return terms.flatMap((one, position) => (allows(one, use) ? [position] : []))
}

export async function lockSourceTerms(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(tx)
}

/** Stores the terms of a market. */
export async function writeSourceTerms(tx: Tx, note: Note, position: number, terms: SourceTerms, at: Date): Promise<void> {
  await tx
    .insertInto('source_terms')
    .values({ market: position, ...terms, at })
    .onConflict((clash) => clash.column('market').doUpdateSet({ ...terms, at }))
    .execute()
  note.changed('sources', [position])
}

/**
 * Adds the terms of a format to those of the markets that an import has set prices in: of several formats the narrowest use, and all licences. Terms
 * that an operator has set stay.
 */
export async function addFormatTerms(tx: Tx, note: Note, markets: readonly number[], format: FormatTerms, at: Date): Promise<void> {
  if (format.use === undefined && format.licence === undefined) return
  await lockSourceTerms(tx)
  const terms = await loadSourceTerms(tx)
  for (const position of markets) {
    const before = terms[position]!
    if (before.author !== null || MARKETS[position] === 'service') continue
    const { use = before.use, licence } = format
    const narrower = allows({ use }, before.use) ? before.use : use
    const licences = [...new Set([...(before.licence?.split('; ') ?? []), ...(licence === undefined ? [] : [licence])])].join('; ')
    const after = { use: narrower, licence: licences.slice(0, MAX_LICENCE_LENGTH) || null, author: null }
    if (after.use === before.use && after.licence === before.licence) continue
    await writeSourceTerms(tx, note, position, after, at)
    if (after.use !== before.use) await noteItemsOf(tx, note, position)
  }
}

/** Notes all items with prices in a market as changed, so that nodes and copies of the catalogue read them again. */
export async function noteItemsOf(tx: Tx, note: Note, position: number): Promise<void> {
  const { rows } = await sql<{ item_id: number }>`select distinct item_id from prices where market = ${position}`.execute(tx)
  note.changed(
    'items',
    rows.map((row) => row.item_id),
  )
}
