// `node bench/prices/evidence.ts [--tuning] [--save FILE] [--beside FILE]`: measures what the evidence rules find and what they find wrongly, on the
// sets and days kept out of tuning (with `--tuning`: on the others). `--save` writes the figures; `--beside` prints saved ones in a second column.
import { readFileSync, writeFileSync } from 'node:fs'
import { CONFIDENCES } from '#prices/evidence/evidence-types.ts'
import { isFar, factorBetween } from '#prices/evidence/thresholds.ts'
import { randomNumbers } from '#core/random.ts'
import {
  copies,
  DAY_MS,
  FAULT_KINDS,
  type FaultKind,
  keyOf,
  otherOf,
  PANEL_DAYS,
  planted,
  readEvidenceData,
  scaled,
  truePanel,
} from './evidence-data.ts'
import { convert, type Judged, MemoryService, NOISE } from './memory-service.ts'
import { type FeedPrice, hasSingles, SOURCE_B, SOURCE_C } from './singles.ts'

const SEEDS = [1, 2, 3]
/** Factors by which the market moves away from a source that repeats its figures. */
const FROZEN_FACTORS = [2, 3, 0.4, 3.8, 6, 11.4]
/** Cards that a source repeats, per factor and run. */
const FROZEN_CARDS = 20
const BRL_PER_EUR = 5.9102

if (!hasSingles()) {
  console.log('Real data not found; skipping the measurement')
  process.exit(0)
}
const option = (name: string) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1]! : null)
const data = await readEvidenceData(process.argv.includes('--tuning'))
const { first, second, cards, eur, counts } = data
const both = new Set(second.prices.filter(({ market }) => market === SOURCE_C).map(({ item }) => item))

/** Counts by line of the table: cases, and those of them that the line's name describes. */
const lines = new Map<string, { cases: number; found: number }>()

function tally(line: string, isFound: boolean): void {
  const counted = lines.get(line) ?? { cases: 0, found: 0 }
  counted.cases += 1
  if (isFound) counted.found += 1
  lines.set(line, counted)
}

function started(...feeds: { atMs: number; prices: readonly FeedPrice[] }[]): MemoryService {
  const service = new MemoryService()
  service.addCards(cards.values())
  for (const { atMs, prices } of feeds) service.feed(prices, atMs)
  return service
}

const only = (prices: readonly FeedPrice[], market: number) => prices.filter((row) => row.market === market)
const isTrusted = (judged: Judged | undefined) => judged?.state === 'trusted'

/** Both markets on thirty days, of which one repeats its figures for some cards while the other one moves away gradually. */
function frozen(market: number, seed: number): void {
  const panel = truePanel(data, seed)
  const random = randomNumbers(seed * 104_729 + market)
  const day0 = new Map(panel(0).map((row) => [keyOf(row), row]))
  const candidates = [...day0.values()].filter(
    (row) =>
      row.market === market && counts(row.item) && row.minor >= 2 * NOISE[market]! && day0.has(keyOf({ item: row.item, market: otherOf(market) })),
  )
  const factors = new Map<string, number>()
  for (let n = 0; n < FROZEN_CARDS * FROZEN_FACTORS.length && candidates.length > 0; n += 1) {
    const [row] = candidates.splice(Math.floor(random() * candidates.length), 1)
    factors.set(row!.item, FROZEN_FACTORS[n % FROZEN_FACTORS.length]!)
  }
  const service = started({ atMs: second.atMs, prices: [...day0.values()] })
  for (let day = 1; day <= PANEL_DAYS; day += 1) {
    const prices = panel(day).map((row) => {
      const factor = factors.get(row.item)
      if (factor === undefined) return row
      return row.market === market ? day0.get(keyOf(row))! : scaled(row, factor ** (day / PANEL_DAYS))
    })
    service.feed(prices, second.atMs + day * DAY_MS)
  }
  for (const [item, factor] of factors) {
    const isCaught = !isTrusted(service.find(item, market))
    tally(`frozen 30 days, market moves ×${factor}: caught`, isCaught)
    // As for the other faults: what moves by less than the noise counts as unchanged by every rule.
    const { minor } = day0.get(keyOf({ item, market: otherOf(market) }))!
    if (Math.abs(minor * factor - minor) >= NOISE[otherOf(market)]!)
      tally(`frozen 30 days, market moves ×${factor}, by more than the noise: caught`, isCaught)
  }
  const [early, late] = [panel(PANEL_DAYS - 22), panel(PANEL_DAYS)]
  for (const [position, row] of late.entries()) {
    if (factors.has(row.item) || !counts(row.item)) continue
    const judged = service.find(row.item, row.market)
    const isStale = judged?.state === 'stale'
    tally('frozen 30 days, true prices: stale', isStale)
    if (early[position]!.minor === row.minor && both.has(row.item)) tally('frozen 30 days, slow true prices with another market: stale', isStale)
  }
}

/** Whole feeds that are wrong: in another currency, or shifted. */
function wholeFeeds(): void {
  const asEuro = only(second.prices, SOURCE_B).map((row) => scaled(row, BRL_PER_EUR))
  let service = started({ atMs: second.atMs - 1, prices: only(second.prices, SOURCE_C) }, { atMs: second.atMs, prices: asEuro })
  for (const { item } of asEuro)
    if (counts(item) && both.has(item)) tally('first load of BRL as EUR: published trusted', isTrusted(service.find(item, SOURCE_B)))
  for (const [factor, name] of [
    [1.12, 'shifted by 12 %'],
    [0.88, 'shifted by -12 %'],
    [BRL_PER_EUR, 'BRL as EUR'],
  ] as const) {
    for (const market of [SOURCE_B, SOURCE_C]) {
      service = started(first, second)
      const shifted = only(second.prices, market).map((row) => scaled(row, factor))
      service.feed(shifted, second.atMs + DAY_MS)
      for (const row of shifted)
        if (counts(row.item) && row.minor >= NOISE[market]!) tally(`a later feed ${name}: published trusted`, isPublishedTrusted(service, row))
    }
  }
  const sets = [...new Set([...cards.values()].map(({ setId }) => setId))].filter((setId) =>
    [...cards.values()].some((card) => card.setId === setId && counts(card.item)),
  )
  for (const setId of sets) {
    const ofSet = only(second.prices, SOURCE_B).filter(({ item, minor }) => cards.get(item)!.setId === setId && minor >= 1)
    if (ofSet.length < 200) continue
    service = started(first, second)
    const prices = only(second.prices, SOURCE_B).map((row) => (cards.get(row.item)!.setId === setId ? scaled(row, 1.3) : row))
    service.feed(prices, second.atMs + DAY_MS)
    for (const row of prices)
      if (cards.get(row.item)!.setId === setId && row.minor >= NOISE[SOURCE_B]!)
        tally('a later feed, one set shifted by 30 %: published trusted', isPublishedTrusted(service, row))
  }
  // A true day must not be stopped.
  service = started(first)
  service.feed(second.prices, second.atMs)
  for (const row of second.prices)
    if (counts(row.item)) tally('a true later feed: published', service.find(row.item, row.market)?.confirmedAtMs === second.atMs)
}

function isPublishedTrusted(service: MemoryService, row: FeedPrice): boolean {
  const judged = service.find(row.item, row.market)
  return isTrusted(judged) && judged!.minor === row.minor
}

/** Single faults, in a first feed of both markets or in a later one. */
function singleFaults(kind: FaultKind, seed: number): void {
  const plants = planted(data, second.prices, kind, seed)
  const prices = second.prices.map((row, position) => plants.get(position) ?? row)
  for (const [name, service] of [
    ['first price', started({ atMs: second.atMs, prices })],
    ['later price', started(first, { atMs: second.atMs, prices })],
  ] as const) {
    for (const row of plants.values()) tally(`${name}, ${kind}: caught`, !isPublishedTrusted(service, row))
  }
}

/** Rows without faults: what is held and disputed, markets that are far apart, and who is right according to the EUR list. */
function trueRows(): void {
  const service = started(first)
  const held = service.feed(second.prices, second.atMs)
  for (const [position, row] of second.prices.entries()) if (counts(row.item)) tally('true rows: held', held.has(position))
  const alone = started({ atMs: second.atMs, prices: second.prices })
  disputedOf(
    'all rows',
    service,
    second.prices.filter(({ item }) => counts(item)),
  )
  // Of rows with the same figures at most one is true, so the others do not count.
  const groups = copies(data, second.prices).filter(([row]) => counts(row!.item))
  const copied = new Set(groups.flat())
  for (const [name, judging] of [
    ['true rows', service],
    ['true first prices', alone],
  ] as const) {
    disputedOf(
      name,
      judging,
      second.prices.filter((row) => counts(row.item) && !copied.has(row)),
    )
    for (const group of groups)
      tally(
        `${name}: disputed`,
        group.every((row) => judging.find(row.item, row.market)?.state === 'disputed'),
      )
  }
  for (const [item, { prices }] of service.items) {
    if (prices.length < 2) continue
    const [b, c] = [service.find(item, SOURCE_B)!, service.find(item, SOURCE_C)!]
    const converted = convert(c.minor, SOURCE_C, SOURCE_B)
    if (counts(item) && isTrusted(b) && isTrusted(c)) {
      const isApart = isFar(converted, b.minor, 5, NOISE[SOURCE_B]!)
      tally('two trusted prices: 5 times apart', isApart)
      tally('two trusted prices: 5 times apart without a stated reason', isApart && !service.isExplained(item))
    }
    const judge = eur.get(item)
    if (!judge || b.state === 'stale' || c.state === 'stale' || !isFar(converted, b.minor, 2, NOISE[SOURCE_B]!)) continue
    const conflict = `${isFar(converted, b.minor, 4.5, NOISE[SOURCE_B]!) ? '4.5 times' : '2 to 4.5 times'} apart${counts(item) ? '' : ' (other sets)'}`
    tally(`markets ${conflict}: decided`, isTrusted(b) !== isTrusted(c))
    if (isTrusted(b) === isTrusted(c)) continue
    const isBRight = factorBetween(b.minor, judge.minor) <= factorBetween(converted, judge.minor)
    tally(`markets ${conflict}, decided, EUR list as judge: right side trusted`, isTrusted(b) === isBRight)
  }
}

function disputedOf(name: string, service: MemoryService, rows: readonly FeedPrice[]): void {
  for (const row of rows) tally(`${name}: disputed`, service.find(row.item, row.market)?.state === 'disputed')
}

/** How often a price is off by more than half from what its source states thirteen days later, by confidence. */
function calibration(): void {
  const service = started(first)
  const later = new Map(second.prices.map((row) => [keyOf(row), row]))
  for (const row of first.prices) {
    const [judged, next] = [service.find(row.item, row.market), later.get(keyOf(row))]
    if (!judged || !next || !counts(row.item)) continue
    for (const confidence of CONFIDENCES) tally(`confidence ${confidence}: share`, judged.confidence === confidence)
    tally(`confidence ${judged.confidence}: wrong`, isFar(next.minor, judged.minor, 1.5, NOISE[row.market]!))
  }
}

for (const seed of SEEDS) {
  for (const market of [SOURCE_B, SOURCE_C]) frozen(market, seed)
  for (const kind of FAULT_KINDS) singleFaults(kind, seed)
}
wholeFeeds()
trueRows()
calibration()

type Saved = Record<string, string>
const share = ({ cases, found }: { cases: number; found: number }) => `${((found / cases) * 100).toFixed(2)} %`
const figures: Saved = Object.fromEntries([...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([line, counted]) => [line, share(counted)]))
const saveTo = option('--save')
if (saveTo) writeFileSync(saveTo, `${JSON.stringify(figures, null, 2)}\n`)
const besideOf = option('--beside')
const beside: Saved | null = besideOf ? (JSON.parse(readFileSync(besideOf, 'utf8')) as Saved) : null
console.log(`| Measured${beside ? ' | Before' : ''} | ${beside ? 'Now' : 'Share'} | Cases |\n|---|${beside ? '---|' : ''}---|---|`)
for (const line of new Set([...Object.keys(beside ?? {}), ...Object.keys(figures)])) {
  console.log(`| ${line}${beside ? ` | ${beside[line] ?? '–'}` : ''} | ${figures[line] ?? '–'} | ${lines.get(line)?.cases ?? 0} |`)
}
