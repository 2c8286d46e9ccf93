// Prices of single cards by finish (NDJSON) in Brazilian real, to which upstream converts the euros of Cardmarket and the dollars of TCGplayer.
import { type FeedLine, ndjsonRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem, type Reason, reason } from '#core/problems.ts'
import type { FeedRow, PriceFormat } from '#prices/records/feed-rows.ts'
import type { Figures } from '#prices/evidence/evidence-types.ts'
import { figuresOf } from '#prices/records/feed-figures.ts'
import { figureOf, instantOf, priceOf, truncate, textOf } from './cells.ts'
import { addPrice, feedRows, requireFormat } from './rows.ts'

type Row = Record<string, unknown>

/** The TCGplayer printings that match the card's own finish, by `printVariation` and `finish` of the later key form. */
const PRINTINGS: Readonly<Record<string, readonly string[]>> = {
  'unlimited normal': ['normal', 'unlimited'],
  'unlimited holo': ['holofoil', 'unlimited-holofoil'],
  'unlimited reverse': ['reverse-holofoil'],
  'firstEdition normal': ['1st-edition'],
  'firstEdition holo': ['1st-edition-holofoil'],
}

export const singlesBrl: PriceFormat = {
  name: 'singles-brl',
  title: 'Single-card prices by finish (NDJSON, BRL): Cardmarket trend to source_b, TCGplayer market to source_c',
  defaultMarket: null,
  terms: { licence: 'None stated (pokemon-price-database)' },
  // The trend of Cardmarket is over cards of all conditions.
  conditionKnown: (market) => market !== 'source_b',
  marks: [{ type: 'json', names: ['cardId', 'finish', 'sources'] }],
  read: (source) =>
    feedRows(
      byCard(
        requireFormat(
          ndjsonRows(source),
          (row) => 'cardId' in row && 'finish' in row && Array.isArray(row.sources),
          // The CSV of price changes is not supported, because its prices are means of different kinds of values.
          reason('file_format', { format: 'singles-brl', values: ['cardId', 'finish', 'updatedAt', 'sources'] }),
        ),
      ),
      readRow,
    ),
}

interface CardRow {
  row: Row
  /** Cardmarket trend of the same card's reverse holo; null without one */
  reverseTrend: number | null
}

/**
 * Adds to each row the trend of its card's reverse holo. Rows of one card are adjacent, but may be split between two batches: the last card of a
 * batch is completed with the next one, unless it fills the whole batch.
 */
async function* byCard(lines: AsyncIterable<FeedLine<Row>[]>): AsyncIterable<FeedLine<CardRow>[]> {
  let waiting: FeedLine<Row>[] = []
  for await (const batch of lines) {
    const rows = waiting.concat(batch)
    const cut = rows.findLastIndex((entry) => cardOf(entry) !== cardOf(rows.at(-1)!)) + 1
    waiting = cut > 0 ? rows.slice(cut) : []
    yield withReverseTrends(cut > 0 ? rows.slice(0, cut) : rows)
  }
  if (waiting.length > 0) yield withReverseTrends(waiting)
}

function withReverseTrends(lines: FeedLine<Row>[]): FeedLine<CardRow>[] {
  const trends = new Map<unknown, number>()
  for (const entry of lines) {
    if (!('value' in entry) || entry.value.finish !== 'reverse') continue
    const trend = sourceValue(entry.value, 'cardmarketTrend')
    if (typeof trend === 'number') trends.set(cardOf(entry), trend)
  }
  return lines.map((entry) => {
    if ('reject' in entry) return entry
    return { line: entry.line, value: { row: entry.value, reverseTrend: trends.get(cardOf(entry)) ?? null } }
  })
}

function cardOf(entry: FeedLine<Row>): unknown {
  return 'value' in entry ? entry.value.cardId : entry.line
}

function readRow({ row, reverseTrend }: CardRow, line: number, rows: FeedRow[]): void {
  const id = textOf(row.cardId)
  const finish = textOf(row.finish)
  const variation = textOf(row.printVariation)
  const stamp = textOf(row.stamp)
  const reject = (why: Reason) => void rows.push({ line, reject: why })
  if (!Array.isArray(row.sources)) return reject(problem('sources', 'list'))
  if (id === '' || finish === '') return reject(problem(id === '' ? 'cardId' : 'finish', 'required'))
  if (stamp !== '' && stamp !== 'unstamped') return reject(problem('stamp', 'one_of', { values: 'unstamped', value: truncate(stamp) }))

  const firstEdition = finish === 'firstEdition' || variation === 'firstEdition'
  const trend = sourceValue(row, 'cardmarketTrend')
  // Cardmarket has one product for both editions, and upstream copies the trend of the reverse holo to the holo card: in both cases the trend is not
  // this card's own price.
  const foreignTrend = firstEdition || (finish === 'holo' && trend !== null && trend === reverseTrend)
  const printings = variation === '' ? null : (PRINTINGS[`${variation} ${finish}`] ?? [])
  const american = marketPrice(row, finish, printings)
  const markets: [Market, unknown, FigureNames][] = [
    ['source_b', foreignTrend ? null : trend, CARDMARKET_FIGURES],
    ['source_c', american.value, { low: `tcgplayerLow${american.printing}`, mid: `tcgplayerMid${american.printing}` }],
  ]
  if (markets.every(([, value]) => value === null)) return
  const time = instantOf(row.updatedAt, 'updatedAt')
  if (typeof time === 'object' && time) return reject(time)

  const source = row.language === 'ja' ? 'tcgdex-asia' : 'tcgdex'
  const item = {
    source,
    id,
    finish: firstEdition && finish !== 'firstEdition' ? `${finish} first edition` : finish,
    name: textOf(row.name),
    number: textOf(row.number),
    set: textOf(row.setName),
    game: 'pokemon',
    language: row.language === 'ja' ? 'ja' : 'en',
  }
  for (const [market, value, names] of markets) {
    if (value === null) continue
    addPrice(rows, { line, item, market, label: 'Near Mint', currency: 'BRL', figures: readFigures(row, names) }, priceOf(value, 'valueBrl'), time)
  }
}

/** Column names of the figures beside a price, by figure. */
type FigureNames = Partial<Record<keyof Figures, string>>

const CARDMARKET_FIGURES: FigureNames = { avg1: 'cardmarketAvg1', avg7: 'cardmarketAvg7', avg30: 'cardmarketAvg30', low: 'cardmarketLow' }

function readFigures(row: Row, names: FigureNames): Figures | null {
  const figures: Partial<Figures> = {}
  for (const figure of Object.keys(names) as (keyof Figures)[]) figures[figure] = figureOf(sourceValue(row, names[figure]!))
  return figuresOf(figures)
}

/**
 * The later form names the printing of each market price, and only the row's own printing counts. The earlier form (`printings` is null) names none,
 * and gives first editions the price of the regular printing.
 */
function marketPrice(row: Row, finish: string, printings: readonly string[] | null): { value: unknown; printing: string } {
  if (printings === null) return { value: finish === 'firstEdition' ? null : sourceValue(row, 'tcgplayerMarket'), printing: '' }
  for (const name of printings) {
    const printing = `:${name}`
    const value = sourceValue(row, `tcgplayerMarket${printing}`)
    if (value !== null) return { value, printing }
  }
  return { value: null, printing: '' }
}

function sourceValue(row: Row, name: string): unknown {
  if (!Array.isArray(row.sources)) return null
  const entry = (row.sources as { source?: unknown; valueBrl?: unknown }[]).find((value) => value?.source === name)
  return entry?.valueBrl ?? null
}
