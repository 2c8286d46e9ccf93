// `node bench/matching.ts`: measures the matcher's results for the real catalogue and price files against the goals.
import { createReadStream } from 'node:fs'
import { csvRows, type FeedSource, gunzip } from '#core/files/feed.ts'
import { cardmarketProducts } from '#catalogue/sources/cardmarket-products.ts'
import { pokemontcg } from '#catalogue/sources/pokemontcg.ts'
import { punkRecords } from '#catalogue/sources/punk-records.ts'
import { tcgdex } from '#catalogue/sources/tcgdex.ts'
import { tcgplayerSealed } from '#catalogue/sources/tcgplayer-sealed.ts'
import type { CatalogueFormat, CategoryRecord, ItemRecord } from '#catalogue/records/catalogue-records.ts'
import { assign } from '#matching/assign.ts'
import { type CardDescription, CardIndex } from '#matching/card-index.ts'
import { normalName } from '#matching/names.ts'
import { normalNumber } from '#matching/numbers.ts'
import type { Assignment, Decisions, MatchRecord } from '#matching/matcher-types.ts'
import { matchRecordOf } from '#matching/source-records.ts'
import { randomNumbers } from '#core/random.ts'

const FOLDER = new URL('../../shared/data/', import.meta.url)
const NO_DECISIONS: Decisions = { same: [], apart: [], setMaps: [], postponed: [] }
const SAMPLE = 500
const PLANTED = 100
const SHOWN = Number(process.argv[2] ?? 15)

const CATALOGUE: readonly [format: CatalogueFormat, files: string[]][] = [
  [tcgdex, ['series', 'sets', 'cards'].map((kind) => `pokemon/tcgdex-${kind}.ndjson.gz`)],
  [tcgdex, ['pokemon/tcgdex-sets.ndjson.gz', 'pokemon/tcgdex-api-en-2021.ndjson.gz']],
  [tcgdex, ['series', 'sets', 'cards'].map((kind) => `pokemon/tcgdex-asia-${kind}.ndjson.gz`)],
  [pokemontcg, ['pokemon/pokemontcg-sets.json.gz', 'pokemon/pokemontcg-cards.ndjson.gz']],
  ...['en', 'ja', 'fr'].map((language): [CatalogueFormat, string[]] => [
    punkRecords,
    [`onepiece/punk-records-packs.${language}.json.gz`, `onepiece/punk-records-cards.${language}.ndjson.gz`],
  ]),
  [tcgplayerSealed, ['sealed/pokemon-sealed-tcgplayer-2025-09-04.csv.gz']],
  [tcgplayerSealed, ['sealed/pokemon-sealed-tcgplayer.csv.gz']],
  [cardmarketProducts, ['sealed/pokemon-cardmarket-nonsingles.json.gz', 'sealed/onepiece-cardmarket-nonsingles.part.json.gz']],
]

const facts = new Map<string, ItemRecord>()
const records = await readCatalogue()
print('source records', records.length)

const started = process.cpuUsage()
const assignment = assign(records, NO_DECISIONS)
const { user, system } = process.cpuUsage(started)
print(
  'assign',
  `${((user + system) / 1e6).toFixed(2)} s of processor time, ${assignment.items.length} items, ${assignment.waiting.length} cards waiting`,
)
print('memory', `${Math.round(process.memoryUsage().rss / 1024 / 1024)} MB resident`)
reportSetMaps(assignment)
reportJoins(assignment)
reportDuplicates(assignment)
reportWaiting(assignment)
reportContradictions(assignment)
reportPlanted()
reportSealed(assignment)
const building = process.cpuUsage()
const index = indexOf(assignment)
print('CardIndex built', `${(process.cpuUsage(building).user / 1e6).toFixed(2)} s of processor time`)
await reportEur(index)

function print(what: string, value: string | number): void {
  process.stdout.write(`${what}: ${value}\n`)
}

function show(lines: readonly string[]): void {
  for (const line of lines.slice(0, SHOWN)) process.stdout.write(`    ${line}\n`)
  if (lines.length > SHOWN) process.stdout.write(`    ... ${lines.length - SHOWN} more\n`)
}

function source(file: string): FeedSource {
  return { bytes: gunzip(createReadStream(new URL(file, FOLDER))), fileName: file }
}

async function readCatalogue(): Promise<MatchRecord[]> {
  const byKey = new Map<string, MatchRecord>()
  const categories = new Map<string, CategoryRecord>()
  for (const [format, files] of CATALOGUE) {
    const read = format.open(format.defaultMarket, new Map())
    for (const file of files) {
      for await (const rows of read(source(file))) {
        for (const row of rows) {
          if ('category' in row) categories.set(row.category.ref, { ...categories.get(row.category.ref), ...row.category })
          if (!('item' in row)) continue
          const record = matchRecordOf(row.item, categories.get(row.item.category) ?? null)
          byKey.set(record.key, record)
          facts.set(record.key, row.item)
        }
      }
    }
  }
  return [...byKey.values()]
}

function belowOf(seed: number): (most: number) => number {
  const random = randomNumbers(seed)
  return (most) => Math.floor(random() * most)
}

function percent(part: number, whole: number): string {
  return `${part} of ${whole} (${((100 * part) / whole).toFixed(2)} %)`
}

function sourceOf(key: string): string {
  return key.slice(0, key.indexOf('\t'))
}

function reportSetMaps({ setMaps }: Assignment): void {
  print('set maps', `${setMaps.filter(({ by }) => by === 'rule').length} by rule, ${setMaps.filter(({ decided }) => !decided).length} unclear`)
  show(setMaps.filter(({ decided }) => !decided).map(({ from, to, agree, of }) => `${from} → ${to}: ${agree} of ${of}`))
}

function reportJoins({ items }: Assignment): void {
  const cards = records.filter((record) => record.source === 'pokemontcg')
  const joined = new Set<string>()
  let conflicts = 0
  for (const item of items) {
    const own = item.records.filter(({ key }) => sourceOf(key) === 'pokemontcg')
    const main = item.records.filter(({ key }) => sourceOf(key) === 'tcgdex')
    if (own.length === 0 || main.length === 0) continue
    for (const { key } of own) joined.add(key)
    const [a, b] = [hps(main), hps(own)]
    if (a.length > 0 && b.length > 0 && !a.some((hp) => b.includes(hp))) conflicts += 1
  }
  print('pokemontcg cards joined', percent(joined.size, cards.length))
  const alone = cards.filter(({ key }) => !joined.has(key) && items.some((item) => item.records[0]!.key === key))
  print('  items of their own', alone.length)
  show(
    [...Map.groupBy(alone, ({ set }) => set?.ref)].map(
      ([set, own]) =>
        `${set}: ${own.length} (${own
          .slice(0, 8)
          .map(({ number, name }) => `${name} ${number}`)
          .join(', ')})`,
    ),
  )
  print('HP conflicts among joins', conflicts)
}

function hps(own: readonly { key: string }[]): number[] {
  return own.map(({ key }) => facts.get(key)?.details.hp).filter((hp) => hp !== undefined)
}

/** Items of one finish with equal names and numbers, in sets of the same name or in joined sets. */
function reportDuplicates({ items, setMaps }: Assignment): void {
  const bySet = new Map(setMaps.filter(({ decided }) => decided).map(({ from, to }) => [from, to]))
  const byRecord = new Map(records.map((record) => [record.key, record]))
  const groups = Map.groupBy(
    items.flatMap((item) => {
      const record = byRecord.get(item.records[0]!.key)!
      if (record.genre !== 'single') return []
      const set = record.set && (bySet.get(record.set.ref) ?? record.set.ref)
      return [{ item, group: [set, record.number && normalNumber(record.number), normalName(record.name), item.finish].join('|') }]
    }),
    ({ group }) => group,
  )
  const twice = [...groups].filter(([, own]) => own.length > 1)
  print('real cards with two items of one finish', twice.length)
  show(twice.map(([group, own]) => `${group}: ${own.map(({ item }) => item.records[0]!.key.replaceAll('\t', ' ')).join(', ')}`))
}

function reportWaiting({ waiting }: Assignment): void {
  const groups = [...Map.groupBy(waiting, ({ key, reasons }) => `${sourceOf(key)} ${reasons.map(({ rule }) => rule).join('+')}`)]
  for (const [reason, cards] of groups.sort((a, b) => b[1].length - a[1].length)) {
    print(`waiting ${reason}`, cards.length)
    show(
      cards.map(
        ({ key, candidates, reasons }) =>
          `${titleOf(key)} ↔ ${candidates
            .slice(0, 2)
            .map((one) => `${titleOf(one.key)} ${one.score}`)
            .join(' / ')} ${JSON.stringify(reasons[0]!.params)}`,
      ),
    )
  }
}

function titleOf(key: string): string {
  const item = facts.get(key)
  return `${key.split('\t').slice(0, 2).join(' ')} ${item?.name} ${item?.code ?? ''}`.trim()
}

/** Fields that no rule reads, for random joins of two sources. */
function reportContradictions({ items }: Assignment): void {
  const joins = items.flatMap(({ records: own }) => {
    const [a, b] = [
      own.find(({ key }) => sourceOf(key) === 'tcgdex'),
      own.find(({ key, method }) => sourceOf(key) === 'pokemontcg' && method !== 'own'),
    ]
    return a && b ? [[facts.get(a.key)!, facts.get(b.key)!] as const] : []
  })
  const below = belowOf(1)
  const lines: string[] = []
  const counts = new Map<string, number>()
  for (let i = 0; i < SAMPLE; i += 1) {
    const [a, b] = joins[below(joins.length)]!
    for (const field of ['illustrator', 'types', 'dexIds', 'stage', 'evolveFrom', 'suffix', 'rarity'] as const) {
      const [one, other] = [a.details[field], b.details[field]].map((value) => (value === undefined ? '' : normalName(String(value))))
      if (one === '' || other === '' || one === other) continue
      counts.set(field, (counts.get(field) ?? 0) + 1)
      if (field !== 'rarity') lines.push(`${a.ref} ↔ ${b.ref} ${field}: ${one} / ${other}`)
    }
  }
  print(`contradictions in ${SAMPLE} random joins`, [...counts].map(([field, count]) => `${field} ${count}`).join(', '))
  show(lines)
}

/** Cards with the shop id of another card must not join it. */
function reportPlanted(): void {
  const below = belowOf(2)
  const mine = records.filter(({ source: own }) => own === 'pokemontcg')
  const others = records.filter(({ source: own, shopIds }) => own === 'tcgdex' && shopIds.length > 0)
  const planted = new Map<string, MatchRecord>()
  const wrong = new Map<string, string>()
  while (planted.size < PLANTED) {
    const record = mine[below(mine.length)]!
    const other = others[below(others.length)]!
    if (normalName(record.name) === normalName(other.name)) continue
    planted.set(record.key, { ...record, shopIds: [...record.shopIds, other.shopIds[0]!] })
    wrong.set(record.key, other.key)
  }
  const { items } = assign(
    records.map((record) => planted.get(record.key) ?? record),
    NO_DECISIONS,
  )
  const joins = items.filter(({ records: own }) => own.some(({ key }) => wrong.has(key) && own.some((other) => other.key === wrong.get(key))))
  print(`wrong joins of ${PLANTED} planted shop ids`, joins.length)
}

function reportSealed({ items, waiting }: Assignment): void {
  const sealed = items.filter(({ records: own }) => own.some(({ method }) => method === 'sealed'))
  print('sealed products of two shops joined', sealed.length)
  show(sealed.map(({ records: own }) => own.map(({ key }) => facts.get(key)!.name).join(' = ')))
  print('sealed products waiting', waiting.filter(({ key }) => facts.get(key)!.genre !== 'single').length)
}

function indexOf({ items }: Assignment): CardIndex {
  const byKey = new Map(records.map((record) => [record.key, record]))
  return new CardIndex(items.flatMap(({ records: own, finish }, itemId) => own.map(({ key }) => ({ itemId, finish, record: byKey.get(key)! }))))
}

async function reportEur(index: CardIndex): Promise<void> {
  const rows: CardDescription[] = []
  for await (const batch of csvRows(source('prices/pokemon-singles-eur-2026-03.csv.gz'), ['name', 'set', 'number'])) {
    for (const row of batch) {
      if ('reject' in row) continue
      const { name, set, number } = row.value as Record<string, string>
      rows.push({ name: name!, number: number || null, set: set || null, game: 'pokemon', finish: null })
    }
  }
  const began = process.cpuUsage().user
  const maps = index.learn(rows)
  const learned = process.cpuUsage().user
  print(
    'set names of the EUR list learned',
    `${maps.filter(({ decided }) => decided).length}, unclear: ${maps
      .filter(({ decided }) => !decided)
      .map(({ from, to, agree, of }) => `${from} → ${to} ${agree}/${of}`)
      .join(', ')}`,
  )
  const results = rows.map((row) => ({ row, found: index.find(row) }))
  print(
    'rows a second',
    `${Math.round((1e6 * rows.length) / (process.cpuUsage().user - learned))} (learning ${Math.round((learned - began) / 1000)} ms)`,
  )
  reportFound('rows of pokemon-singles-eur joined', results)
}

function reportFound(what: string, results: readonly { row: CardDescription; found: ReturnType<CardIndex['find']> }[]): void {
  const failed = results.flatMap(({ row, found }) => ('reason' in found ? [{ row, found }] : []))
  print(what, percent(results.length - failed.length, results.length))
  for (const [rule, own] of Map.groupBy(failed, ({ found }) => found.reason.rule)) {
    print(`  ${rule}`, own.length)
    show(
      [...Map.groupBy(own, ({ row }) => row.set ?? row.finish ?? '')]
        .sort((a, b) => b[1].length - a[1].length)
        .map(
          ([set, some]) =>
            `${set} ${some.length}: ${some
              .slice(0, 6)
              .map(({ row }) => `${row.name} ${row.number}`)
              .join(', ')}`,
        ),
    )
  }
}
