// A generated catalogue of any size with eight prices per item, copied directly into the tables.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { copyIn } from '#db/copy.ts'
import type { Db } from '#db/schema.ts'
import { randomNumbers } from '#core/random.ts'

const CREATURES = (
  'Ember Drake,Tidal Serpent,Moss Golem,Storm Falcon,Dusk Fox,Iron Beetle,Crystal Stag,Sand Viper,Frost Wolf,Lantern Moth,' +
  'Coral Knight,Thunder Ram,Shadow Lynx,Pebble Turtle,Blossom Sprite,Magma Boar,Gale Heron,Abyss Eel,Clockwork Owl,Amber Bear,' +
  'Captain Marlow,Navigator Iris,Swordsman Kaede,Doctor Brume,Gunner Tolliver,Shipwright Oda,Admiral Vesper,Cook Saffron'
).split(',')
const TITLES = ',ancient,radiant,dark,light,wandering,young,elder,golden,silent,raging,hidden,first,last,lucky,broken'.split(',')
const SUFFIXES = ['', '', '', '', ' ex', ' V', ' VMAX', ' GX', ' Leader', ' (Parallel)']
const PLACES = 'Harbour,Summit,Canyon,Orchard,Citadel,Reef,Tundra,Marsh,Observatory,Bazaar,Lagoon,Foundry,Meadow,Ruins,Lighthouse,Delta'.split(',')
const ILLUSTRATORS = 'Mira Holt,Kenji Sato,Ana Prado,Lars Vik,Dilara Aksoy,Tom Reed'.split(',')
const RARITIES = ['Common', 'Uncommon', 'Rare', 'Rare Holo', 'Secret Rare']
/** Ids in the seeded tree of groups: the four named conditions, PSA 10, PSA 9, CGC 10 and BGS 10. */
const LABELS = [4, 5, 6, 7, 8, 9, 11, 14]
const LABEL_FACTORS = [1, 0.85, 0.7, 0.5, 6, 2.5, 5, 8]
const SETS = 400
const BATCH = 2_000
export const GENERATED_AT = '2026-10-01T00:00:00Z'

export const PRICES_PER_ITEM = LABELS.length

/** Lines of COPY for the categories and each item. */
export interface GeneratedCatalogue {
  categoryLines: () => Generator<string>
  itemLine: (id: number, random: () => number) => string
}

/** Item ids start at 1; the same number yields the same catalogue. */
export async function copyGeneratedData(db: Db, items: number, catalogue: GeneratedCatalogue = { categoryLines, itemLine }): Promise<void> {
  const random = randomNumbers(items)
  await db.kysely.transaction().execute(async (tx) => {
    // All references are valid; checking each foreign key would take longer than everything else.
    await sql`set local session_replication_role = replica`.execute(tx)
    await copyIn(tx, 'copy categories (id, market, ref, name, slug, game, parent_id) from stdin', catalogue.categoryLines())
    await copyIn(
      tx,
      `copy items (id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details) from stdin`,
      inBatches(items, (id) => catalogue.itemLine(id, random)),
    )
    await copyIn(
      tx,
      'copy prices (item_id, market, label_id, price, updated_at, import_id) from stdin',
      inBatches(items, (id) => priceLines(id, random)),
    )
    for (const table of ['categories', 'items']) {
      await sql`select setval(pg_get_serial_sequence(${table}, 'id'), (select max(id) from ${sql.table(table)}))`.execute(tx)
    }
  })
  await sql`vacuum analyze`.execute(db.kysely)
}

/** Prices of the first four labels in another market than an item's own; not source_a, which listings are compared with. */
export async function copyOtherMarketPrices(db: Db, items: number): Promise<void> {
  const lines = (id: number) => {
    const market = generatedMarket(id) === 2 ? 3 : 2
    const price = (label: number) => (generatedMinor(id, label, 5) / 100).toFixed(2)
    return [0, 1, 2, 3].map((label) => `${id}\t${market}\t${LABELS[label]}\t${price(label)}\t${GENERATED_AT}\t0\n`).join('')
  }
  await db.kysely.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await copyIn(tx, 'copy prices (item_id, market, label_id, price, updated_at, import_id) from stdin', inBatches(items, lines))
  })
  await sql`vacuum analyze prices`.execute(db.kysely)
}

/** Price of an item's label in minor units; `step` varies it by day. */
export function generatedMinor(id: number, label: number, step: number): number {
  const base = 50 + ((id * 7919) % 20_000)
  return Math.round(base * LABEL_FACTORS[label]! * (1 + 0.01 * step)) + step
}

/** The market of an item, as its position in MARKETS: most are from source_c, as in the real data. */
export function generatedMarket(id: number): number {
  const bucket = id % 20
  return bucket < 12 ? 3 : bucket < 16 ? 2 : bucket < 19 ? 1 : 0
}

export function generatedRef(id: number): string {
  return `generated:${id}`
}

export function generatedLabelId(label: number): number {
  return LABELS[label]!
}

function* categoryLines(): Generator<string> {
  for (let id = 1; id <= SETS; id += 1) {
    const set = id > 20
    const game = gameOf(id)
    const name = `${PLACES[id % PLACES.length]} ${set ? `Set ${id}` : `Era ${id}`}`
    const parent = set ? ((id - 1) % 20) + 1 : '\\N'
    yield `${[id, 'source_c', `generated:set${id}`, name, `generated-${id}`, game, parent].join('\t')}\n`
  }
}

function itemLine(id: number, random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const set = 21 + Math.floor(random() * (SETS - 20))
  const sealed = id % 14 === 0
  const title = pick(TITLES)
  const creature = pick(CREATURES)
  const card = `${title && `${title[0]!.toUpperCase()}${title.slice(1)} `}${creature}${pick(SUFFIXES)}`
  const name = sealed ? `${PLACES[set % PLACES.length]} ${set} ${pick(['Booster Box', 'Elite Trainer Box', 'Booster Pack', 'Tin'])}` : card
  const rarity = pick(RARITIES)
  const number = 1 + (id % 240)
  const attributes = sealed
    ? []
    : [
        { name: 'Rarity', value: rarity },
        { name: 'Set Number', value: String(number) },
        { name: 'Illustrator', value: pick(ILLUSTRATORS) },
      ]
  return `${[
    id,
    MARKETS[generatedMarket(id)],
    generatedRef(id),
    name,
    sealed ? '\\N' : `${number}/240`,
    `generated-item-${id}`,
    sealed ? 'sealed' : id % 50 === 1 ? 'bundle' : 'single',
    gameOf(set),
    set,
    JSON.stringify([{ url: `https://images.example.com/${set}/${id}.png`, order: 1 }]),
    JSON.stringify(attributes),
    sealed ? '{1}' : '{1,2}',
    JSON.stringify(sealed ? {} : { rarity, hp: 30 + 10 * (id % 30), stage: 'Basic' }),
  ].join('\t')}\n`
}

function priceLines(id: number, random: () => number): string {
  const market = generatedMarket(id)
  const at = new Date(Date.parse(GENERATED_AT) - Math.floor(random() * 30) * 86_400_000).toISOString()
  let lines = ''
  LABELS.forEach((label, i) => {
    lines += `${id}\t${market}\t${label}\t${(generatedMinor(id, i, 0) / 100).toFixed(2)}\t${at}\t0\n`
  })
  return lines
}

function gameOf(set: number): string {
  return set % 4 === 0 ? 'onepiece' : 'pokemon'
}

function* inBatches(items: number, line: (id: number) => string): Generator<string> {
  for (let from = 1; from <= items; from += BATCH) {
    let lines = ''
    for (let id = from; id < Math.min(from + BATCH, items + 1); id += 1) lines += line(id)
    yield lines
  }
}
