// Joins the rows of the EUR file, keyed by set code and number, to the cards of the other files, by the set with the most matches.
import { type Card, type EurRow, type FeedPrice, SOURCE_B } from './singles.ts'

const NONE = { avg1: null, avg7: null, avg30: null, low: null, mid: null, high: null, samples: null }

/** Prices of the rows that match a card, in its plainest finish; others are left out. */
export function joinEur(rows: readonly EurRow[], cards: readonly Card[]): FeedPrice[] {
  const byPlace = new Map<string, Card[]>()
  for (const card of cards) {
    const place = placeOf(card.name, card.number)
    byPlace.set(place, [...(byPlace.get(place) ?? []), card])
  }
  const prices: FeedPrice[] = []
  for (const ofSet of Map.groupBy(rows, ({ set }) => set).values()) {
    const votes = new Map<string, number>()
    for (const { name, number } of ofSet) {
      for (const setId of new Set(byPlace.get(placeOf(name, number))?.map((card) => card.setId))) votes.set(setId, (votes.get(setId) ?? 0) + 1)
    }
    const [best] = [...votes].sort((a, b) => b[1] - a[1])
    if (!best || best[1] < ofSet.length / 2) continue
    for (const { name, number, minor } of ofSet) {
      const found = byPlace.get(placeOf(name, number))?.filter(({ setId }) => setId === best[0]) ?? []
      const card = found.find(({ finish }) => finish === 'normal') ?? found.find(({ finish }) => finish === 'holo')
      if (card) prices.push({ item: card.item, market: SOURCE_B, minor, ...NONE })
    }
  }
  return prices
}

function placeOf(name: string, number: string): string {
  return `${number.replace(/^0+/, '')} ${name.toLowerCase().replace(/[^a-z0-9]+/g, '')}`
}
