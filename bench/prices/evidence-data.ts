// Data of bench/prices/evidence.ts: which sets and days are kept out of tuning, a panel of 30 true days, and planted faults.
import { isFar } from '#prices/evidence/thresholds.ts'
import { randomNumbers } from '#core/random.ts'
import { joinEur } from './eur-join.ts'
import { NOISE } from './memory-service.ts'
import { type Card, type Feed, type FeedPrice, readChanges, readEur, readSingles, SOURCE_B, SOURCE_C } from './singles.ts'

/** Change days kept out of tuning; the other six are 24, 26, 28 and 30 July, 2 and 4 August. */
const KEPT_OUT_DAYS: ReadonlySet<string> = new Set(['2026-07-25', '2026-07-27', '2026-07-29', '2026-08-01', '2026-08-03'])
/** Days between the two files. */
const PAIR_DAYS = 13
export const PANEL_DAYS = 30
export const DAY_MS = 86_400_000

/** Sets are kept out of tuning, or chosen, by a hash of their ids. */
function hashOf(setId: string): number {
  let hash = 2_166_136_261
  for (const character of setId) hash = Math.imul(hash ^ character.codePointAt(0)!, 16_777_619) >>> 0
  return hash
}

/** A tenth of the sets. */
const isKeptOut = (setId: string): boolean => hashOf(setId) % 10 === 3

export interface EvidenceData {
  first: Feed
  second: Feed
  cards: ReadonlyMap<string, Card>
  /** the EUR list, by item */
  eur: ReadonlyMap<string, FeedPrice>
  /** whether the rows of a card are counted: only of the sets kept out, or only of the others while tuning */
  counts: (item: string) => boolean
  /** whether a card is in the panel of thirty days: the counted cards, or while tuning those of every eighth set */
  inPanel: (item: string) => boolean
  /** days of the change files on which a card moved, of those that may be used, by position */
  movingDays: ReadonlyMap<string, readonly number[]>
  /** number of change days that may be used */
  days: number
}

export async function readEvidenceData(isTuning: boolean): Promise<EvidenceData> {
  const [first, second, changes, eurRows] = await Promise.all([readSingles('first'), readSingles('second'), readChanges(), readEur()])
  const cards = new Map([...first.cards, ...second.cards].map((card) => [card.item, card]))
  const days = [...new Set(changes.map(({ day }) => day))].filter((day) => KEPT_OUT_DAYS.has(day) !== isTuning).sort()
  const movingDays = new Map<string, number[]>()
  for (const { item, day } of changes) {
    const position = days.indexOf(day)
    if (position < 0) continue
    const moving = movingDays.get(item)
    if (moving) moving.push(position)
    else movingDays.set(item, [position])
  }
  const eur = new Map(joinEur(eurRows, [...cards.values()]).map((row) => [row.item, row]))
  const counts = (item: string) => isKeptOut(cards.get(item)!.setId) !== isTuning
  const inPanel = (item: string) => counts(item) && (!isTuning || hashOf(cards.get(item)!.setId) % 8 === 1)
  return { first, second, cards, eur, counts, inPanel, movingDays, days: days.length }
}

export const keyOf = ({ item, market }: { item: string; market: number }): string => `${item} ${market}`
export const otherOf = (market: number): number => (market === SOURCE_B ? SOURCE_C : SOURCE_B)

/** All figures of a price multiplied by a factor. */
export function scaled(row: FeedPrice, factor: number): FeedPrice {
  const by = (minor: number | null) => minor && Math.max(1, Math.round(minor * factor))
  return { ...row, minor: by(row.minor)!, avg1: by(row.avg1), avg7: by(row.avg7), avg30: by(row.avg30), low: by(row.low), mid: by(row.mid) }
}

/** The amounts of a row, each of which moves for itself: the averages of a price go on moving, and its offers change, while it stays the same. */
const AMOUNTS = ['minor', 'avg1', 'avg7', 'avg30', 'low', 'mid'] as const
type Moves = Partial<Record<(typeof AMOUNTS)[number], number>>

/**
 * True prices of 30 days after the second file. Each amount repeats its own move between the two files, or that of a card alike, every thirteen days
 * with a sign by chance, on the days on which the card moved in the change files. An amount that did not move between the files stays the same.
 * @returns the feed of a day
 */
export function truePanel(data: EvidenceData, seed: number): (day: number) => FeedPrice[] {
  const random = randomNumbers(seed * 15_485_863)
  const before = new Map(data.first.prices.map((row) => [keyOf(row), row]))
  const moves = new Map<string, Moves>()
  const donors = new Map<string, Moves[]>()
  const bandOf = ({ item, market, minor }: FeedPrice) => `${market} ${data.cards.get(item)!.finish} ${Math.floor(Math.log10(minor) * 2)}`
  for (const row of data.second.prices) {
    const last = before.get(keyOf(row))
    if (!last) continue
    const move = Math.log(row.minor / last.minor)
    // A correction of the source between the files is not a move of the market.
    if (Math.abs(move) > Math.log(3)) continue
    const own = movesOf(row, last, move)
    moves.set(keyOf(row), own)
    const band = donors.get(bandOf(row))
    if (band) band.push(own)
    else donors.set(bandOf(row), [own])
  }
  const paths = data.second.prices
    .filter(({ item }) => data.inPanel(item))
    .map((row) => {
      const alike = donors.get(bandOf(row)) ?? [{}]
      const own = moves.get(keyOf(row)) ?? alike[Math.floor(random() * alike.length)]!
      const signs = Array.from({ length: Math.ceil(PANEL_DAYS / PAIR_DAYS) }, () => (random() < 0.5 ? -1 : 1))
      return { row, own, signs, steps: data.movingDays.get(row.item) ?? [] }
    })
  return (day) =>
    paths.map(({ row, own, signs, steps }) => {
      let share = 0
      for (const [block, sign] of signs.entries()) share += sign * shareOf(steps, data.days, (day - block * PAIR_DAYS) / PAIR_DAYS)
      const moved = { ...row }
      for (const name of AMOUNTS) if (row[name] && own[name]) moved[name] = Math.max(1, Math.round(row[name] * Math.exp(share * own[name])))
      return moved
    })
}

/** How each amount moved between two rows of a price; one that only one of them states, or that was corrected, moved like the price. */
function movesOf(row: FeedPrice, last: FeedPrice, move: number): Moves {
  return Object.fromEntries(
    AMOUNTS.map((name) => {
      const own = Math.log((row[name] ?? 0) / (last[name] ?? 0))
      return [name, Math.abs(own) <= Math.log(3) ? own : move]
    }),
  )
}

/** Share of a block's move after a share of its days. */
function shareOf(steps: readonly number[], days: number, passed: number): number {
  if (passed <= 0) return 0
  if (passed >= 1 || steps.length === 0) return passed >= 1 ? 1 : 0
  return steps.filter((step) => (step + 1) / days <= passed).length / steps.length
}

/** Rows of one source with the figures of another card, to the cent: at most one of a group is true. */
export function copies(data: EvidenceData, prices: readonly FeedPrice[]): FeedPrice[][] {
  const groups = Map.groupBy(prices, ({ item, market, minor, avg7, avg30, low, mid }) =>
    low && minor >= NOISE[market]! && (avg7 || mid) ? [market, minor, avg7, avg30, low, mid, data.cards.get(item)!.setId].join(' ') : null,
  )
  return [...groups].flatMap(([key, group]) => (key !== null && group.length > 1 ? [group] : []))
}

export const FAULT_KINDS = ['price ×3', 'price ÷3', 'price ×10', 'swapped card', 'swapped finish', 'ten to two times'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** Rows by position with a fault in their place, at most one in ten of the counted rows; each is twofold or more and above the noise. */
export function planted(data: EvidenceData, prices: readonly FeedPrice[], kind: FaultKind, seed: number): Map<number, FeedPrice> {
  const random = randomNumbers(seed * 7_919 + FAULT_KINDS.indexOf(kind))
  const counted = [...prices.keys()].filter((position) => data.counts(prices[position]!.item))
  const groups = new Map<string, number[]>()
  const groupOf = ({ item, market }: FeedPrice) => {
    const { setId, name, number, finish } = data.cards.get(item)!
    return `${market} ${setId} ${kind === 'swapped finish' ? `${name} ${number}` : finish}`
  }
  if (kind.startsWith('swapped'))
    for (const position of counted) groups.set(groupOf(prices[position]!), [...(groups.get(groupOf(prices[position]!)) ?? []), position])
  const plants = new Map<number, FeedPrice>()
  for (let tries = 0; plants.size < Math.min(1_000, counted.length / 10) && tries < counted.length * 20; tries += 1) {
    const position = counted[Math.floor(random() * counted.length)]!
    const row = prices[position]!
    let fault: FeedPrice
    if (kind.startsWith('swapped')) {
      const group = groups.get(groupOf(row))!
      const other = prices[group[Math.floor(random() * group.length)]!]!
      if (other.item === row.item) continue
      fault = { ...other, item: row.item }
    } else fault = { ...row, minor: Math.max(1, Math.round(row.minor * factorOf(kind, random))) }
    if (!plants.has(position) && isFar(fault.minor, row.minor, 2, NOISE[row.market]!)) plants.set(position, fault)
  }
  return plants
}

function factorOf(kind: FaultKind, random: () => number): number {
  if (kind === 'price ×3') return 3
  if (kind === 'price ÷3') return 1 / 3
  if (kind === 'price ×10') return 10
  return random() < 0.5 ? 2 + 8 * random() : 1 / (2 + 8 * random())
}
