// `node bench/prices/trust.ts`: imports the real price files with all rules, as history, and reverts them.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReadStream, existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { readConfig } from '#config.ts'
import { csvRows, gunzip } from '#core/files/feed.ts'
import { call } from '#core/verb.ts'
import { copyIn, copyOut } from '#db/copy.ts'
import { importFiles } from '#imports/import-files.ts'
import type { ImportReport } from '#imports/run.ts'
import { heldReport } from '#prices/writing/held.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { periodsOf } from '#prices/history/history.ts'
import { revertImport } from '#imports/revert-import.ts'
import { type BenchDatabase, startDatabaseServer } from '../database.ts'
import { hasRealData, importRealData } from '../real-data.ts'

const DATA = new URL('../../../shared/data/', import.meta.url)

if (!hasRealData() || !existsSync(DATA)) {
  console.log('Real data not found; skipping the measurement')
  process.exit(0)
}

const say = (line: string): void => console.log(line)
const server = await startDatabaseServer()
try {
  const database = await server.create('trust')
  say('| File | Rows | Accepted | Unchanged | Held | Rejected | Seconds | Rows/s |\n|---|---|---|---|---|---|---|---|')
  await importRealData(database.ctx, (f) => {
    if (f.kind === 'prices') {
      say(
        `| ${f.file} | ${f.rows} | ${f.accepted} | ${f.unchanged} | ${f.held} | ${f.rejected} | ${f.seconds.toFixed(1)} | ${Math.round(f.rowsPerSecond)} |`,
      )
    }
  })
  await showHeld(database)
  await replayChanges(database)
  await copyAlone(database)
  await revertLarge(database)
  await readHistory(database)
  await database.close()
} finally {
  await server.close()
}

async function showHeld({ ctx }: BenchDatabase): Promise<void> {
  const imports = await ctx.db.kysely.selectFrom('imports').select(['id', 'file_name']).where('held', '>', 0).orderBy('id').execute()
  for (const { id, file_name: file } of imports) {
    const { byRule } = await heldReport(ctx.db.kysely, id)
    say(`held of ${file}: ${JSON.stringify(byRule)}`)
  }
  const { rows: keys } = await sql<{ rule: string; held: number; keys: number }>`
    select rule, count(*)::int as held, count(distinct (item_id, market, label_id))::int as keys from held_prices group by 1`.execute(ctx.db.kysely)
  for (const { rule, held, keys: distinct } of keys) say(`${rule}: ${held} held prices of ${distinct} items and labels`)
  say('\nTwenty of them, by chance:')
  const { rows } = await sql<Record<string, unknown>>`
    select h.rule, i.name, i.ref, g.name as label, h.market, h.price, h.compared_price, round(h.times_off::numeric, 1) as off, h.updated_at::date::text as day, h.reason
    from held_prices h join items i on i.id = h.item_id join groups g on g.id = h.label_id
    where h.id in (select min(id) from held_prices group by item_id, market, label_id)
    order by md5(h.id::text) limit 20`.execute(ctx.db.kysely)
  for (const row of rows) say(JSON.stringify(Object.values(row)))
}

/** Replays the eleven days of changes, each as a batch of prices of a market without other prices. */
async function replayChanges({ ctx }: BenchDatabase): Promise<void> {
  const days = new Map<string, string[]>()
  const bytes = gunzip(createReadStream(fileURLToPath(new URL('prices/pokemon-singles-brl-changes.csv.gz', DATA))))
  const items = new Map<string, string>()
  const foreignIds = await ctx.db.kysely
    .selectFrom('item_foreign_ids as f')
    .innerJoin('items as i', 'i.id', 'f.item_id')
    .select(['f.foreign_id', 'f.finish', 'i.ref'])
    .where('f.source', 'in', ['tcgdex', 'tcgdex-asia'])
    .execute()
  for (const { foreign_id, finish, ref } of foreignIds) items.set(`${foreign_id}::${finish || 'normal'}`, ref)
  for await (const lines of csvRows({ bytes, fileName: null }, ['key', 'date', 'oldPriceBrl', 'newPriceBrl'])) {
    for (const line of lines) {
      if (!('value' in line)) continue
      const { key, date, oldPriceBrl, newPriceBrl } = line.value as Record<'key' | 'date' | 'oldPriceBrl' | 'newPriceBrl', string>
      const ref = items.get(key.split('::').slice(0, 2).join('::'))
      if (ref === undefined) continue
      const row = (at: string, brl: string) => `${ref},service,Near Mint,${(Number(brl) * 8).toFixed(2)},${at}T00:00:00Z\n`
      const before = days.get('2026-07-23') ?? []
      if (oldPriceBrl) before.push(row('2026-07-23', oldPriceBrl))
      days.set('2026-07-23', before)
      days.set(date, [...(days.get(date) ?? []), row(date, newPriceBrl)])
    }
  }
  say('\nThe BRL changes day by day (in lira, 8 to the real):')
  for (const [day, rows] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const report = await importText(
      ctx,
      'mintmark-prices-csv',
      `item_ref,market,label,price,updated_at\n${(day === '2026-07-23' ? [...new Map(rows.map((r) => [r.split(',')[0], r])).values()] : rows).join('')}`,
    )
    const { byRule } = await heldReport(ctx.db.kysely, report.id)
    const { accepted, unchanged, held, rejected } = report.counts
    say(`${day}: ${accepted} accepted, ${unchanged} unchanged, ${rejected} rejected, ${held} held ${JSON.stringify(byRule)}`)
  }
}

function importText(ctx: BenchDatabase['ctx'], format: string, text: string): Promise<ImportReport> {
  const bytes = Buffer.from(text)
  const files = [
    {
      name: 'replay.csv',
      size: bytes.length,
      open: async function* () {
        yield bytes
      },
    },
  ]
  return call(importFiles, { ...ctx, rules: readConfig({}).priceRules }, { format, files })
}

/** PostgreSQL's own COPY of the same points into the same kind of table. */
async function copyAlone({ ctx: { db } }: BenchDatabase): Promise<void> {
  await sql`create table copied (like price_points including all) partition by range (updated_at)`.execute(db.kysely)
  const months = await sql<{ name: string; bound: string }>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'price_points'::regclass`.execute(db.kysely)
  for (const { name, bound } of months.rows) await sql.raw(`create table copied_${name} partition of copied ${bound}`).execute(db.kysely)
  const chunks: Buffer[] = []
  const query = `copy (select p.item_id, p.market, p.label_id, p.updated_at, p.price, p.import_id from price_points p
    join imports i on i.id = p.import_id where i.format = 'sealed-daily' order by p.updated_at, p.item_id) to stdout`
  for await (const chunk of copyOut(db.kysely, query)) chunks.push(Buffer.from(chunk))
  await sql`checkpoint`.execute(db.kysely)
  const started = performance.now()
  const rows = await copyIn(db.kysely, 'copy copied (item_id, market, label_id, updated_at, price, import_id) from stdin', chunks)
  const seconds = (performance.now() - started) / 1000
  say(`\nCOPY alone of the sealed history: ${rows} points in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s`)
}

async function revertLarge({ ctx }: BenchDatabase): Promise<void> {
  const { rows } = await sql<{ ref: string }>`select ref from items where market = 'source_c' order by id limit 34000`.execute(ctx.db.kysely)
  const lines = (price: (i: number) => number, day: string) =>
    rows
      .flatMap(({ ref }, i) =>
        ['Lightly Played', 'Moderately Played', 'Heavily Played'].map(
          (label) => `"${ref}",source_c,${label},${price(i).toFixed(2)},${day}T00:00:00Z\n`,
        ),
      )
      .join('')
  const head = 'item_ref,market,label,price,updated_at\n'
  await importText(ctx, 'mintmark-prices-csv', head + lines((i) => 1 + (i % 90), '2026-08-10'))
  const report = await importText(ctx, 'mintmark-prices-csv', head + lines((i) => 2 + (i % 90), '2026-08-11'))
  const started = performance.now()
  const batch = await call(revertImport, ctx, { id: report.id })
  say(`\nRevert of a batch of ${report.counts.accepted} prices: ${((performance.now() - started) / 1000).toFixed(2)} s, ${batch.accepted} set back`)
}

async function readHistory({ ctx: { db } }: BenchDatabase): Promise<void> {
  await sql`vacuum analyze price_points`.execute(db.kysely)
  const {
    rows: [longest],
  } = await sql<{ item_id: number; market: number; label_id: number; points: number }>`
    select item_id, market, label_id, count(*)::int as points from price_points group by 1, 2, 3 order by 4 desc limit 1`.execute(db.kysely)
  const {
    rows: [size],
  } = await sql<{ points: number; bytes: string }>`
    select (select count(*)::int from price_points) as points,
      (select pg_size_pretty(sum(pg_total_relation_size(inhrelid))) from pg_inherits where inhparent = 'price_points'::regclass) as bytes`.execute(
    db.kysely,
  )
  const filter = { market: 'source_c', label: 'Near Mint', from: new Date('2024-01-01'), to: new Date('2026-01-01'), interval: 'day' } as const
  const history = { db, archive: openPriceArchive({ archiveDir: join(tmpdir(), 'mintmark-no-archive'), dumpsS3: null }) }
  const times: number[] = []
  let periods = 0
  for (let i = 0; i < 200; i += 1) {
    const started = performance.now()
    periods = (await periodsOf(history, longest!.item_id, filter)).length
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  say(
    `\nHistory: ${size!.points} points in ${size!.bytes}; one label over two years, ${longest!.points} points, ${periods} days: p50 ${times[100]!.toFixed(2)} ms, p99 ${times[198]!.toFixed(2)} ms`,
  )
  const plan = await sql<{ 'QUERY PLAN': string }>`
    explain (analyze, costs off, timing off, summary on)
    select date_trunc('day', updated_at, 'UTC'), label_id, min(price), max(price), (array_agg(price order by updated_at desc))[1]
    from price_points
    where item_id = ${sql.lit(longest!.item_id)} and market = 3 and label_id = any(array[${sql.lit(longest!.label_id)}]) and updated_at >= '2024-01-01' and updated_at < '2026-01-01'
    group by 1, 2`.execute(db.kysely)
  for (const line of plan.rows) say(line['QUERY PLAN'])
}
