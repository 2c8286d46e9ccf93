// `node bench/prices/coverage.ts`: imports all real price files and prints how many international Pokémon cards have a price, in how many markets and
// how trusted, what a client sees of it, and the cards without one by set and cause.
import { sql } from 'kysely'
import { type BenchDatabase, startDatabaseServer } from '../database.ts'
import { startNode } from '../processes.ts'
import { hasRealData, type ImportedFile, importMappedData, importRealData } from '../real-data.ts'
import { readSingles } from './singles.ts'

const PER_PAGE = 100
const SETS_SHOWN = 40

if (!hasRealData()) {
  console.log('Real data not found; skipping the measurement')
  process.exit(0)
}

const say = (line: string): void => console.log(line)
/** rules by which rows were rejected, by the id of the card or item that they name */
const refusedBy = new Map<string | number, string>()
const server = await startDatabaseServer()
try {
  const database = await server.create('coverage')
  await importRealData(database.ctx, noteRefusals)
  await makeCards(database)
  say('| International Pokémon cards with | Rows | Rejected | Any price | Two markets | A trusted price |\n|---|---|---|---|---|---|')
  await showCoverage(database, 'the known formats')
  await importMappedData(database.ctx, async (imported) => {
    noteRefusals(imported)
    await showCoverage(database, `and ${imported.file}`, imported)
  })
  await showRest(database)
  await showMissing(database)
  await database.close()
} finally {
  await server.close()
}

function noteRefusals({ refused }: ImportedFile): void {
  for (const { rule, params = {} } of refused) {
    const { id, items } = params as { id?: string; items?: readonly number[] }
    for (const named of [...(id === undefined ? [] : [id]), ...(items ?? [])]) refusedBy.set(named, rule!)
  }
}

/** Printed cards with the items of their finishes; cards of TCG Pocket exist only digitally. */
async function makeCards({ ctx }: BenchDatabase): Promise<void> {
  await sql`
    create table bench_cards as
    select distinct on (i.id) i.id as item_id, r.foreign_id as card, i.category_id
    from items i join item_sources s on s.item_id = i.id join source_records r on r.id = s.record_id
    where r.world = 'international' and r.source in ('tcgdex', 'tcgdex-api') and r.active
      and not i.attributes @> '[{"name": "Digital only"}]'
    order by i.id, r.source = 'tcgdex' desc, r.foreign_id`.execute(ctx.db.kysely)
}

async function showCoverage({ ctx }: BenchDatabase, what: string, imported?: ImportedFile): Promise<void> {
  const { rows } = await sql<{ cards: number; priced: number; twice: number; trusted: number }>`
    select count(*)::int4 as cards, count(*) filter (where markets > 0)::int4 as priced, count(*) filter (where markets > 1)::int4 as twice,
      count(*) filter (where trusted)::int4 as trusted
    from (
      select card, count(distinct p.market) as markets, bool_or(p.state = 0) as trusted
      from bench_cards c left join prices p using (item_id) group by card
    ) c`.execute(ctx.db.kysely)
  const { cards, priced, twice, trusted } = rows[0]!
  say(
    `| ${what} | ${imported?.rows ?? ''} | ${imported?.rejected ?? ''} | ${percent(priced, cards)} | ${percent(twice, cards)} | ${percent(trusted, cards)} |`,
  )
}

/** What a client sees that reads all pages. */
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
  const { rows } = await sql<{ card: string; items: number[]; set: string }>`
    select card, array_agg(b.item_id) as items, min(c.name || ' (' || c.ref || ')') as set
    from bench_cards b join categories c on c.id = b.category_id
    group by card having not bool_or(exists (select from prices p where p.item_id = b.item_id)) order by card`.execute(ctx.db.kysely)
  const feeds = await Promise.all([readSingles('first'), readSingles('second')])
  const listed = new Set(feeds.flatMap(({ cards }) => cards.map(({ item }) => item.split('::')[0]!)))
  const causeOf = ({ card, items }: (typeof rows)[number]) => {
    const rule = [card, ...items].map((named) => refusedBy.get(named)).find(Boolean)
    if (rule) return `named by a refused row: ${rule}`
    return listed.has(card) ? 'a row without an amount of its own' : 'no row in any file'
  }
  const causes = Map.groupBy(rows, causeOf)
  say(`\nCards without a price: ${rows.length}`)
  for (const [cause, cards] of [...causes].sort((a, b) => b[1].length - a[1].length)) {
    say(`${cause}: ${cards.length}`)
    const sets = [...Map.groupBy(cards, ({ set }) => set)].sort((a, b) => b[1].length - a[1].length)
    for (const [set, own] of sets.slice(0, SETS_SHOWN)) {
      say(
        `  ${set}: ${own.length}, such as ${own
          .slice(0, 5)
          .map(({ card }) => card)
          .join(', ')}`,
      )
    }
  }
}

function percent(part: number, whole: number): string {
  return `${part} (${((100 * part) / whole).toFixed(1)} %)`
}
