// Which item a row of a price list or a collection file means, and the candidates if that is uncertain.
import { describe, expect, it } from 'vitest'
import { assign } from '#matching/assign.ts'
import { type CardDescription, CardIndex } from '#matching/card-index.ts'
import type { MatchRecord } from '#matching/matcher-types.ts'
import { card, NO_DECISIONS, product, setOf } from './kit.ts'

const base = setOf('tcgdex', 'base1', 'Base Set', ['BS'])
const rocket = setOf('tcgdex', 'base5', 'Team Rocket', ['RO', 'TR'])
const returns = setOf('tcgdex', 'ex7', 'Team Rocket Returns', ['TR', 'RR'])
const astral = setOf('tcgdex', 'swsh10', 'Astral Radiance', ['ASR'])
const astralGallery = setOf('tcgdex', 'swsh10tg', 'Astral Radiance Trainer Gallery', ['ASR:TG'])
const swshp = setOf('tcgdex', 'swshp', 'SWSH Black Star Promos')
const aquapolis = setOf('tcgdex', 'ecard2', 'Aquapolis', ['AQ'])
const op = { ref: 'punk-records:pack:569107', name: '500 YEARS IN THE FUTURE [OP-07]', codes: ['OP-07'], printedTotal: null }

const shopId = (id: string, finish?: string) => [{ source: 'cardmarket', id, ...(finish && { finish }) }]
const luffy = { game: 'onepiece', family: 'en' }

const RECORDS: MatchRecord[] = [
  card(base, '4/102', 'Charizard', { id: 'charizard', printing: 'Holo Unlimited', shopIds: shopId('273699', 'holo') }),
  card(base, '4/102', 'Charizard', { id: 'charizard', printing: 'Holo Shadowless', shopIds: shopId('660224', 'holo') }),
  card(base, '4/102', 'Charizard', { id: 'charizard', printing: 'Holo Shadowless 1st Edition', shopIds: shopId('660224', 'firstEdition') }),
  card(base, '58/102', 'Pikachu', { id: 'pikachu', printing: 'Normal' }),
  card(base, '58/102', 'Pikachu', { id: 'pikachu', printing: 'Reverse' }),
  card(base, '7/102', 'Twin', { id: 'twin-1' }),
  card(base, '7/102', 'Twin', { id: 'twin-2' }),
  card(base, '9/102', 'Magneton', { id: 'magneton' }),
  card(rocket, '1', 'Dark Alakazam'),
  card(rocket, '3', 'Dark Blastoise'),
  card(rocket, '5', 'Dark Dugtrio'),
  card(returns, '1', 'Azumarill'),
  card(returns, '3', 'Dark Blastoise', { id: 'other-blastoise' }),
  card(astral, '12', 'Oddish'),
  card(astralGallery, 'TG12', 'Gardevoir'),
  card(astralGallery, 'TG01', 'Abomasnow'),
  card(swshp, 'SWSH020', 'Pikachu', { id: 'promo' }),
  card(swshp, 'SWSH021', 'Meowth'),
  card(swshp, 'SWSH022', 'Eevee'),
  card(swshp, 'SWSH023', 'Mew'),
  card(swshp, 'SWSH024', 'Flapple', { id: 'stamped', printing: 'Holo set logo' }),
  card(swshp, 'SWSH024', 'Flapple', { id: 'stamped', printing: 'Holo set logo staff' }),
  card(swshp, 'SWSH025', 'Luxray', { id: 'either', printing: 'Holo cosmos' }),
  card(swshp, 'SWSH025', 'Luxray', { id: 'either', printing: 'Holo staff' }),
  card(aquapolis, 'H1', 'Ampharos'),
  card(aquapolis, '1', 'Ampharos'),
  card(aquapolis, '2', 'Arcanine'),
  card(aquapolis, '3', 'Ariados'),
  card(op, 'OP07-109', 'Monkey.D.Luffy', { id: 'en:OP07-109', printing: 'normal', ...luffy }),
  card(op, 'OP07-109', 'Monkey.D.Luffy', { id: 'en:OP07-109_p1', printing: 'Parallel 1', ...luffy }),
  product('cardmarket', '1', 'Booster Box'),
]

const assignment = assign(RECORDS, NO_DECISIONS)
const names = assignment.items.map(({ records, finish }) => {
  const id = records[0]!.key.split('\t')[1]!
  return finish === null ? id : `${id} ${finish}`
})

function index(): CardIndex {
  const byKey = new Map(RECORDS.map((record) => [record.key, record]))
  return new CardIndex(
    assignment.items.flatMap(({ records, finish }, itemId) => records.map(({ key }) => ({ itemId, finish, record: byKey.get(key)! }))),
  )
}

const row = (description: Partial<CardDescription>): CardDescription => ({
  name: '',
  number: null,
  set: null,
  game: null,
  finish: null,
  ...description,
})

/** The item's name, or `rule → candidates`. */
function find(description: Partial<CardDescription>, from = index()): string {
  const found = from.find(row(description))
  return 'itemId' in found ? names[found.itemId]! : `${found.reason.rule} → ${found.candidates.map(({ itemId }) => names[itemId]).join(', ')}`
}

describe('set, number, name and finish', () => {
  it.each([
    ['the name of the set', { set: 'Base Set', number: '4', name: 'Charizard' }, 'charizard holo'],
    ['its code', { set: 'bs', number: '004/102', name: 'charizard' }, 'charizard holo'],
    ['its id', { set: 'base1', number: '4', name: 'Charizard', finish: 'Holofoil' }, 'charizard holo'],
    ['the finish', { set: 'BS', number: '58/102', name: 'Pikachu', finish: 'Reverse Holofoil' }, 'pikachu reverse'],
    [
      'a set named for printings',
      { set: 'Base Set (1st Edition & Shadowless)', number: '4', name: 'Charizard', finish: 'Shadowless Holofoil' },
      'charizard holo-shadowless',
    ],
    ['no set, but a total', { number: '4/102', name: 'Charizard' }, 'charizard holo'],
    ['a number repeated in the name', { number: '58/102', name: 'Pikachu - 058/102' }, 'pikachu normal'],
    ['a gallery under its set', { set: 'ASR', number: 'TG12', name: 'Gardevoir' }, 'swsh10tg-TG12'],
    ['a gallery with its total', { set: 'Astral Radiance', number: 'TG12/TG30', name: 'Gardevoir' }, 'swsh10tg-TG12'],
    ['the set of a gallery', { set: 'ASR', number: '12', name: 'Oddish' }, 'swsh10-12'],
    ['a promo with its prefix', { set: 'swshp', number: 'SWSH020', name: 'Pikachu' }, 'promo'],
    ['a promo without', { set: 'SWSH Black Star Promos', number: '20', name: 'Pikachu' }, 'promo'],
    ['a code before the number', { set: 'OP-07', number: 'OP07-109', name: 'Monkey.D.Luffy (109)', game: 'onepiece' }, 'en:OP07-109 normal'],
    [
      'a printing in the name',
      { set: null, number: 'OP07-109', name: 'Monkey.D.Luffy (109) (Parallel)', finish: 'Foil' },
      'en:OP07-109_p1 parallel-1',
    ],
    ['the stamp that all of its printings have', { set: 'swshp', number: '24', name: 'Flapple' }, 'stamped holo-set-logo'],
    ['a product without a number', { name: 'Booster Box', finish: 'Normal' }, '1'],
  ] as [string, Partial<CardDescription>, string][])('by %s', (_what, description, expected) => {
    expect(find(description)).toBe(expected)
  })

  it('returns uncertain matches as candidates', () => {
    expect(find({ set: 'BS', number: '7/102', name: 'Twin' })).toBe('several → twin-1, twin-2')
    expect(find({ set: 'swshp', number: '25', name: 'Luxray' })).toBe('several → either holo-cosmos, either holo-staff')
    expect(find({ set: 'Base Set (1st Edition & Shadowless)', number: '4', name: 'Charizard', finish: 'Holofoil' })).toBe(
      'finish → charizard holo, charizard holo-shadowless, charizard holo-first-edition',
    )
    expect(find({ set: 'BS', number: '58', name: 'Pikachu', finish: 'Holofoil' })).toBe('finish → pikachu normal, pikachu reverse')
    expect(find({ set: 'BS', number: '59', name: 'Pikachu' })).toMatch(/^loose → pikachu normal/)
    expect(find({ set: 'Jungle', number: '58', name: 'Pikachu' })).toMatch(/^set-unclear → pikachu normal/)
    expect(find({ number: '58/64', name: 'Pikachu' })).toMatch(/^loose → pikachu normal/)
    expect(find({ number: '4', name: 'Charizard', game: 'lorcana' })).toBe('unknown → ')
    expect(find({ number: '1', name: 'Elsa' })).toBe('unknown → ')
  })

  it('stays fast with names designed to slow it down', () => {
    for (const name of ['('.repeat(9_900), '['.repeat(9_900), `x - ${'0'.repeat(9_900)}!`, `x${' - 0'.repeat(2_400)}!`]) {
      expect(find({ name, number: '4' })).toBe('unknown → ')
      expect(find({ name: 'Charizard', number: '4', set: name, finish: name })).toBe('unknown → ')
    }
  })
})

describe('set names used only by a list', () => {
  const list = (set: string, ...cards: [number: string, name: string][]) => cards.map(([number, name]) => row({ set, number, name }))

  it('are learned from the rows of the list', () => {
    const learned = index()
    learned.learn(list('E2', ['1', 'Ampharos'], ['2', 'Arcanine'], ['3', 'Ariados'], ['H1', 'Ampharos']))
    expect(find({ set: 'E2', number: '2', name: 'Arcanine' }, learned)).toBe('ecard2-2')
    expect(find({ set: 'E2', number: 'H1', name: 'Ampharos' }, learned)).toBe('ecard2-H1')
    expect(find({ set: 'E2', number: '2', name: 'Arcanine' })).toMatch(/^set-unclear/)
  })

  it('distinguish sets that share a code', () => {
    const learned = index()
    const blastoise = { set: 'TR', number: '3', name: 'Dark Blastoise' }
    expect(find(blastoise, learned)).toMatch(/^several/)
    learned.learn(list('TR', ['1', 'Dark Alakazam'], ['3', 'Dark Blastoise'], ['5', 'Dark Dugtrio']))
    expect(find(blastoise, learned)).toBe('base5-3')
  })

  it('can be added by a person', () => {
    const learned = index()
    learned.learn(list('Aqua', ['9', 'Nothing']), { setMaps: [['Aqua', aquapolis.ref]] })
    expect(find({ set: 'Aqua', number: '2', name: 'Arcanine' }, learned)).toBe('ecard2-2')
  })
})
