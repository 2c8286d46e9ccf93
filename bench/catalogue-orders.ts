// `node bench/catalogue-orders.ts [orders]`: imports the real catalogue files in the documented order and in three others, which must yield the same
// categories and items; prints the rows per second of each file.
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { exportCatalogue } from '#catalogue/export.ts'
import { readConfig } from '#config.ts'
import { textOf } from '#core/problems.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { importFiles } from '#imports/import-files.ts'
import { startDatabaseServer } from './database.ts'
import { hasRealData } from './real-data.ts'

const DATA = new URL('../../shared/data/', import.meta.url)

const UNITS: readonly [name: string, format: string, files: string[]][] = [
  ['tcgdex', 'tcgdex', ['series', 'sets', 'cards'].map((kind) => `pokemon/tcgdex-${kind}.ndjson.gz`)],
  ['tcgdex-api', 'tcgdex', ['pokemon/tcgdex-api-en-2021.ndjson.gz']],
  ['tcgdex-asia', 'tcgdex', ['series', 'sets', 'cards'].map((kind) => `pokemon/tcgdex-asia-${kind}.ndjson.gz`)],
  ['pokemontcg', 'pokemontcg', ['pokemon/pokemontcg-sets.json.gz', 'pokemon/pokemontcg-cards.ndjson.gz']],
  ...['en', 'ja', 'fr'].map((language): [string, string, string[]] => [
    `onepiece-${language}`,
    'punk-records',
    [`onepiece/punk-records-packs.${language}.json.gz`, `onepiece/punk-records-cards.${language}.ndjson.gz`],
  ]),
  ['sealed-older', 'tcgplayer-sealed', ['sealed/pokemon-sealed-tcgplayer-2025-09-04.csv.gz']],
  ['sealed', 'tcgplayer-sealed', ['sealed/pokemon-sealed-tcgplayer.csv.gz']],
  ['cardmarket', 'cardmarket-products', ['sealed/pokemon-cardmarket-nonsingles.json.gz', 'sealed/onepiece-cardmarket-nonsingles.part.json.gz']],
]

/** Two lists of the same source keep their order, because the later one is newer. */
const ORDERS: readonly string[][] = [
  UNITS.map(([name]) => name),
  ['cardmarket', 'sealed-older', 'sealed', 'onepiece-fr', 'onepiece-ja', 'onepiece-en', 'pokemontcg', 'tcgdex-asia', 'tcgdex-api', 'tcgdex'],
  ['pokemontcg', 'sealed-older', 'tcgdex-api', 'onepiece-ja', 'tcgdex', 'cardmarket', 'onepiece-en', 'tcgdex-asia', 'onepiece-fr', 'sealed'],
  ['tcgdex-api', 'pokemontcg', 'tcgdex-asia', 'sealed-older', 'onepiece-en', 'sealed', 'tcgdex', 'onepiece-fr', 'cardmarket', 'onepiece-ja'],
]

if (!hasRealData()) {
  console.log('Real data not found; skipping the comparison')
  process.exit(0)
}

const server = await startDatabaseServer()
try {
  let first: Map<string, string> | null = null
  for (const [n, order] of ORDERS.slice(0, Number(process.argv[2] ?? ORDERS.length)).entries()) {
    console.log(`\nOrder ${n + 1}: ${order.join(', ')}`)
    const database = await server.create(`order_${n}`)
    for (const name of order) await importUnit(database.ctx, UNITS.find(([unit]) => unit === name)!)
    await showState(database.ctx)
    const records = await recordsOf(database.ctx)
    await database.close()
    if (first === null) first = records
    else showDifferences(first, records)
  }
} finally {
  await server.close()
}

async function importUnit(ctx: WriteCtx, [name, format, names]: (typeof UNITS)[number]): Promise<void> {
  const files = names.map((file) => {
    const path = fileURLToPath(new URL(file, DATA))
    return { name: basename(path), size: statSync(path).size, open: () => createReadStream(path) }
  })
  const started = performance.now()
  const cpu = process.cpuUsage()
  const database = databaseSeconds()
  const { counts, why } = await call(importFiles, { ...ctx, rules: readConfig({}).priceRules }, { format, files })
  const seconds = (performance.now() - started) / 1000
  const used = process.cpuUsage(cpu)
  if (why) throw new Error(`${name}: ${textOf(why)}`)
  const { rowsRead, created, updated, unchanged, rejected } = counts
  console.log(
    `  ${name.padEnd(14)} ${String(rowsRead).padStart(6)} rows, ${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected; ` +
      `${seconds.toFixed(1)} s, ${Math.round(rowsRead / seconds)} rows/s; CPU ${((used.user + used.system) / 1e6).toFixed(1)} s here, ` +
      `${(databaseSeconds() - database).toFixed(1)} s in the database`,
  )
}

/** Total processor time of the server's running processes, without those that have exited. */
function databaseSeconds(): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      if (Number(fields[1]) === server.pid || Number(pid) === server.pid) ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // The process has just exited.
    }
  }
  return ticks / 100
}

async function showState(ctx: WriteCtx): Promise<void> {
  const { rows } = await sql<Record<string, number>>`
    select (select count(*) from items)::int4 as items, (select count(*) from source_records where active)::int4 as records,
      (select count(*) from item_sources)::int4 as links, (select count(*) from match_queue)::int4 as waiting,
      (select count(*) from merges)::int4 as merges`.execute(ctx.db.kysely)
  console.log(`  ${JSON.stringify(rows[0])}`)
}

/** Categories and items by market and ref, without slugs, which keep their first value. */
async function recordsOf(ctx: WriteCtx): Promise<Map<string, string>> {
  const records = new Map<string, string>()
  let text = ''
  for await (const chunk of exportCatalogue(ctx.db)) {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop()!
    for (const line of lines) {
      const { slug: _slug, ...record } = JSON.parse(line) as { type: string; slug: string; market: string; ref: string }
      records.set(`${record.type} ${record.market} ${record.ref}`, JSON.stringify(record))
    }
  }
  return records
}

function showDifferences(first: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): void {
  const missing = [...first.keys()].filter((key) => !other.has(key))
  const added = [...other.keys()].filter((key) => !first.has(key))
  const changed = [...first].filter(([key, text]) => other.has(key) && other.get(key) !== text)
  console.log(`  against order 1: ${missing.length} categories and items missing, ${added.length} added, ${changed.length} different`)
  for (const key of [...missing.slice(0, 5), ...added.slice(0, 5)]) console.log(`    ${key}`)
  for (const [key, text] of changed.slice(0, 5)) console.log(`    ${key}\n      ${text}\n      ${other.get(key)}`)
  if (missing.length + added.length + changed.length > 0) process.exitCode = 1
}
