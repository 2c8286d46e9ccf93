// The catalogue after several imports depends on what the files state, not on their order.
import { expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { importFiles, importText } from '../support/node.ts'
import { rowsOf } from '../support/runs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { exported } from './one-card.ts'

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const file = (name: string, text: string) => ({ name, text })

const card = (number: number, name: string, variants: object[]) => ({
  id: `basep-${number}`,
  localId: String(number),
  name: { en: name },
  category: 'Pokemon',
  set: 'basep',
  hp: 50,
  variants,
})
const flatCard = (number: number, name: string) => ({
  id: `basep-${number}`,
  localId: String(number),
  name,
  category: 'Pokemon',
  hp: 50,
  image: `https://x.test/en/${number}`,
  set: { id: 'basep', name: 'Wizards Promos', cardCount: { official: 53 }, logo: 'https://x.test/logo' },
  variants: { firstEdition: false, holo: false, normal: true, reverse: false },
})
const otherCard = (number: number, name: string) => ({
  id: `basep-${number}`,
  name,
  supertype: 'Pokémon',
  number: String(number),
  hp: '50',
  level: '17',
})
const exportedCard = (number: number, ref: string, name: string) => ({
  type: 'item',
  market: 'source_c',
  ref,
  name,
  code: `${number}/53`,
  genre: 'single',
  game: 'pokemon',
  category: 'tcgdex:set:basep',
  images: [],
  attributes: [{ name: 'Rarity', value: 'Promo' }],
  groups: ['ungraded', 'graded'],
  details: {},
  foreign_ids: [{ source: 'tcgdex', id: `basep-${number}` }],
})

/** In the first card, the printing with the card's own ref is neither the plainest nor the first by name. */
const UNITS = {
  tcgdex: {
    format: 'tcgdex',
    files: [
      file(
        'sets',
        lines([
          { id: 'base', name: { en: 'Base' } },
          { id: 'basep', name: { en: 'Wizards Black Star Promos' }, serie: 'base', cardCount: { official: 53 } },
        ]),
      ),
      file(
        'cards',
        lines([
          card(24, "_____'s Pikachu", [
            { type: 'holo', stamp: ['pikachu-tail'], thirdParty: { tcgplayer: 159115 } },
            { type: 'holo', foil: 'cosmos', thirdParty: { tcgplayer: 90784 } },
          ]),
          card(25, 'Flying Pikachu', [
            { type: 'normal', stamp: ['pikachu-tail'], thirdParty: { tcgplayer: 1 } },
            { type: 'normal', thirdParty: { tcgplayer: 2 } },
          ]),
          card(26, 'Snorlax', [{ type: 'reverse' }, { type: 'normal' }]),
          card(27, 'Mew', [{ type: 'normal' }]),
          card(28, 'Mewtwo', [{ type: 'normal' }]),
        ]),
      ),
    ],
  },
  api: { format: 'tcgdex', files: [file('api', lines([flatCard(24, 'Pikachu'), flatCard(25, 'Flying Pikachu'), flatCard(30, 'Togepi')]))] },
  pokemontcg: {
    format: 'pokemontcg',
    files: [
      file('sets', JSON.stringify([{ id: 'basep', name: 'Wizards Black Star Promos', series: 'Base', printedTotal: 53, images: {} }])),
      file(
        'cards',
        lines([
          otherCard(24, "_____'s Pikachu"),
          otherCard(25, 'Flying Pikachu'),
          otherCard(26, 'Snorlax'),
          otherCard(27, 'Mew'),
          otherCard(28, 'Mewtwo'),
          otherCard(31, 'Cleffa'),
        ]),
      ),
    ],
  },
  mintmark: {
    format: 'mintmark-ndjson',
    files: [
      file(
        'export',
        lines([
          { type: 'category', market: 'source_c', ref: 'tcgdex:serie:base', name: 'Base', game: 'pokemon', parent: null, image: null },
          {
            type: 'category',
            market: 'source_c',
            ref: 'tcgdex:set:basep',
            name: 'Wizards Black Star Promos',
            game: 'pokemon',
            parent: 'tcgdex:serie:base',
            image: null,
            printed_total: 53,
          },
          exportedCard(24, 'tcgdex:basep-24', "_____'s Pikachu"),
          exportedCard(26, 'tcgdex:basep-26', 'Snorlax'),
        ]),
      ),
    ],
  },
}
type UnitName = keyof typeof UNITS

const PRICES = `card,set,number,finish,price,date
Flying Pikachu,Wizards Black Star Promos,25,,3.00,2026-03-01
Snorlax,Wizards Black Star Promos,26,reverse,4.00,2026-03-01
Cleffa,Wizards Black Star Promos,31,,5.00,2026-03-01
Togepi,Wizards Black Star Promos,30,,6.00,2026-03-01
`

/** The result of the files in this order, prices included: categories and items without their slugs, which keep their first value. */
async function catalogueAfter(order: readonly UnitName[]): Promise<object[]> {
  const database = await freshDatabase()
  const db = openPool<Schema>({ url: database.url, max: 2, applicationName: 'mintmark test' })
  const ctx: WriteCtx = {
    db,
    viewer: { kind: 'operator', name: 'test' },
    now: () => new Date(),
    requestId: null,
    idempotency: null,
    caughtUp: async () => {},
  }
  const node = { ctx, config: readConfig({}), db } as Parameters<typeof importText>[0] & { db: typeof db }
  try {
    for (const name of order) {
      const { counts } = await importFiles(node, UNITS[name].format, UNITS[name].files)
      expect(counts.rejected).toBe(0)
    }
    const map = 'name=card,set=set,number=number,finish=finish,price=price,updated_at=date'
    const input = { map, currency: 'EUR', market: 'source_b' }
    const { counts, errors } = await importText(node, 'prices-csv', PRICES, { input })
    expect({ ...counts, errors }).toMatchObject({ accepted: order.includes('pokemontcg') ? 4 : 3 })
    return (await exported(node))
      .trim()
      .split('\n')
      .map((line) => {
        const { slug: _slug, ...record } = JSON.parse(line) as { slug: string }
        return record
      })
  } finally {
    await db.close()
    await database.drop()
  }
}

function permutations<T>(values: readonly T[]): T[][] {
  if (values.length < 2) return [[...values]]
  return values.flatMap((value) => permutations(values.filter((other) => other !== value)).map((rest) => [value, ...rest]))
}

test.each([[['tcgdex', 'api', 'pokemontcg']], [['tcgdex', 'api', 'mintmark']]] as [UnitName[]][])(
  '%s in every order produce the same catalogue',
  async (names) => {
    const orders = rowsOf(permutations(names), 3)
    const first = await catalogueAfter(orders[0]!)
    expect(first.length).toBeGreaterThan(10)
    for (const order of orders.slice(1)) expect({ order, catalogue: await catalogueAfter(order) }).toEqual({ order, catalogue: first })
  },
)
