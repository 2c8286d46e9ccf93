// Workload 6: searches of published listings by text, price, game and language, in every sort order, with all optional parts.
import { sql } from 'kysely'
import type { Db } from '#db/schema.ts'
import { answerTo, dataOf, spread } from '../answers.ts'
import type { Traffic } from '../compare.ts'
import { randomNumbers } from '#core/random.ts'
import type { Stage } from '../stage.ts'
import { type HttpWorkload, httpWorkload } from '../workload.ts'

const FLAGS = 'with_item=1&with_pc=1&with_average=1&with_last_sales=1'
const REQUESTS = 1_400
/** More distinct requests than any result cache holds. */
const FRESH_REQUESTS = 12_000
const WORDS = 40
/** Words in titles besides the item's name: languages and grades. */
const SECOND_WORDS = ['psa', 'near', 'ja', 'tr']
const PER_PAGE = 20
/** The rarest language used for deep pages has an eighth of the listings. */
const DEEP_SHARE = 1 / 8

interface Choice {
  pick: <T>(from: readonly T[]) => T
  words: string[]
  deepestPage: number
  random: () => number
}

interface Search {
  id: string
  title: string
  goal: number | null
  /** number of distinct requests */
  queries: number
  query: (choice: Choice) => string
}

const SEARCHES: Search[] = [
  {
    id: '6',
    title: 'Listings: word, prices, game[], language[], by price, all flags',
    goal: 0.2,
    queries: REQUESTS,
    query: (choice) => `search=${choice.pick(choice.words)}&${filtered(choice)}`,
  },
  {
    id: '6n',
    title: `Listings: the same, ${FRESH_REQUESTS} searches, none repeated soon`,
    goal: null,
    queries: FRESH_REQUESTS,
    query: (choice) => `search=${choice.pick(choice.words)}&${filtered(choice)}`,
  },
  {
    id: '6w',
    title: 'Listings: the same with two words',
    goal: 0.2,
    queries: REQUESTS,
    query: (choice) => `search=${choice.pick(choice.words)}%20${choice.pick(SECOND_WORDS)}&${filtered(choice)}`,
  },
  { id: '6r', title: 'Listings: the same without a word', goal: null, queries: 200, query: filtered },
  {
    id: '6d',
    title: 'Listings: language[], deep pages, every sort',
    goal: null,
    queries: REQUESTS,
    query: ({ pick, random, deepestPage }) => {
      const page = 1 + Math.floor(random() * deepestPage)
      return `language[]=${pick(['en', 'ja', 'tr'])}&page=${page}&sort_by=${pick(['latest', 'price_low', 'pc_multiplier_desc', 'popular'])}`
    },
  },
  {
    id: '6p',
    title: 'Listings: popular, pages 1-100',
    goal: null,
    queries: 100,
    query: ({ random }) => `page=${1 + Math.floor(random() * 100)}`,
  },
]

export const listingWorkloads: HttpWorkload[] = SEARCHES.map((search) =>
  httpWorkload({ ...search, data: 'listings', traffic: (stage) => traffic(stage, search) }),
)

function filtered({ pick, random }: Choice): string {
  const from = 1 + Math.floor(random() * 4_000)
  const prices = `min_price=${from}&max_price=${from + 500 + Math.floor(random() * 4_000)}`
  return `${prices}&game[]=pokemon&language[]=${pick(['en', 'ja'])}&sort_by=${pick(['price_low', 'price_high'])}&${FLAGS}`
}

/** @throws Error if a total differs from the database's count */
async function traffic(stage: Stage, { goal, queries, query }: Search): Promise<Traffic> {
  const { database, effort, listings } = stage
  const random = randomNumbers(6)
  const choice: Choice = {
    random,
    pick: (from) => from[Math.floor(random() * from.length)]!,
    words: await wordsOf(database.ctx.db),
    deepestPage: Math.max(1, Math.floor((listings * 0.95 * DEEP_SHARE) / PER_PAGE)),
  }
  const requests = Array.from({ length: queries }, () => `/api/v1/plus/listings?${query(choice)}`)
  const node = await stage.node()
  const plain = await stage.startPlain()
  const { key } = database.accounts.plus
  const checked = spread(requests, 2 * effort.totals)
  let bytes = 0
  for (const [i, path] of checked.entries()) {
    const { status, text, bytes: size } = await answerTo(node, key, path)
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    bytes += size
    if (i % 2 === 1) continue
    const { total } = (JSON.parse(text) as Found).pagination
    const counted = (await dataOf<Found>(plain, key, path)).pagination.total
    if (total !== counted) throw new Error(`${path}: total ${total}, but the database counts ${counted}`)
  }
  await plain.stop()
  return { plan: 'plus', requests, bytes: Math.round(bytes / checked.length), plain: goal !== null }
}

interface Found {
  pagination: { total: number }
}

/** Frequent words of item names without accents, which the baseline server would distinguish. */
async function wordsOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ word: string }>`
    select word from items, regexp_split_to_table(lower(name), ' ') as word
    where word ~ '^[a-z]{4,}$' group by word order by count(*) desc, word limit ${WORDS}`.execute(db.kysely)
  return rows.map(({ word }) => word)
}
