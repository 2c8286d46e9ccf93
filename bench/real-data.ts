// Imports the real catalogue and price files with the program's own importers, and reports on each file.
import { createReadStream, existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { readConfig } from '#config.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { importFiles } from '#imports/import-files.ts'
import { importFormat } from '#imports/registry.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import type { RefusedRow } from '#prices/imports/refusals.ts'

const FOLDER = new URL('../../shared/data/', import.meta.url)

/** In order of dependency: older or less detailed files come before those that complete them. */
const FILES: readonly [format: string, files: string[]][] = [
  [
    'tcgdex',
    [
      'pokemon/tcgdex-series.ndjson.gz',
      'pokemon/tcgdex-sets.ndjson.gz',
      'pokemon/tcgdex-api-en-2021.ndjson.gz',
      'pokemon/tcgdex-cards.ndjson.gz',
      'pokemon/tcgdex-asia-series.ndjson.gz',
      'pokemon/tcgdex-asia-sets.ndjson.gz',
      'pokemon/tcgdex-asia-cards.ndjson.gz',
    ],
  ],
  ['pokemontcg', ['pokemon/pokemontcg-sets.json.gz', 'pokemon/pokemontcg-cards.ndjson.gz']],
  [
    'punk-records',
    ['en', 'ja', 'fr'].flatMap((language) => [
      `onepiece/punk-records-packs.${language}.json.gz`,
      `onepiece/punk-records-cards.${language}.ndjson.gz`,
    ]),
  ],
  ['tcgplayer-sealed', ['sealed/pokemon-sealed-tcgplayer-2025-09-04.csv.gz', 'sealed/pokemon-sealed-tcgplayer.csv.gz']],
  ['cardmarket-products', ['sealed/pokemon-cardmarket-nonsingles.json.gz', 'sealed/onepiece-cardmarket-nonsingles.part.json.gz']],
  ['singles-brl', ['prices/pokemon-singles-brl-2026-07-23.ndjson.gz', 'prices/pokemon-singles-brl-2026-08-05.ndjson.gz']],
  ['sealed-daily', ['prices/pokemon-sealed-daily-usd.csv.gz']],
  [
    'pokemontcg-prices',
    ['vintage', 'modern'].flatMap((era) => ['feb2025', 'mar2025'].map((month) => `prices/pokemontcg-${era}-pkmn-cards-${month}.csv.gz`)),
  ],
  ['graded-guide', ['prices/pokemon-graded-pricecharting-usd.ndjson.gz']],
  ['cardmarket-price-guide', ['prices/onepiece-cardmarket-price-guide.part.json.gz']],
]

const HISTORY = 'holofoil_price'
/** Lists of other shops, read by a mapping as in docs/operating.md. The list of changes holds means of unlike values, so it is not imported. */
const MAPPED: readonly [file: string, input: Record<string, string>][] = [
  [
    'prices/pokemon-singles-eur-2026-03.csv.gz',
    {
      currency: 'EUR',
      market: 'source_b',
      map: 'price=eur_price,set=set,number=number,name=name,updated_at=last_updated,game==pokemon,language==en',
    },
  ],
  [
    'prices/pokemon-tcgplayer-3day-history.csv.gz',
    {
      currency: 'USD',
      market: 'source_c',
      only: 'type=Card',
      years: 'guessed',
      map: `price=${HISTORY},set=set,name={name/ /1..-2},number={name/ /-1},updated_at=period_end_date,recorded_at=timestamp,game==pokemon,language==en`,
    },
  ],
  [
    'prices/pokemon-tcgplayer-3day-history.csv.gz',
    {
      currency: 'USD',
      market: 'source_c',
      only: 'type=Booster Box',
      years: 'guessed',
      map: `price=${HISTORY},name={name} {type},updated_at=period_end_date,recorded_at=timestamp,game==pokemon`,
    },
  ],
]

/**
 * Rates that the files need: lira for one unit, in the proportions that the files of single cards state for their days. Those of the first day also
 * serve older prices.
 */
export const REAL_RATES = [
  { day: '2024-01-01', eur: 5.7775, usd: 5.07154143258427 },
  { day: '2026-08-05', eur: 5.9102, usd: 5.115284749870175 },
].flatMap(({ day, eur, usd }) => [
  { day, currency: 'BRL', rate: 8 },
  { day, currency: 'EUR', rate: 8 * eur },
  { day, currency: 'USD', rate: 8 * usd },
])

export interface ImportedFile {
  file: string
  format: string
  kind: 'catalogue' | 'prices'
  rows: number
  created: number
  updated: number
  unchanged: number
  accepted: number
  held: number
  rejected: number
  /** the most common rejection reasons with their counts, as far as the import stores them */
  reasons: string[]
  /** the first thousand rejected rows */
  refused: RefusedRow[]
  seconds: number
  rowsPerSecond: number
}

export function hasRealData(): boolean {
  return existsSync(FOLDER)
}

/**
 * Imports each file separately; the run ends if a file cannot be read at all.
 * @param only formats to import; default: all
 */
export async function importRealData(ctx: WriteCtx, done: (imported: ImportedFile) => void, only?: readonly string[]): Promise<void> {
  await call(setRates, ctx, { rates: REAL_RATES })
  for (const [format, files] of FILES) {
    if (only === undefined || only.includes(format)) for (const file of files) done(await importFile(ctx, format, file))
  }
  await sql`vacuum analyze`.execute(ctx.db.kysely)
}

/** Imports the lists that need a mapping, one after the other. */
export async function importMappedData(ctx: WriteCtx, done: (imported: ImportedFile) => void | Promise<void>): Promise<void> {
  for (const [file, input] of MAPPED) await done(await importFile(ctx, 'prices-csv', file, input))
}

async function importFile(ctx: WriteCtx, format: string, file: string, input: Record<string, string> = {}): Promise<ImportedFile> {
  const path = fileURLToPath(new URL(file, FOLDER))
  const files = [{ name: basename(path), size: statSync(path).size, open: () => createReadStream(path) }]
  const started = performance.now()
  const { status, counts, errors, why } = await call(importFiles, { ...ctx, rules: readConfig({}).priceRules }, { ...input, format, files })
  const seconds = (performance.now() - started) / 1000
  if (status === 'failed') throw new Error(`${file}: ${JSON.stringify(why)}`)
  const { rowsRead: rows, ...outcome } = counts
  return {
    file,
    format,
    kind: importFormat(format).kind,
    rows,
    ...outcome,
    reasons: commonest(errors.map((error) => error.message)),
    refused: errors,
    seconds,
    rowsPerSecond: rows / seconds,
  }
}

/** Groups reasons that differ only in quoted values. */
function commonest(messages: string[]): string[] {
  const counts = new Map<string, number>()
  for (const message of messages) {
    const reason = message.replace(/"[^"]*"/g, '"…"').replace(/\d[\d.,-]*/g, 'N')
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([reason, count]) => `${count}× ${reason}`)
}
