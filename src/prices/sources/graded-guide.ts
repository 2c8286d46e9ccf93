// Manually maintained price lists (NDJSON) with PriceCharting's ungraded and PSA 10 prices of Pokémon cards, in USD.
import { ndjsonRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem, type Reason, reason } from '#core/problems.ts'
import type { FeedRow, PriceFormat } from '#prices/records/feed-rows.ts'
import { instantOf, priceOf, truncate, textOf } from './cells.ts'
import { addPrice, feedRows, requireFormat } from './rows.ts'

const MARKET: Market = 'source_a'

// grade10 is the column that PriceCharting calls PSA 10; grade7 to grade95 name no grading company, so they are not labels.
const LABELS = [
  ['ungraded', 'Near Mint'],
  ['grade10', 'PSA 10'],
] as const

/** Suffixes of the set ids of galleries and other subsets, which the list files under the code of the main set. */
const SUBSETS = ['', 'tg', 'gg', 'sv', 'c']

export const gradedGuide: PriceFormat = {
  name: 'graded-guide',
  title: 'Card list with ungraded and PSA 10 prices of PriceCharting (NDJSON: card_link, graded_prices), USD',
  defaultMarket: MARKET,
  terms: { licence: 'None stated (pokemon-ebay-tracker)' },
  // As in the price guide of PriceCharting.
  conditionKnown: () => false,
  marks: [
    { type: 'json', names: ['set_code', 'card_link'] },
    { type: 'json', names: ['set_code', 'graded_prices'] },
  ],
  read: (source, { market }) => {
    const lines = requireFormat(
      ndjsonRows(source),
      (row) => typeof row.set_code === 'string' && ('card_link' in row || 'graded_prices' in row),
      reason('file_format', { format: 'graded-guide', values: ['set_code', 'card_link', 'graded_prices'] }),
    )
    return feedRows(lines, (row, line, rows: FeedRow[]) => {
      const prices = row.graded_prices
      if (typeof prices !== 'object' || prices === null) return
      const id = cardId(textOf(row.card_link), textOf(row.set_code))
      if ('reject' in id) return void rows.push({ line, reject: id.reject })
      const item = {
        source: 'pokemontcg',
        id: id.id,
        name: textOf(row.name),
        number: textOf(row.number),
        set: textOf(row.set),
        game: 'pokemon',
        language: 'en',
      }
      const time = instantOf(row.commit_date, 'commit_date')
      for (const [column, label] of LABELS) {
        const owner = { line, item, market: market ?? MARKET, label }
        addPrice(rows, owner, priceOf((prices as Record<string, unknown>)[column], column), time)
      }
    })
  },
}

/** The card id in the link, if it belongs to the set that the row names: otherwise link and prices belong to different cards. */
function cardId(link: string, setCode: string): { id: string } | { reject: Reason } {
  const id = link.slice(link.lastIndexOf('/') + 1)
  const set = id.slice(0, Math.max(id.lastIndexOf('-'), 0))
  if (set === '') return { reject: problem('card_link', 'required') }
  if (SUBSETS.some((ending) => set === setCode + ending)) return { id }
  return { reject: problem('card_link', 'other_set', { value: truncate(set), other: truncate(setCode) }) }
}
