// The price guide download of PriceCharting: ungraded, PSA 10 and BGS 10 prices in USD, columns found by name.
import { csvRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem } from '#core/problems.ts'
import { GAMES } from '#games/games.ts'
import { figuresOf } from '#prices/records/feed-figures.ts'
import type { FeedRow, ItemKey, ItemWords, PriceFormat } from '#prices/records/feed-rows.ts'
import { nonZeroPrice } from './cells.ts'
import { addPrice, feedRows } from './rows.ts'

const MARKET: Market = 'source_a'
const MAX_NAME_LENGTH = 300

// The columns keep their video-game names. cib-, new-, graded- and box-only-price are grades 7, 8, 9 and 9.5 without a grading company, and
// condition-9 to condition-22 are undocumented: a grade without a company is not a label.
const LABELS = [
  ['loose-price', 'Near Mint'],
  ['manual-only-price', 'PSA 10'],
  ['bgs-10-price', 'BGS 10'],
] as const
/** A tag in brackets made up of these words is a printing. */
const PRINTING_WORDS = new Set(['normal', 'unlimited', 'holo', 'holofoil', 'reverse', 'foil', '1st', 'edition'])
const COLUMNS = ['id', 'product-name', 'tcg-id', ...LABELS.map(([column]) => column)]

export const pricechartingCsv: PriceFormat = {
  name: 'pricecharting-csv',
  title: 'PriceCharting price guide (CSV or tab-separated): ungraded, PSA 10 and BGS 10, USD',
  defaultMarket: MARKET,
  terms: { licence: 'Terms of PriceCharting' },
  // The file says of a loose card only that it is not graded.
  conditionKnown: () => false,
  marks: [{ type: 'csv', names: COLUMNS }],
  read: (source, { market, nowMs }) => {
    return feedRows(csvRows(source, COLUMNS), (row, line, rows: FeedRow[]) => {
      const item = itemKey(row)
      if (!item) return void rows.push({ line, reject: problem('row', 'at_least_one', { fields: ['id', 'tcg-id'] }) })
      for (const [column, label] of LABELS) {
        const figures = label === 'Near Mint' ? figuresOf({ samples: volumeOf(row['sales-volume']) }) : null
        const owner = { line, item, market: market ?? MARKET, label, figures }
        addPrice(rows, owner, nonZeroPrice(row[column], column), nowMs)
      }
    })
  },
}

/** Yearly sales of a product, mostly of ungraded cards; null if the file does not state them. */
function volumeOf(cell: string | undefined): number | null {
  const text = cell?.trim() ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : null
}

/**
 * `tcg-id` is TCGplayer's product id. TCGplayer has printings (`[Reverse Holo]`, `[1st Edition]`) within one product, so these need a finish;
 * artworks (`[Alternate Art]`) are products of their own, identified by the id alone.
 */
function itemKey(row: Record<string, string>): ItemKey | null {
  const product = row['product-name']!.slice(0, MAX_NAME_LENGTH)
  const finish = [...product.matchAll(/\[([^[\]]*)\]/g)].map((tag) => tag[1]!).find(isPrinting)
  const number = /#(\S+)/.exec(product)?.[1]
  const name = product
    .replace(/\[[^[\]]*\]/g, '')
    .replace(/#\S+/, '')
    .replace(/\s+/g, ' ')
    .trim()
  const described = { name, ...(number && { number }), ...(finish && { finish }), ...setOf(row['console-name'] ?? '') }
  const tcgId = row['tcg-id']!.trim()
  if (/^[1-9]\d*$/.test(tcgId)) return { source: 'tcgplayer', id: tcgId, ...described }
  const id = row.id!.trim()
  return id === '' ? null : { source: 'pricecharting', id, ...described }
}

/** `Pokemon Japanese Base Set`: the game, the language unless it is English, and the set. */
function setOf(console: string): ItemWords {
  const game = GAMES.all.find(({ shopNames }) => console.startsWith(`${shopNames.pricecharting} `))
  if (game === undefined) return {}
  const [, japanese, set] = /^(Japanese )?(\S.*)$/.exec(console.slice(game.shopNames.pricecharting.length + 1, MAX_NAME_LENGTH)) ?? []
  return set === undefined ? {} : { game: game.slug, language: japanese ? 'ja' : 'en', set }
}

function isPrinting(tag: string): boolean {
  return tag
    .trim()
    .toLowerCase()
    .split(/[\s-]+/)
    .every((word) => PRINTING_WORDS.has(word))
}
