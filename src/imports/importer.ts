// Interface between an import run and its importer.
import type { Market } from '#core/markets.ts'
import type { Reason } from '#core/problems.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { ImportCounts } from '#prices/imports/imports.ts'
import type { PriceMapping } from '#prices/records/mappings.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

/** Takes rows of one format and writes them; the run counts rows and rejections. */
export interface Importer {
  read(source: { bytes: AsyncIterable<Uint8Array>; fileName: string | null }): Promise<void>
  finish(): Promise<void>
}

/** An importer's access to the database and to the run. */
export interface ImportRun {
  tx: Tx
  ctx: PriceWriteCtx
  importId: number
  note: Note
  counts: ImportCounts
  market: Market | null
  /** for formats that need a mapping */
  mapping: PriceMapping | null
  acceptDrift: boolean
  refuse: (row: number, why: Reason) => void
  /** yields to other work, and reports progress from time to time */
  yieldToEventLoop: () => Promise<void>
}
