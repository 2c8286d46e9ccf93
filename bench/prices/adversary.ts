// `node bench/prices/adversary.ts [histories] [commission percent]`: an adversary tries to move our own price by a tenth for less than `cost_to_move_10pct` says, over
// generated histories; and how many sales the price takes to follow an honest rise of 30 % a week, beside the rule of the release before.
import { randomNumbers } from '#core/random.ts'
import { costToMove } from '#prices/own/cost-to-move.ts'
import { medianOf, ownPriceOf, type OwnSale } from '#prices/own/own-price.ts'
import { beamMove, cheapestMove, type SaleCosts } from './cheapest-move.ts'

const HISTORIES = Number(process.argv[2] ?? 10_000)
const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 27)
/** Without commission, an adversary that knows no rule finds every way in far fewer steps. */
const COSTS: SaleCosts = { commissionPercent: Number(process.argv[3] ?? 0), shippingMinor: 3_000 }
/** Up to this many sales every combination is tried, above a beam of the most promising ones. */
const EXACT_SALES = 12
/** Further sales of the adversary: nothing is stated to need more than four. */
const MOST_EXACT = 3
const MOST_BEAM = 4

const random = randomNumbers(32)
const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))

/** Sales around a level: of few or many sellers and buyers, some of them accounts that sell too, some not stated. */
function historyOf(sales: number): OwnSale[] {
  const level = Math.round(1_000 * 10 ** (random() * 3))
  const spread = [0.02, 0.08, 0.2][whole(0, 2)]!
  const [sellers, buyers] = [whole(1, 8), whole(1, 12)]
  return Array.from({ length: sales }, (_, n): OwnSale => {
    const number = whole(1, buyers)
    const account = random() < 0.3 ? number : null
    const buyer = account ? `account ${account}` : random() < 0.1 ? null : `reference ${number}`
    const minor = Math.max(1, Math.round(level * (1 - spread + random() * spread * 2)))
    const people = { sellerId: whole(1, sellers), buyer, buyerAccountId: account }
    return { id: n + 1, orderId: n + 1, line: 1, minor, soldAtMs: NOW - random() * 89 * DAY_MS, isCancelled: false, lowestAskMinor: null, ...people }
  })
}

interface Score {
  histories: number
  moved: number
  cheaper: number
  stated: number[]
  paid: number[]
}

const scores: Record<'exhaustive' | 'beam', Score> = { exhaustive: newScore(), beam: newScore() }

function newScore(): Score {
  return { histories: 0, moved: 0, cheaper: 0, stated: [], paid: [] }
}

const started = performance.now()
for (let n = 0; n < HISTORIES; n += 1) {
  const history = historyOf(n % 4 === 0 ? whole(13, 40) : whole(1, EXACT_SALES))
  const { price } = ownPriceOf(history, NOW)
  if (!price) continue
  const kind = history.length <= EXACT_SALES ? 'exhaustive' : 'beam'
  const score = scores[kind]
  const stated = costToMove(price, COSTS.shippingMinor).minor
  const paid = kind === 'beam' ? beamMove(history, NOW, COSTS, MOST_BEAM) : cheapestMove(history, NOW, COSTS, MOST_EXACT)
  score.histories += 1
  score.stated.push(stated)
  if (paid === null) continue
  score.moved += 1
  score.paid.push(paid)
  if (paid < stated) score.cheaper += 1
  if (process.stderr.isTTY && n % 100 === 0) process.stderr.write(`\r${n} of ${HISTORIES}`)
}

const tl = (minor: number | undefined) => (minor === undefined ? '–' : (minor / 100).toFixed(2))
const middle = (amounts: number[]) => tl(amounts.toSorted((a, b) => a - b)[amounts.length >> 1])
console.log('| Search | Histories | Moved | For less than stated | Stated (median) | Paid (median) |\n|---|---|---|---|---|---|')
for (const [kind, { histories, moved, cheaper, stated, paid }] of Object.entries(scores)) {
  console.log(`| ${kind} | ${histories} | ${moved} | ${cheaper} | ${middle(stated)} | ${middle(paid)} |`)
}
console.log(`${((performance.now() - started) / 1_000).toFixed(0)} s`)

/** Sales until the price is within a tenth of a level that rose by 30 % at once, after a number of sales at the former level. */
function salesToFollow(priceOf: (sales: OwnSale[]) => number, earlier: number): number {
  const sale = (n: number, minor: number): OwnSale => {
    const people = { sellerId: n % 5, buyer: `reference ${n}`, buyerAccountId: null }
    return { id: n, orderId: n, line: 1, minor, soldAtMs: NOW - (200 - n) * 3_600_000, isCancelled: false, lowestAskMinor: null, ...people }
  }
  const sales = Array.from({ length: earlier }, (_, n) => sale(n, 10_000))
  for (let more = 1; more <= 20; more += 1) {
    sales.push(sale(earlier + more, 13_000))
    if (priceOf(sales) * 11 >= 13_000 * 10) return more
  }
  return Number.NaN
}

console.log('\n| Sales before a rise of 30 % | Sales until the price is within 10 % | Former rule |\n|---|---|---|')
for (const earlier of [1, 3, 4, 5, 10]) {
  const now = salesToFollow((sales) => ownPriceOf(sales, NOW).price!.minor, earlier)
  const before = salesToFollow((sales) => medianOf(sales.slice(-10).map(({ minor }) => minor)), earlier)
  console.log(`| ${earlier} | ${now} | ${before} |`)
}
