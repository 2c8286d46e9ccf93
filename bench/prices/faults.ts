// `node bench/prices/faults.ts [--show]`: plants faults in the real prices of single cards, and counts how many the evidence rules hold or dispute,
// and how many correct prices they hold or dispute wrongly. `--show` prints fifty of each of the latter.
import type { Hold } from '#prices/evidence/hold.ts'
import { isFar } from '#prices/evidence/thresholds.ts'
import { flagsOf } from '#prices/evidence/evidence-types.ts'
import { randomNumbers } from '#core/random.ts'
import { shuffled } from '../random.ts'
import { joinEur } from './eur-join.ts'
import { type Judged, MemoryService, NOISE } from './memory-service.ts'
import { type Card, type FeedPrice, hasSingles, readChanges, readEur, readSingles, SOURCE_B, SOURCE_C } from './singles.ts'

const SEEDS = [1, 2, 3]
const FAULTS = 1_000
const KINDS = ['slip', 'wrong mapping', 'alternate art', 'stale source'] as const
type Kind = (typeof KINDS)[number]

if (!hasSingles()) {
  console.log('Real data not found; skipping the measurement')
  process.exit(0)
}

const say = (line: string): void => console.log(line)

/** Counts of a run: faults and those that were caught, correct rows and those that were held or disputed. */
interface Tally {
  faults: number
  caught: number
  rows: number
  held: number
  disputed: number
  identical: number
}

const newTally = (): Tally => ({ faults: 0, caught: 0, rows: 0, held: 0, disputed: 0, identical: 0 })

const [first, second, changes, eurRows] = await Promise.all([readSingles('first'), readSingles('second'), readChanges(), readEur()])
const cards: ReadonlyMap<string, Card> = new Map([...first.cards, ...second.cards].map((card) => [card.item, card]))

const eurPrices = joinEur(eurRows, [...cards.values()])

/** Faults by position in a feed: the row that replaces the real one. */
type Plants = Map<number, FeedPrice>

/** Cards whose figures can be swapped, by a shared property. */
function rowsBy(prices: readonly FeedPrice[], keyOf: (card: Card) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const [position, { item, market }] of prices.entries()) {
    const key = `${market} ${keyOf(cards.get(item)!)}`
    const group = groups.get(key)
    if (group) group.push(position)
    else groups.set(key, [position])
  }
  return groups
}

function slipped(minor: number, random: () => number): number {
  if (random() < 0.2) return minor * [10, 100, 0.1, 0.01][Math.floor(random() * 4)]!
  const factor = 2 + 18 * random()
  return random() < 0.5 ? minor * factor : minor / factor
}

/** Plants faults of a kind at random positions, except where the difference is less than twofold or within the noise. */
function plant(kind: Exclude<Kind, 'stale source'>, prices: readonly FeedPrice[], seed: number): Plants {
  const random = randomNumbers(seed * 7_919)
  const plants: Plants = new Map()
  const groups = rowsBy(prices, kind === 'wrong mapping' ? (c) => c.setId : (c) => `${c.setId} ${c.name}`)
  const keyOf = (card: Card) => (kind === 'wrong mapping' ? card.setId : `${card.setId} ${card.name}`)
  for (let tries = 0; plants.size < FAULTS && tries < FAULTS * 400; tries += 1) {
    const position = Math.floor(random() * prices.length)
    const row = prices[position]!
    if (plants.has(position)) continue
    let fault: FeedPrice
    if (kind === 'slip') fault = { ...row, minor: Math.max(1, Math.round(slipped(row.minor, random))) }
    else {
      const group = groups.get(`${row.market} ${keyOf(cards.get(row.item)!)}`)!
      const other = prices[group[Math.floor(random() * group.length)]!]!
      if (other.item.split('::')[0] === row.item.split('::')[0]) continue
      fault = { ...other, item: row.item }
    }
    if (isFar(fault.minor, row.minor, 2, NOISE[row.market]!)) plants.set(position, fault)
  }
  return plants
}

function isCaught(judged: Judged | undefined, held: boolean): boolean {
  return held || judged === undefined || judged.state !== 'trusted'
}

/** Counts the results of a feed, for planted and for correct rows. */
function count(tally: Tally, service: MemoryService, prices: readonly FeedPrice[], held: Map<number, Hold>, planted: ReadonlySet<number>): void {
  for (const [position, { item, market }] of prices.entries()) {
    const judged = service.find(item, market)
    if (planted.has(position)) {
      tally.faults += 1
      if (isCaught(judged, held.has(position))) tally.caught += 1
      continue
    }
    tally.rows += 1
    if (held.has(position)) tally.held += 1
    else if (judged?.state === 'disputed') {
      if (judged.identical) tally.identical += 1
      else tally.disputed += 1
    }
  }
}

function applied(prices: readonly FeedPrice[], plants: Plants): FeedPrice[] {
  return prices.map((row, position) => plants.get(position) ?? row)
}

function started(): MemoryService {
  const service = new MemoryService()
  service.addCards(cards.values())
  service.feed(first.prices, first.atMs)
  return service
}

/** The first file as history, the second one with faults. */
function dayPair(kind: Kind | null, seed: number, tally: Tally): void {
  const service = started()
  if (kind === 'stale source') return stalePair(service, seed, tally)
  const plants = kind ? plant(kind, second.prices, seed) : new Map<number, FeedPrice>()
  const prices = applied(second.prices, plants)
  count(tally, service, prices, service.feed(prices, second.atMs), new Set(plants.keys()))
}

/** One market stops stating an item, while the other's price and recent figures double or halve. */
function stalePair(service: MemoryService, seed: number, tally: Tally): void {
  const random = randomNumbers(seed * 104_729)
  const old = new Map(first.prices.map((row) => [`${row.item} ${row.market}`, row]))
  const place = new Map(second.prices.map((row, position) => [`${row.item} ${row.market}`, position]))
  const candidates = second.prices.flatMap((row, position) => {
    const other = place.get(`${row.item} ${row.market === SOURCE_B ? SOURCE_C : SOURCE_B}`)
    const before = old.get(`${row.item} ${row.market}`)
    return other !== undefined && before && before.minor >= NOISE[row.market]! ? [[position, other] as const] : []
  })
  const chosen = shuffledBy(candidates, random).slice(0, FAULTS)
  const dropped = new Set<number>()
  const moved: Plants = new Map()
  for (const [position, other] of chosen) {
    if (dropped.has(other) || moved.has(position)) continue
    dropped.add(position)
    const factor = random() < 0.5 ? 2 : 0.5
    const by = (minor: number | null, power = 1) => minor && Math.max(1, Math.round(minor * factor ** power))
    const row = second.prices[other]!
    const figures = { avg1: by(row.avg1), avg7: by(row.avg7), avg30: by(row.avg30, 0.5), low: by(row.low), mid: by(row.mid) }
    moved.set(other, { ...row, ...figures, minor: by(row.minor)! })
  }
  const prices = applied(second.prices, moved).filter((_, position) => !dropped.has(position))
  service.feed(prices, second.atMs)
  for (const position of dropped) {
    tally.faults += 1
    const { item, market } = second.prices[position]!
    if (isCaught(service.find(item, market), false)) tally.caught += 1
  }
}

function shuffledBy<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((value) => ({ value, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}

/** The price changes as one source that states all its prices on each day, without figures. */
const DAYS = [...new Set(changes.map(({ day }) => day))].sort()

function dailyFeeds(): { atMs: number; prices: FeedPrice[] }[] {
  const none = { avg1: null, avg7: null, avg30: null, low: null, mid: null, high: null, samples: null }
  const standing = new Map<string, FeedPrice>()
  for (const { item, before } of changes) {
    if (before && cards.has(item) && !standing.has(item)) {
      standing.set(item, { item, market: SOURCE_B, minor: Math.max(1, Math.round(before / 5.8)), ...none })
    }
  }
  const feeds = [{ atMs: Date.parse('2026-07-23T16:00:00Z'), prices: [...standing.values()] }]
  const byDay = Map.groupBy(changes, ({ day }) => day)
  for (const day of DAYS) {
    for (const { item, brl } of byDay.get(day)!) {
      const row = standing.get(item)
      if (row) standing.set(item, { ...row, minor: Math.max(1, Math.round(brl / 5.8)) })
    }
    feeds.push({ atMs: Date.parse(`${day}T16:00:00Z`), prices: [...standing.values()] })
  }
  return feeds
}

const feeds = dailyFeeds()

/** @param tallies the day with the faults, and the day after, on which the source states the correct prices again */
function replay(kind: Kind | null, seed: number, tally: Tally, after: Tally): void {
  const service = new MemoryService()
  service.addCards(cards.values())
  const faulty = 3 + (seed % 5)
  const american = first.prices.filter(({ market }) => market === SOURCE_C)
  const stale = new Set(
    kind === 'stale source'
      ? shuffledBy(american, randomNumbers(seed))
          .slice(0, FAULTS)
          .map(({ item }) => item)
      : [],
  )
  for (const [n, { atMs, prices }] of feeds.entries()) {
    if (kind === 'stale source') {
      // The other market continues daily; the prices of items that the source no longer states double.
      service.feed(n < faulty ? american : american.filter(({ item }) => !stale.has(item)), atMs)
      const moved = n < faulty ? prices : prices.map((row) => (stale.has(row.item) ? { ...row, minor: row.minor * 2 } : row))
      service.feed(moved, atMs)
      continue
    }
    const plants = kind && n === faulty ? plant(kind, prices, seed) : new Map<number, FeedPrice>()
    const stated = applied(prices, plants)
    const held = service.feed(stated, atMs)
    if (kind ? n === faulty : n === feeds.length - 1) count(tally, service, stated, held, new Set(plants.keys()))
    if (kind && n === faulty + 1) count(after, service, stated, held, new Set())
  }
  for (const item of stale) {
    const judged = service.find(item, SOURCE_C)!
    if (judged.minor < NOISE[SOURCE_C]!) continue
    tally.faults += 1
    if (isCaught(judged, false)) tally.caught += 1
  }
}

/**
 * The EUR file, which has no figures, as a feed: alone in an empty service, or as if its prices were from the day of the second file, after the first
 * one and before that day's American prices.
 */
function eur(kind: Kind | null, seed: number, alone: boolean, tally: Tally): void {
  if (kind === 'stale source') return
  const service = new MemoryService()
  service.addCards(cards.values())
  if (!alone) service.feed(first.prices, first.atMs)
  const plants = kind ? plant(kind, eurPrices, seed) : new Map<number, FeedPrice>()
  const stated = applied(eurPrices, plants)
  const held = service.feed(stated, second.atMs)
  if (!alone)
    service.feed(
      second.prices.filter(({ market }) => market === SOURCE_C),
      second.atMs + 1,
    )
  count(tally, service, stated, held, new Set(plants.keys()))
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(2)} %`
}

function row(file: string, kind: string, { faults, caught, rows, held, disputed, identical }: Tally): void {
  say(
    `| ${file} | ${kind} | ${faults} | ${percent(caught, faults)} | ${rows} | ${percent(held, rows)} | ${percent(disputed, rows)} | ${percent(identical, rows)} |`,
  )
}

function measured(file: string, run: (kind: Kind | null, seed: number, tally: Tally) => void): void {
  const clean = newTally()
  run(null, 0, clean)
  row(file, 'none', clean)
  for (const kind of KINDS) {
    const tally = newTally()
    for (const seed of SEEDS) run(kind, seed, tally)
    if (tally.faults > 0) row(file, kind, tally)
  }
}

say('| File | Faults | Planted | Caught | True rows | Held | Disputed | Identical figures |\n|---|---|---|---|---|---|---|---|')
measured('day pair', dayPair)
const after = newTally()
measured('11 days', (kind, seed, tally) => replay(kind, seed, tally, after))
row('11 days', 'the day after', after)
measured('EUR, alone', (kind, seed, tally) => eur(kind, seed, true, tally))
measured('EUR, after the first day', (kind, seed, tally) => eur(kind, seed, false, tally))
identicalTrusted()
timeOfJudging()
if (process.argv.includes('--show')) showTrue()

/** Prices of at least 0.50 EUR that are trusted although another item has the same figures. */
function identicalTrusted(): void {
  const service = started()
  service.feed(second.prices, second.atMs)
  let [identical, trusted] = [0, 0]
  const identities = new Set<string | null>()
  for (const { prices } of service.items.values()) {
    for (const price of prices) {
      if (!price.identical) continue
      identical += 1
      identities.add(price.identity)
      if (price.state === 'trusted') trusted += 1
    }
  }
  say(`\nIdentical figures: ${identical} prices in ${identities.size} groups, ${trusted} of them trusted`)
  for (const item of ['xyp-XY101::normal', 'xyp-XY107::normal', 'xyp-XY125::normal', 'xyp-XY192::normal', 'base1-4::holo', 'base2-27::normal']) {
    for (const { market, minor, state, flags } of service.items.get(item)!.prices)
      say(`${item} market ${market} ${minor / 100} ${state} ${flagsOf(flags)}`)
  }
}

/** Time for judging all prices of the service once. */
function timeOfJudging(): void {
  const service = started()
  service.feed(second.prices, second.atMs)
  const times = Array.from({ length: 20 }, () => {
    const begun = performance.now()
    service.judgeAll()
    return performance.now() - begun
  }).sort((a, b) => a - b)
  const prices = [...service.items.values()].reduce((sum, item) => sum + item.prices.length, 0)
  say(`\nJudging ${prices} prices takes ${times[10]!.toFixed(0)} ms, ${((times[10]! * 1_000) / prices).toFixed(2)} µs each`)
}

/** Correct rows that are held or disputed, fifty of each, with the findings of the rules. */
function showTrue(): void {
  const service = started()
  const held = service.feed(second.prices, second.atMs)
  const figuresOf = ({ minor, avg1, avg7, avg30, low, mid }: FeedPrice | Judged) => JSON.stringify({ minor, avg1, avg7, avg30, low, mid })
  const before = started()
  const heldRows = shuffled([...held])
  say(`\nHeld: ${heldRows.length}`)
  for (const [position, { rule, compared, timesOff }] of heldRows.slice(0, 50)) {
    const stated = second.prices[position]!
    const last = before.find(stated.item, stated.market)
    const other = service.find(stated.item, stated.market === SOURCE_B ? SOURCE_C : SOURCE_B)
    say(
      `${stated.item} ${cards.get(stated.item)!.name} ${rule} ${compared} ×${timesOff?.toFixed(1)} market ${stated.market} ${figuresOf(stated)} before ${last ? figuresOf(last) : '-'} other ${other ? figuresOf(other) : '-'}`,
    )
  }
  const disputed = [...service.items.values()].flatMap(({ card, prices }) =>
    prices.filter(({ state }) => state === 'disputed').map((price) => ({ card, price })),
  )
  const byFlag = new Map<string, number>()
  for (const { price } of disputed)
    byFlag.set(`${price.market} ${flagsOf(price.flags)}`, (byFlag.get(`${price.market} ${flagsOf(price.flags)}`) ?? 0) + 1)
  say(`\nDisputed: ${disputed.length} ${JSON.stringify(Object.fromEntries([...byFlag].sort((a, b) => b[1] - a[1])))}`)
  for (const { card, price } of shuffled(disputed).slice(0, 50)) {
    const last = before.find(card.item, price.market)
    const other = service.find(card.item, price.market === SOURCE_B ? SOURCE_C : SOURCE_B)
    const off = service.findings(card.item).filter((f) => f.counts && service.items.get(card.item)!.prices[f.price] === price)
    say(
      `${card.item} ${card.name} market ${price.market} ${off.map((f) => `${f.flag}${f.timesOff ? ` ×${f.timesOff.toFixed(1)} from ${f.compared}` : ''}`)} ${figuresOf(price)} before ${last ? figuresOf(last) : '-'} other ${other ? `${figuresOf(other)} ${other.state}` : '-'}`,
    )
  }
}
