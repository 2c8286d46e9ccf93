// `node bench/search/field-queries.ts [--generated ROWS | --games ROWS]`: compares generated field queries with a filter over the database rows, then sends random
// noise as queries, and measures durations.
import { sql } from 'kysely'
import { readConfig } from '#config.ts'
import { readFieldQuery } from '#catalogue/field-query/field-query.ts'
import { canonical, parseFieldQuery, type Query, type Term } from '#catalogue/field-query/parse.ts'
import { finishRules, finishWords } from '#catalogue/records/finishes.ts'
import { languageCode } from '#catalogue/records/languages.ts'
import { GAMES, gameOf } from '#games/games.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { ServiceError } from '#core/errors.ts'
import { MARKETS } from '#core/markets.ts'
import { normalCode, numberOf } from '#index/codes.ts'
import { fold } from '#index/fold.ts'
import { startDatabaseServer } from '../database.ts'
import { copyGeneratedData } from '../generated-data.ts'
import { copyGeneratedGames } from '../generated-games.ts'
import { randomNumbers } from '#core/random.ts'
import { importRealData } from '../real-data.ts'

const QUERIES = 2_000
/** Random items for which a query is compared with the filter. */
const SAMPLED_ROWS = 2_000
const NOISE = 20_000
const MAX_MS = 50

interface Row {
  id: number
  name: string
  code: string | null
  genre: string
  game: string
  set: string
  slugs: string[]
  attributes: { name: string; value: string }[]
  details: { hp?: number; types?: string[] }
  prices: { market: number; label: string; minor: number; ungraded: boolean }[]
  home: string
}

const random = randomNumbers(7)
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

const server = await startDatabaseServer()
try {
  const database = await server.create('queries')
  const rowsAfter = (option: string) => Number(process.argv[process.argv.indexOf(option) + 1])
  const generated = process.argv.includes('--generated')
  if (generated) await copyGeneratedData(database.ctx.db, rowsAfter('--generated'))
  else if (process.argv.includes('--games')) await copyGeneratedGames(database.ctx.db, rowsAfter('--games'))
  else await importRealData(database.ctx, ({ file }) => process.stderr.write(`imported ${file}\n`))
  const catalogue = new Catalogue(database.ctx.db, { ...readConfig({}), now: () => new Date() })
  await catalogue.load()
  if (!generated) await compareWithFilter(catalogue)
  timeThem(catalogue)
  feedNoise(catalogue)
  await database.close()

  async function compareWithFilter({ queries, items }: Catalogue): Promise<void> {
    const rows = await readRows()
    let wrong = 0
    let found = 0
    for (let n = 0; n < QUERIES; n += 1) {
      const text = generateQuery(rows)
      const { query, canonical: form } = readFieldQuery(text)
      const again = readFieldQuery(form)
      const got = queries.page({ query: readFieldQuery(text) }, 'id', 'asc', 0, 1_000_000)
      const gotAgain = queries.page({ query: again }, 'id', 'asc', 0, 1_000_000)
      const ids = new Set(Array.from(got.rows, (row) => items.id[row]!))
      found += ids.size
      const sampled = Array.from({ length: SAMPLED_ROWS }, () => pick(rows))
      const differing = sampled.filter((row) => holds(query, row) !== ids.has(row.id))
      if (differing.length > 0 || gotAgain.total !== got.total || again.canonical !== form) {
        wrong += 1
        if (wrong < 10)
          console.log(`differs: ${text} → ${form}: item ${differing[0]?.id}, ${got.total} items, ${gotAgain.total} by the canonical form`)
      }
    }
    console.log(`${QUERIES} generated queries, ${(found / QUERIES).toFixed(0)} items each: ${wrong} differ from the filter`)
  }

  async function readRows(): Promise<Row[]> {
    const { rows } = await sql<Row>`
      select i.id, i.name, i.code, i.genre, i.game, i.attributes, i.details, i.market as home, c.name as set,
        (with recursive up as (select c.id, c.parent_id, c.slug, c.name
          union all select p.id, p.parent_id, p.slug, p.name from categories p join up on p.id = up.parent_id)
          select array_agg(up.slug || chr(10) || up.name || chr(10) || array_to_string(coalesce(k.codes, '{}'), chr(10)))
          from up left join category_codes k on k.category_id = up.id) as slugs,
        coalesce((select jsonb_agg(jsonb_build_object('market', p.market, 'label', g.name, 'minor', (p.price * 100)::int8,
            'ungraded', t.slug = 'ungraded')) from prices p join groups g on g.id = p.label_id join groups t on t.id = g.parent_id
          where p.item_id = i.id), '[]') as prices
      from items i join categories c on c.id = i.category_id order by i.id`.execute(database.ctx.db.kysely)
    return rows
  }
} finally {
  await server.close()
}

function generateQuery(rows: readonly Row[], depth = 0): string {
  const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const minus = random() < 0.2 ? '-' : ''
    if (depth < 2 && random() < 0.2) return `${minus}(${generateQuery(rows, depth + 1)})`
    return minus + generateTerm(pick(rows))
  })
  return parts.reduce((text, part) => `${text}${random() < 0.3 ? ' or ' : ' '}${part}`)
}

function generateTerm(row: Row): string {
  const quoted = (text: string) => (/^[\p{L}\p{N}]+$/u.test(text) && random() < 0.5 ? text : `"${text.replace(/["\\]/gu, '\\$&')}"`)
  const attribute = (name: string) => row.attributes.find((one) => one.name === name)?.value
  const equality = () => pick([':', '=', '!='])
  const order = () => pick(['<', '<=', '>', '>=', '=', ':', '!='])
  const rarity = attribute('Rarity')
  const finish = attribute('Finish')
  const price = row.prices[0]
  const choices = [
    `name${equality()}${quoted(row.name)}`,
    `n:${quoted(pick(row.name.split(' ')))}`,
    `set${equality()}${quoted(pick(pick(row.slugs).split('\n').filter(Boolean)))}`,
    `genre:${row.genre}`,
    `game:${row.game}`,
    ...(row.code
      ? [
          `number${pick([':', '=', '!='])}${quoted(row.code.split('/')[0]!)}`,
          `code:${quoted(row.code)}`,
          `number${pick(['<', '>='])}${Math.floor(random() * 200)}`,
        ]
      : []),
    ...(rarity ? [`r${equality()}${quoted(rarity)}`] : []),
    ...(rarity && GAMES.ranks.has(fold(rarity)) ? [`r${pick(['<', '<=', '>', '>='])}${quoted(rarity)}`] : []),
    ...(finish ? [`finish${equality()}${quoted(finish)}`] : []),
    ...(attribute('Languages') ? [`lang${equality()}${pick(attribute('Languages')!.split(', '))}`] : []),
    ...(attribute('Language') ? [`lang${equality()}${quoted(attribute('Language')!)}`] : []),
    ...(attribute('Illustrator') ? [`artist${equality()}${quoted(attribute('Illustrator')!)}`] : []),
    ...(row.details.hp ? [`hp${order()}${row.details.hp}`] : []),
    ...(row.details.types?.length ? [`type${equality()}${row.details.types[0]}`] : []),
    ...(price ? [`price.${MARKETS[price.market]}${order()}${price.minor / 100}`, `label${equality()}${quoted(price.label)}`] : []),
  ]
  return pick(choices)
}

function rankOf(rarity: string, game: string): number | undefined {
  return gameOf(game).ranks.get(fold(rarity)) ?? GAMES.ranks.get(fold(rarity))
}

function holds(query: Query, row: Row): boolean {
  if ('all' in query) return query.all.every((part) => holds(part, row))
  if ('any' in query) return query.any.some((part) => holds(part, row))
  if ('not' in query) return !holds(query.not, row)
  if (query.operator === '!=') return !termHolds({ ...query, operator: '=' }, row)
  return termHolds(query, row)
}

function termHolds(term: Term, row: Row): boolean {
  const { operator, value } = term
  const folded = fold(value)
  const isText = (text: string | undefined) => text !== undefined && (operator === ':' ? fold(text).includes(folded) : fold(text) === folded)
  const compares = (a: number | undefined, b: number) => {
    if (a === undefined) return false
    return operator === '<' ? a < b : operator === '<=' ? a <= b : operator === '>' ? a > b : operator === '>=' ? a >= b : a === b
  }
  const attribute = (name: string) => row.attributes.find((one) => one.name === name)?.value
  const number = row.code === null ? undefined : numberOf(row.code)
  switch (term.field) {
    case 'name':
      return isText(row.name)
    case 'code': {
      if (row.code === null) return false
      const [[a, b = ''], [c, d = '']] = [normalCode(row.code).split('/'), normalCode(value).split('/')] as [string[], string[]]
      return a === c && (b === d || b === '' || d === '')
    }
    case 'number':
      if (operator === ':' || operator === '=') return number === numberOf(value)
      return number !== undefined && /^\d+$/u.test(number) && compares(Number(number), Number(value))
    case 'set':
      return row.slugs.some((texts) => {
        const [slug, name, ...codes] = texts.split('\n')
        return slug === folded || isText(name) || fold(name!) === folded || codes.some((code) => code !== '' && fold(code) === folded)
      })
    case 'rarity':
      if (operator === ':' || operator === '=') return isText(attribute('Rarity'))
      return compares(rankOf(attribute('Rarity') ?? '', row.game), rankOf(value, row.game)!)
    case 'finish': {
      const has = attribute('Finish')
      if (has === undefined) return false
      const rules = finishRules(row.game)
      const [own, queried] = [new Set(finishWords(has, rules)), new Set(finishWords(value, rules))]
      return queried.isSubsetOf(own) && (own.size === queried.size || (operator === ':' && queried.size > 0))
    }
    case 'lang':
      return (attribute('Languages') ?? attribute('Language') ?? '').split(', ').some((one) => languageCode(fold(one)) === languageCode(folded))
    case 'illustrator':
      return isText(attribute('Illustrator'))
    case 'hp':
      return compares(row.details.hp === 0 ? undefined : row.details.hp, Number(value))
    case 'type':
      return row.details.types
        ? row.details.types.includes(value)
        : (attribute('Color')
            ?.split(/[,]/u)
            .some((one) => fold(one) === folded) ?? false)
    case 'genre':
      return row.genre === value
    case 'game':
      return row.game === value
    case 'label':
      return row.prices.some(({ label }) => label === value)
    default: {
      const market = (MARKETS as readonly string[]).indexOf(term.field!.slice('price.'.length))
      const priced = row.prices.filter((one) => one.market === market && one.ungraded)
      const nearMint = priced.find(({ label }) => label === 'Near Mint')
      const minor = nearMint?.minor ?? (priced.length > 0 ? Math.min(...priced.map((one) => one.minor)) : undefined)
      return compares(minor, Math.round(Number(value) * 100))
    }
  }
}

function timeThem({ queries, items }: Catalogue): void {
  const texts = [
    'set:base1 number:4',
    'name:"dark charizard"',
    'r>=rare finish:holo lang:ja',
    'genre:sealed price<20',
    'price.source_a>=5 -label:"PSA 10"',
    '(name:a or name:b) hp>50 -type:fire',
    'artist:a price>1 or number<50',
    'charizard',
    'updated>=2020-01-01',
    'a or e or i or o or u',
    'a e i o u -x',
    '-(a b) -(c d) -q',
    '(ex or gx or vmax) -(owl or moth) a price>5',
    Array.from({ length: 20 }, (_, n) => `name:${String.fromCharCode(97 + n)}`).join(' or '),
  ]
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    for (const [at, text] of texts.entries()) {
      // A unique condition, so that no result is cached.
      const unique = `${text} -hp=${60_000 + round * 100 + at}`.slice(0, 500)
      const started = performance.now()
      const { total } = queries.page({ query: readFieldQuery(unique.split(' or ').length > 19 ? text : unique) }, 'name', 'asc', 0, 20)
      const ms = performance.now() - started
      times.push(ms)
      if (round === 4) console.log(`${ms.toFixed(1).padStart(6)} ms  ${total} items  ${unique}`)
    }
  }
  console.log(
    `${items.live.size} items: longest ${Math.max(...times.slice(texts.length)).toFixed(1)} ms (goal ${MAX_MS}), first round ${Math.max(...times.slice(0, texts.length)).toFixed(1)} ms`,
  )
}

/** Meaningless texts: each must be parsed, or rejected with a reason. */
function feedNoise({ queries }: Catalogue): void {
  const pieces = [
    'set:',
    'name',
    '=',
    '!=',
    '<',
    '>',
    '"',
    '(',
    ')',
    '-',
    ' ',
    ' or ',
    'and ',
    '\\',
    'price.',
    'r>=rare',
    'é',
    '卡',
    '\u0000',
    '9'.repeat(12),
    'label:PSA',
    ':',
    'lang:ja',
    '.',
    'hp>',
    '1',
    '💥',
    '\n',
  ]
  let refused = 0
  for (let n = 0; n < NOISE; n += 1) {
    const text = Array.from({ length: 1 + Math.floor(random() * 12) }, () => pick(pieces)).join('')
    try {
      const query = readFieldQuery(text)
      if (canonical(parseFieldQuery(query.canonical)) !== query.canonical) console.log(`reads back differently: ${text}`)
      queries.page({ query: query }, 'name', 'asc', 0, 20)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      refused += 1
    }
  }
  console.log(`${NOISE} texts of noise: ${refused} refused with a reason, no other failure`)
}
