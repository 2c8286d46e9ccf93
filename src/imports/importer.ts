// Interface between an import run and its importer.
import type { Market } from '#core/markets.ts'
import type { Reason } from '#core/problems.ts'
import type { Note } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import type { ImportCounts } from '#prices/imports.ts'
import type { PriceMapping } from '#prices/mappings.ts'
import type { PriceWriteCtx } from '#prices/types.ts'

/** Takes rows of one format and writes them; counts and refusals are kept by the run. */
export interface Importer {
  read(source: { bytes: AsyncIterable<Uint8Array>; fileName: string | null }): Promise<void>
  finish(): Promise<void>
}

/** What an importer writes with and reports to. */
export interface ImportRun {
  tx: Tx
  ctx: PriceWriteCtx
  importId: number
  note: Note
  counts: ImportCounts
  market: Market | null
  /** of formats that are read by one */
  mapping: PriceMapping | null
  refuse: (row: number, why: Reason) => void
  /** lets others run, and reports progress now and then */
  breathe: () => Promise<void>
}
