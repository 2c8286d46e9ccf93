// `node bench/games.ts [--items N]`: five games in one generated catalogue: starts, memory, uncached and cached searches, field queries, look-ups.
import { existsSync, rmSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Command } from 'commander'
import { randomNumbers } from '#core/random.ts'
import { answerTo, dataOf } from './answers.ts'
import { type BenchDatabase, startDatabaseServer } from './database.ts'
import { PRICES_PER_ITEM } from './generated-data.ts'
import { copyGeneratedGames, type GeneratedGame } from './generated-games.ts'
import { heldMemory } from './inspect.ts'
import { sending } from './load.ts'
import { paced } from './paced.ts'
import { cpuMicros, type Node, pinProcess, residentMb, SERVER_CORE, startNode } from './processes.ts'

const STARTS = 3
const MAX_WAIT_MS = 30_000
const WARM_QUERIES = 100
const QUERIES = 200
const COMMON_WORDS = 40
const LOOKUP = { ids: 500, lists: 40, perSecond: 5, seconds: 15 }

const { items: size } = new Command('bench games')
  .option('--items <n>', 'items of five games, each with eight prices', Number, 500_000)
  .parse()
  .opts<{ items: number }>()
const random = randomNumbers(size)
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

const server = await startDatabaseServer()
try {
  const database = await server.create('games')
  const games = await copyGeneratedGames(database.ctx.db, size)
  say(`${size} items with ${PRICES_PER_ITEM} prices each; ${games.map(({ game }) => game.slug).join(', ')}; ${server.describe}`)
  pinProcess(server.pid, SERVER_CORE)
  const node = await measureStarts(database)
  const key = database.accounts.professional.key
  for (const [title, requests] of Object.entries(searches(games))) await measureSequence(node, key, title, requests)
  await measureLookups(node, database)
  await node.stop()
  await database.close()
} finally {
  await server.close()
}

/** @returns a node that was started from the database */
async function measureStarts({ url, accounts }: BenchDatabase): Promise<Node> {
  const dataDir = join(server.dir, 'node')
  const file = join(dataDir, 'start.columns')
  const start = async (from: string, minutes: number) => {
    const startedMs = performance.now()
    const node = await startNode(url, { DATA_DIR: dataDir, START_FILE_MINUTES: String(minutes) })
    const { status } = await answerTo(node, accounts.professional.key, '/api/v1/items/1')
    if (status !== 200) throw new Error(`The first response has status ${status}`)
    const seconds = (performance.now() - startedMs) / 1_000
    say(
      `from ${from}: first response after ${seconds.toFixed(1)} s, ${(cpuMicros(node.pid) / 1e6).toFixed(1)} s of the processor, ${residentMb(node.pid).toFixed(0)} MB`,
    )
    return node
  }
  for (let i = 1; i < STARTS; i += 1) await (await start('the database', 0)).stop()
  const writing = await start('the database', 1_440)
  const endMs = performance.now() + MAX_WAIT_MS
  while (!existsSync(file) && performance.now() < endMs) await delay(50)
  const isWritten = existsSync(file)
  say(isWritten ? `start file of ${(statSync(file).size / 1e6).toFixed(0)} MB` : 'no start file: the disk takes too long for it')
  await writing.stop()
  for (let i = 0; isWritten && i < STARTS; i += 1) await (await start('the start file', 1_440)).stop('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
  const node = await start('the database', 0)
  const { held, resident } = await heldMemory(node)
  say(`after a garbage collection: ${Math.round(held / 1e6)} MB held, ${Math.round(resident / 1e6)} MB resident`)
  return node
}

/** Distinct requests by kind, so that each is uncached when it is first sent. */
function searches(games: readonly GeneratedGame[]): Record<string, string[]> {
  const search = (q: string, more = '') => `/api/v1/items/search?q=${encodeURIComponent(q)}${more}`
  const query = (text: string) => `/api/v1/items?query=${encodeURIComponent(text)}`
  const many = (requestOf: (game: GeneratedGame, n: number) => string) =>
    [...new Set(Array.from({ length: 2 * QUERIES }, (_, n) => requestOf(games[n % games.length]!, n)))].slice(0, QUERIES)
  const common = games.flatMap(({ words }) => words.slice(0, COMMON_WORDS))
  const rarity = ({ rarities }: GeneratedGame) => pick(rarities)
  return {
    'search, the 40 most common words of each game': common.map((word) => search(word)),
    'search, one word of thousands': many(({ words }) => search(pick(words))),
    'search, two letters': many((_, n) => search(String.fromCharCode(97 + (n % 26), 97 + (Math.floor(n / 26) % 26)))),
    'search, name and rarity': many((game) => search(`${pick(game.names)} ${rarity(game)}`)),
    'search, common word, number and game': many((game, n) => search(`${game.words[n % COMMON_WORDS]!} ${n}`, `&game=${game.game.slug}`)),
    'query, common word and rarity': many((game, n) => query(`${game.words[n % COMMON_WORDS]!} r:"${rarity(game)}" -number:${n}`)),
    'query, game, rarity of at least, finish': many((game, n) => query(`g:${game.game.slug} r>=rare f:"${pick(game.finishes)}" -number:${n}`)),
    'query, letters that nearly all names have': many((game, n) => query(`a e -"${pick(game.words)}" (r or n) -number:${n}`)),
    'query, price and language': many((_, n) => query(`price>${n / 10} lang:${n % 2 ? 'en' : 'ja'}`)),
    'query, changed since': many((_, n) => query(`updated>=2026-09-${String(1 + (n % 28)).padStart(2, '0')} -number:${n}`)),
    'query, set and number': many((_, n) => query(`set:${pick(games).words[(31 * n) % 400]!} number<${n}`)),
  }
}

async function measureSequence(node: Node, key: string, title: string, requests: readonly string[]): Promise<void> {
  const time = async (request: string) => {
    const startedMs = performance.now()
    const { data } = await dataOf<{ data: unknown[] }>(node, key, request)
    return { ms: performance.now() - startedMs, found: data.length > 0 }
  }
  // Compiled code and open connections, without caching any of the measured results.
  for (let i = 0; i < WARM_QUERIES; i += 1) await time(`${requests[i % requests.length]!}${i}`)
  const first = []
  for (const request of requests) first.push(await time(request))
  const again = []
  for (const request of requests) again.push(await time(request))
  const found = first.filter((one) => one.found).length
  say(`${title}: ${requests.length} requests, ${found} with results; uncached ${figures(first)}; cached ${figures(again)}`)
}

function figures(times: readonly { ms: number }[]): string {
  const sorted = times.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms`
}

async function measureLookups(node: Node, { ctx, accounts }: BenchDatabase): Promise<void> {
  const { rows } = await sql<{ set: string; number: string; game: string }>`
    select c.name as set, i.code as number, i.game from items i join categories c on c.id = i.category_id
    where i.code is not null order by md5(i.id::text) limit ${LOOKUP.ids * LOOKUP.lists}`.execute(ctx.db.kysely)
  const requests = Array.from({ length: LOOKUP.lists }, (_, list) => {
    const ids = rows.slice(list * LOOKUP.ids, (list + 1) * LOOKUP.ids).map(({ set, number }) => ({ set, number }))
    return sending('POST', '/api/v1/items/lookup', { ids })
  })
  const { p50, p99, max } = await paced({
    url: node.url,
    key: accounts.professional.key,
    requests,
    perSecond: LOOKUP.perSecond,
    seconds: LOOKUP.seconds,
  })
  say(
    `look-up of ${LOOKUP.ids} sets and numbers, ${LOOKUP.perSecond} a second: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, longest ${max.toFixed(1)} ms`,
  )
}

function say(line: string): void {
  console.log(line)
}
