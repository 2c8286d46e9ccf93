// `node bench/prices/coverage.ts [--missing] [--mapped]`: how many international Pokémon cards have a price once all real price files
// are imported; with --missing the sets and causes of those that have none, with --two of those without a second market.
import { sql } from 'kysely'
import { call } from '#core/verb.ts'
import type { BenchDatabase } from '../database.ts'
import { startDatabaseServer } from '../database.ts'
import { startNode } from '../processes.ts'
import { hasRealData, type ImportedFile, importMappedData, importRealData } from '../real-data.ts'
import { setRates } from '#prices/set-rates.ts'

/** Lira for a unit: the proportion of EUR and USD to BRL is that of the second file of single cards. */
const DAY = '2024-01-01'
const RATES = [
  { day: DAY, currency: 'BRL', rate: 8 },
  { day: DAY, currency: 'EUR', rate: 8 * 5.9102 },
  { day: DAY, currency: 'USD', rate: 8 * 5.115284749870175 },
]
const PER_PAGE = 100

if (!hasRealData()) {
  console.log('The real data is not there: nothing is measured')
  process.exit(0)
}

const say = (line: string): void => console.log(line)
const server = await startDatabaseServer()
try {
  const database = await server.create('coverage')
  await call(setRates, database.ctx, { rates: RATES })
  const imported = ({ file, kind, rows, accepted, unchanged, held, rejected, reasons }: ImportedFile) => {
    if (kind === 'prices')
      say(`${file}: ${rows} rows, ${accepted} accepted, ${unchanged} unchanged, ${held} held, ${rejected} rejected (${reasons.join('; ')})`)
  }
  await importRealData(database.ctx, imported)
  await makeCards(database)
  say('| International Pokémon cards | Cards | Any price | Two markets | A trusted price |\n|---|---|---|---|---|')
  await showCoverage(database, 'known formats')
  await importMappedData(database.ctx, imported)
  await showCoverage(database, 'with mapped lists')
  await showRest(database)
  await showMissing(database)
  await database.close()
} finally {
  await server.close()
}

/** Printed cards, each with the items of its finishes: cards of TCG Pocket exist on screens only. */
async function makeCards({ ctx }: BenchDatabase): Promise<void> {
  await sql`
    create table bench_cards as
    select distinct on (i.id) i.id as item_id, r.foreign_id as card, i.category_id
    from items i join item_sources s on s.item_id = i.id join source_records r on r.id = s.record_id
    where r.world = 'international' and r.source in ('tcgdex', 'tcgdex-api') and r.active
      and not i.attributes @> '[{"name": "Digital only"}]'
    order by i.id, r.source = 'tcgdex' desc, r.foreign_id`.execute(ctx.db.kysely)
}

async function showCoverage({ ctx }: BenchDatabase, what: string): Promise<void> {
  const { rows } = await sql<{ cards: number; priced: number; twice: number; trusted: number }>`
    select count(*)::int4 as cards, count(*) filter (where markets > 0)::int4 as priced, count(*) filter (where markets > 1)::int4 as twice,
      count(*) filter (where trusted)::int4 as trusted
    from (
      select card, count(distinct p.market) as markets, bool_or(p.state = 0) as trusted
      from bench_cards c left join prices p using (item_id) group by card
    ) c`.execute(ctx.db.kysely)
  const { cards, priced, twice, trusted } = rows[0]!
  say(`| ${what} | ${cards} | ${percent(priced, cards)} | ${percent(twice, cards)} | ${percent(trusted, cards)} |`)
}

/** What a client sees who goes through all pages. */
async function showRest({ ctx, url, accounts }: BenchDatabase): Promise<void> {
  const { rows } = await sql<{ item_id: number; card: string }>`select item_id, card from bench_cards`.execute(ctx.db.kysely)
  const cardOf = new Map(rows.map(({ item_id: id, card }) => [id, card]))
  const priced = new Set<string>()
  const node = await startNode(url)
  try {
    for (let page = 1, more = true; more; page += 1) {
      const response = await fetch(`${node.url}/api/v1/items?game=pokemon&per_page=${PER_PAGE}&page=${page}`, {
        headers: { authorization: `Bearer ${accounts.professional.key}` },
      })
      const { data, pagination } = (await response.json()) as { data: { id: number; prices: object[] }[]; pagination: { has_more: boolean } }
      for (const { id, prices } of data) if (prices.length > 0 && cardOf.has(id)) priced.add(cardOf.get(id)!)
      more = pagination.has_more
    }
  } finally {
    await node.stop()
  }
  say(`with a price over REST: ${percent(priced.size, new Set(cardOf.values()).size)}`)
}

async function showMissing({ ctx }: BenchDatabase): Promise<void> {
  for (const least of [1, 2]) {
    const { rows } = await sql<{ name: string; ref: string; missing: number; of: number; cards: string[] }>`
      select c.name, c.ref, count(*) filter (where markets < ${least})::int4 as missing, count(*)::int4 as of,
        (array_agg(card order by card) filter (where markets < ${least}))[1:8] as cards
      from (
        select card, min(category_id) as category_id, count(distinct p.market) as markets from bench_cards b left join prices p using (item_id) group by card
      ) m join categories c on c.id = m.category_id
      group by c.id having count(*) filter (where markets < ${least}) > 0 order by 3 desc limit 60`.execute(ctx.db.kysely)
    say(`\nCards with fewer than ${least} markets by set`)
    for (const { name, ref, missing, of, cards } of rows) say(`  ${name} (${ref}): ${missing} of ${of}: ${cards.join(', ')}`)
  }
}

function percent(part: number, whole: number): string {
  return `${part} (${((100 * part) / whole).toFixed(1)} %)`
}
