// `node bench/search/queries.ts [--misses]`: how often the right item is the first result, or among the first five, for 400 realistic searches, by
// class. Uses the catalogue at DATABASE_URL, or imports the real one first.
import { readFileSync } from 'node:fs'
import { readConfig } from '#config.ts'
import { byPlainness, finishKey, finishRules, finishSlug, finishWords } from '#catalogue/records/finishes.ts'
import { languageCode } from '#catalogue/records/languages.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { numberOf } from '#index/codes.ts'
import { fold } from '#index/fold.ts'
import { startDatabaseServer } from '../database.ts'
import { importRealData } from '../real-data.ts'

/** A search and the item that it means. Without a finish, that is the plainest version of the card. */
interface Sought {
  class: string
  query: string
  game: string
  genre?: string
  name?: string
  /** TCGdex id of the set */
  set?: string
  number?: string
  language?: string
  finish?: string
  /** whether any version that has the words of the finish is right */
  anyFinish?: boolean
}

const FORMATS = ['tcgdex', 'pokemontcg', 'punk-records', 'tcgplayer-sealed', 'cardmarket-products']
const GOALS = { first: 88, five: 95 }
const CLASS_GOALS = { first: 70, five: 85 }
/** Goals for the classes that were good from the start. */
const GOOD_GOALS = { first: 94, five: 99 }
const GOOD = ['name and number', 'typo', 'accents and Turkish letters']

const misses = process.argv.includes('--misses')
const sought = readFileSync(new URL('queries.ndjson', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Sought)

const url = process.env.DATABASE_URL
const server = url ? null : await startDatabaseServer()
try {
  const database = await server?.create('searches')
  if (database) await importRealData(database.ctx, ({ file }) => process.stderr.write(`imported ${file}\n`), FORMATS)
  const db = database?.ctx.db ?? openPool<Schema>({ url: url!, max: 2, applicationName: 'mintmark bench' })
  const catalogue = new Catalogue(db, { ...readConfig({}), now: () => new Date() })
  await catalogue.load()
  report(catalogue)
  await (database ?? db).close()
} finally {
  await server?.close()
}

function report(catalogue: Catalogue): void {
  const counts = new Map<string, { searches: number; first: number; five: number }>()
  let longest = 0
  for (const one of sought) {
    const right = rightRows(catalogue, one)
    if (right.size === 0) throw new Error(`no item is right for ${JSON.stringify(one)}`)
    const started = performance.now()
    const { rows } = catalogue.queries.search(one.query, {}, 0, 5)
    longest = Math.max(longest, performance.now() - started)
    const at = rows.findIndex((row) => right.has(row))
    for (const name of [one.class, 'all']) {
      const count = counts.get(name) ?? { searches: 0, first: 0, five: 0 }
      counts.set(name, { searches: count.searches + 1, first: count.first + Number(at === 0), five: count.five + Number(at >= 0) })
    }
    if (misses && at !== 0) {
      console.log(`${at < 0 ? 'missed' : `at ${at + 1}`}: ${one.query}: ${[...right].map((row) => described(catalogue, row)).join(' or ')}`)
      for (const row of rows.slice(0, 3)) console.log(`    ${described(catalogue, row)}`)
    }
  }
  for (const [name, { searches, first, five }] of counts) {
    const goals = name === 'all' ? GOALS : GOOD.includes(name) ? GOOD_GOALS : CLASS_GOALS
    const share = (count: number, goal: number) =>
      `${((100 * count) / searches).toFixed(1).padStart(5)} %${(100 * count) / searches < goal ? ` < ${goal}` : ''}`
    console.log(
      `${name.padEnd(32)} ${String(searches).padStart(4)}  first ${share(first, goals.first).padEnd(12)} among five ${share(five, goals.five)}`,
    )
  }
  console.log(`longest search ${longest.toFixed(1)} ms`)
}

/** The rows of the right items. */
function rightRows({ items, categories }: Catalogue, one: Sought): Set<number> {
  const name = one.name === undefined ? null : fold(one.name)
  const rows: number[] = []
  items.live.forEach((row) => {
    if (items.gameOf(row) !== one.game || (one.genre ?? 'single') !== items.genreOf(row)) return
    if (name !== null && items.names.keys[items.name[row]!] !== name) return
    if (one.number !== undefined && numberOf(items.codeOf(row) ?? '') !== numberOf(one.number)) return
    if (one.set !== undefined && !categories.get(items.categoryId[row]!)?.codes.includes(one.set)) return
    const languages = items.facets.values.language.keys[items.facets.columns.language[row]!]!
    const languageCodes = languages === '' ? ['en'] : languages.split(',').map((language) => languageCode(language.trim()))
    if (one.genre === undefined && !languageCodes.includes(one.language ?? 'en')) return
    rows.push(row)
  })
  const finish = (row: number) => items.facets.values.finish.texts[items.facets.columns.finish[row]!]!
  if (one.finish !== undefined) {
    const has = (row: number) => {
      const rules = finishRules(items.gameOf(row))
      const words = finishWords(finish(row), rules)
      return one.anyFinish
        ? finishWords(one.finish!, rules).every((word) => words.includes(word))
        : finishKey(finish(row), rules) === finishKey(one.finish!, rules)
    }
    return new Set(rows.filter(has))
  }
  if (one.genre !== undefined || rows.length === 0) return new Set(rows)
  const rules = finishRules(items.gameOf(rows[0]!))
  const plainest = rows.toSorted((a, b) => byPlainness(rules)(finishSlug(finish(a), rules), finishSlug(finish(b), rules)))[0]!
  return new Set(rows.filter((row) => finishKey(finish(row), rules) === finishKey(finish(plainest), rules)))
}

function described({ items, categories }: Catalogue, row: number): string {
  const { facets } = items
  const of = (facet: 'finish' | 'rarity' | 'language') => facets.values[facet].texts[facets.columns[facet][row]!]!
  const category = categories.get(items.categoryId[row]!)
  return [items.id[row], items.nameOf(row), items.codeOf(row), category?.name, category?.codes.join(' '), of('finish'), of('rarity'), of('language')]
    .filter((part) => part !== '' && part !== null)
    .join(' · ')
}
