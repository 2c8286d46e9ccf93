// Which source records become one item and which need a person's decision; neither depends on the order of records.
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { assign } from '#matching/assign.ts'
import type { Decisions, MatchRecord } from '#matching/matcher-types.ts'
import { card, joined, NO_DECISIONS, product, setOf, waiting } from './kit.ts'
import { runs } from '../support/runs.ts'

const base = setOf('tcgdex', 'base1', 'Base Set', ['BS'])
const baseOther = setOf('pokemontcg', 'base1', 'Base', ['BS'])
const promos = setOf('tcgdex', 'swshp', 'SWSH Black Star Promos')
const promosOther = setOf('pokemontcg', 'swshp', 'SWSH Black Star Promos')

/** Enough of two sources' Base Set to map the sets: `names` by number. */
function both(names: Record<string, string>, more: Record<string, Partial<MatchRecord>> = {}): MatchRecord[] {
  const numbers = Object.entries(names)
  return numbers.flatMap(([number, name]) => [card(base, number, name), card(baseOther, number, name, more[number])])
}

const FIVE = { 1: 'Alakazam', 2: 'Blastoise', 3: 'Chansey', 5: 'Clefairy', 6: 'Gyarados' }

describe('set, number and name', () => {
  it('matches cards of two sources, and gives each finish an item', () => {
    const records = [
      ...both(FIVE),
      card(base, '4', 'Charizard', { printing: 'Holo Unlimited' }),
      card(base, '4', 'Charizard', { printing: 'Holo Shadowless' }),
      card(base, '4', 'Charizard', { printing: 'Holo Shadowless 1st Edition' }),
      card(baseOther, '4/102', 'Charizard', { id: 'base1-4' }),
    ]
    expect(joined(records).filter((line) => line.includes('base1-4 '))).toEqual([
      'tcgdex:base1-4 + pokemontcg:base1-4 (holo)',
      'tcgdex:base1-4 + pokemontcg:base1-4 (holo-first-edition)',
      'tcgdex:base1-4 + pokemontcg:base1-4 (holo-shadowless)',
    ])
    const { items } = assign(records, NO_DECISIONS)
    const charizards = items.filter(({ card: key }) => key.includes('base1-4'))
    expect(charizards.filter(({ primary }) => primary).map(({ finish }) => finish)).toEqual(['holo'])
    expect(charizards.map(({ records: own }) => own.map(({ method, whole }) => `${method} ${whole}`).join(', '))).toEqual(
      Array(3).fill('own false, set-map true'),
    )
  })

  it.each([
    ['leading zeros', '004', '4', 'Pikachu', 'Pikachu'],
    ['totals', '4/102', '004', 'Pikachu', 'Pikachu'],
    ['hyphens', '4', '4', 'Gyarados-GX', 'Gyarados GX'],
    ['accents', '4', '4', 'Poké Ball', 'Poke Ball'],
    ['apostrophes', '4', '4', "Lt. Surge's Raichu", 'Lt Surge’s Raichu'],
    ['basic energies', '4', '4', 'Fire Energy', 'Basic Fire Energy'],
    ['LV.X', '4', '4', 'Luxray GL LV.X', 'Luxray [GL] LV. X'],
    ['stars', '4', '4', 'Entei ★', 'Entei Star'],
    ['prism stars', '4', '4', 'Giratina ◇', 'Giratina Prism Star'],
    ['delta species', '4', '4', 'Charizard δ', 'Charizard (Delta Species)'],
    ['Nidoran', '4', '4', 'Nidoran ♀', 'Nidoran Female'],
    ['ampersands', '4', '4', 'Reshiram & Charizard GX', 'Reshiram and Charizard-GX'],
  ])('accepts different spellings of numbers and names: %s', (_what, number, other, name, otherName) => {
    const records = [...both(FIVE), card(base, number, name, { id: 'a' }), card(baseOther, other, otherName, { id: 'b' })]
    expect(joined(records)).toContain('tcgdex:a + pokemontcg:b')
  })

  it('separates cards with different printed data', () => {
    const records = [
      ...both(FIVE),
      ...['29 Nidoran ♀', '32 Nidoran ♂', 'A Unown', 'B Unown', '103a Kyogre', '103b Kyogre', '! Unown', '? Unown'].flatMap((line) => {
        const [number, ...name] = line.split(' ')
        return [card(base, number!, name.join(' ')), card(baseOther, number!, name.join(' '))]
      }),
    ]
    const lines = joined(records)
    expect(lines).toHaveLength(5 + 8)
    expect(lines.filter((line) => !/^tcgdex:(base1-\S+) \+ pokemontcg:\1$/.test(line))).toEqual([])
  })

  it('ignores a prefix shared by all cards of a set: promos and galleries', () => {
    const gallery = setOf('tcgdex', 'swsh12.5gg', 'Crown Zenith Galarian Gallery')
    const galleryOther = setOf('pokemontcg', 'swsh12pt5gg', 'Crown Zenith Galarian Gallery')
    const names = ['Grookey', 'Scorbunny', 'Sobble', 'Meowth', 'Charizard']
    const records = names.flatMap((name, i) => [
      card(promos, `SWSH02${i}`, name),
      card(promosOther, `2${i}`, name),
      card(gallery, `GG0${i + 1}`, name),
      card(galleryOther, `GG${i + 1}/GG70`, name, { id: `gg-${i + 1}` }),
    ])
    expect(joined(records)).toEqual([
      ...names.map((_, i) => `tcgdex:swsh12.5gg-GG0${i + 1} + pokemontcg:gg-${i + 1}`),
      ...names.map((_, i) => `tcgdex:swshp-SWSH02${i} + pokemontcg:swshp-2${i}`),
    ])
  })

  it('keeps language families apart', () => {
    const asian = FIVE
    const set = setOf('tcgdex-asia', 'PMCG1', 'Base Set')
    const records = Object.entries(asian).flatMap(([number, name]) => [card(base, number, name), card(set, number, name, { family: 'asia' })])
    expect(joined(records)).toHaveLength(10)
  })
})

describe('set maps', () => {
  it('require 80 % of the smaller set', () => {
    const three = { 1: 'Alakazam', 2: 'Blastoise', 3: 'Chansey' }
    const records = [
      ...both(three),
      card(base, '8', 'Machamp'),
      card(baseOther, '8', 'Gengar'),
      card(base, '9', 'Magneton'),
      card(baseOther, '9', 'Mew'),
    ]
    const { setMaps, items, waiting: open } = assign(records, NO_DECISIONS)
    expect(setMaps).toEqual([{ from: 'pokemontcg:set:base1', to: 'tcgdex:set:base1', agree: 3, of: 5, decided: false, by: null }])
    expect(items.filter(({ records: own }) => own.length > 1)).toEqual([])
    expect(open.map(({ reasons }) => reasons.map(({ rule }) => rule))).toEqual(Array(3).fill(['set-unclear']))
  })

  it('map a set that resembles two to the one with the same name, otherwise a person decides once', () => {
    const reprint = setOf('tcgdex', 'base4', 'Base Set 2')
    const same = { 1: 'Alakazam', 2: 'Blastoise', 3: 'Chansey' }
    const namesakes = [
      ...both(same),
      ...both({ 5: 'Clefairy', 6: 'Gyarados' }),
      ...Object.entries(same).map(([number, name]) => card(reprint, number, name)),
    ]
    expect(waiting(namesakes)).toEqual([])
    expect(joined(namesakes)).toContain('tcgdex:base1-2 + pokemontcg:base1-2')
    const records = namesakes.map((record) => (record.source === 'pokemontcg' ? { ...record, set: { ...record.set!, codes: [] } } : record))
    expect(waiting(records)).toEqual([
      'pokemontcg:base1-1: set-unclear → tcgdex:base1-1 tcgdex:base4-1',
      'pokemontcg:base1-2: set-unclear → tcgdex:base1-2 tcgdex:base4-2',
      'pokemontcg:base1-3: set-unclear → tcgdex:base1-3 tcgdex:base4-3',
      'pokemontcg:base1-5: set-unclear → tcgdex:base1-5',
      'pokemontcg:base1-6: set-unclear → tcgdex:base1-6',
    ])
    const decided = { setMaps: [['pokemontcg:set:base1', 'tcgdex:set:base1']] as [string, string][] }
    expect(waiting(records, decided)).toEqual([])
    expect(joined(records, decided)).toContain('tcgdex:base1-2 + pokemontcg:base1-2')
  })

  it('a set that a person made separate is not mapped', () => {
    expect(joined(both(FIVE), { setMaps: [['pokemontcg:set:base1', null]] })).toHaveLength(10)
  })

  it("map sets with only the same name after a person's decision, then match by name alone as well", () => {
    const classic = setOf('tcgdex', 'cel25cc', 'Celebrations Classic Collection')
    const other = setOf('pokemontcg', 'cel25c', 'Celebrations: Classic Collection')
    const records = [
      card(classic, 'CC002', 'Charizard'),
      card(classic, 'CC001', 'Blastoise'),
      card(other, '4_A', 'Charizard'),
      card(other, '2_A', 'Blastoise'),
    ]
    expect(waiting(records)).toEqual([
      'pokemontcg:cel25c-2_A: set-unclear → tcgdex:cel25cc-CC001',
      'pokemontcg:cel25c-4_A: set-unclear → tcgdex:cel25cc-CC002',
    ])
    const decided = { setMaps: [['pokemontcg:set:cel25c', 'tcgdex:set:cel25cc']] as [string, string][] }
    expect(joined(records, decided)).toEqual(['tcgdex:cel25cc-CC001 + pokemontcg:cel25c-2_A', 'tcgdex:cel25cc-CC002 + pokemontcg:cel25c-4_A'])
  })

  it('if a source contains a set twice, its copies are pending', () => {
    const shining = setOf('tcgdex', 'swsh4.5', 'Shining Fates')
    const vault = setOf('tcgdex', 'swsh4.5sv', 'Shining Fates Shiny Vault')
    const vaultOther = setOf('pokemontcg', 'swsh45sv', 'Shining Fates Shiny Vault')
    const names = ['Rowlet', 'Dartrix', 'Decidueye', 'Thwackey', 'Blipbug']
    const records = [
      ...names.flatMap((name, i) => [card(shining, `SV00${i + 1}`, name), card(vault, `SV00${i + 1}`, name), card(vaultOther, `SV00${i + 1}`, name)]),
      ...['Weedle', 'Kakuna', 'Yanma'].map((name, i) => card(shining, String(i + 1), name)),
    ]
    expect(joined(records)).toHaveLength(8)
    expect(joined(records)).toContain('tcgdex:swsh4.5sv-SV001 + pokemontcg:swsh45sv-SV001')
    expect(waiting(records)[0]).toBe('tcgdex:swsh4.5-SV001: claimed-twice → tcgdex:swsh4.5sv-SV001')
  })
})

describe('uncertain matches are pending', () => {
  it('cards with the same number and name in a set', () => {
    const records = [
      ...both(FIVE),
      card(base, '7', 'Twin', { id: 'one' }),
      card(base, '7', 'Twin', { id: 'two' }),
      card(baseOther, '7', 'Twin', { id: 'x' }),
    ]
    expect(waiting(records)).toEqual(['pokemontcg:x: several → tcgdex:one tcgdex:two'])
    expect(joined(records)).not.toContain('pokemontcg:x')
  })

  it('two records that match one card', () => {
    const records = [...both(FIVE), card(base, '7', 'Twin'), card(baseOther, '7', 'Twin', { id: 'x' }), card(baseOther, '7', 'Twin', { id: 'y' })]
    expect(waiting(records)).toEqual(['pokemontcg:x: claimed-twice → tcgdex:base1-7', 'pokemontcg:y: claimed-twice → tcgdex:base1-7'])
  })

  it('contradictory hit points or prices', () => {
    const hp = both(FIVE, { 1: { hp: 80 } }).map((record) => (record.key === 'tcgdex\tbase1-1\t' ? { ...record, hp: 90 } : record))
    expect(waiting(hp)).toEqual(['pokemontcg:base1-1: hp → tcgdex:base1-1'])
    const priced = (cents: number) =>
      both(FIVE, { 1: { priceCents: cents } }).map((record) => (record.key === 'tcgdex\tbase1-1\t' ? { ...record, priceCents: 100 } : record))
    expect(waiting(priced(501))).toEqual(['pokemontcg:base1-1: price-ratio → tcgdex:base1-1'])
    expect(waiting(priced(500))).toEqual([])
    expect(waiting(priced(20))).toEqual([])
  })

  it('0 hit points and no price are not contradictory', () => {
    expect(waiting(both(FIVE, { 1: { hp: 0, priceCents: 0 }, 2: { hp: null } }))).toEqual([])
  })

  it('names or numbers that are only similar', () => {
    const records = [
      ...both({ ...FIVE, 8: 'Machamp', 9: 'Magneton', 10: 'Mewtwo' }),
      card(base, '98', 'Impostor Oak'),
      card(baseOther, '98', 'Imposter Oak'),
      card(base, '70a', 'Clefairy Doll'),
      card(baseOther, '70', 'Clefairy Doll'),
    ]
    expect(waiting(records)).toEqual(['pokemontcg:base1-70: loose → tcgdex:base1-70a', 'pokemontcg:base1-98: loose → tcgdex:base1-98'])
  })

  it('a card without similar ones is a separate item', () => {
    const records = [...both(FIVE), card(baseOther, '99', 'Mew')]
    expect(joined(records)).toContain('pokemontcg:base1-99')
    expect(waiting(records)).toEqual([])
  })
})

describe('shop ids', () => {
  const id = (value: string) => [{ source: 'cardmarket', id: value }]
  const other = setOf('pokemontcg', 'other', 'Something Else')

  it('match cards of sets without a map', () => {
    const records = [card(base, '4', 'Charizard', { shopIds: id('273699') }), card(other, '4/102', 'Charizard', { shopIds: id('273699') })]
    expect(joined(records)).toEqual(['tcgdex:base1-4 + pokemontcg:other-4/102'])
  })

  it('require the same name, and never override set, number and name', () => {
    const records = [...both(FIVE), card(base, '4', 'Charizard', { shopIds: id('1') }), card(other, '4', 'Pikachu', { shopIds: id('1') })]
    expect(waiting(records)).toEqual(['pokemontcg:other-4: shop-id-differs → tcgdex:base1-4'])
    const wrong = [...both(FIVE, { 1: { shopIds: id('1') } }), card(base, '4', 'Charizard', { shopIds: id('1') })]
    expect(waiting(wrong)).toEqual(['pokemontcg:base1-1: shop-id-differs → tcgdex:base1-1 tcgdex:base1-4'])
  })

  it('are ignored if several cards of a source have them', () => {
    const records = [
      card(base, '4', 'Charizard', { shopIds: id('1') }),
      card(base, '5', 'Charizard', { shopIds: id('1') }),
      card(other, '4', 'Charizard', { shopIds: id('1') }),
    ]
    expect(joined(records)).toHaveLength(3)
  })

  it('of several finishes are one id', () => {
    const finished = (finish: string) => [{ source: 'cardmarket', id: '273798', finish }]
    const records = [
      card(base, '7', 'Nidoking', { printing: 'Holo', shopIds: finished('holo') }),
      card(base, '7', 'Nidoking', { printing: 'Holo 1st Edition', shopIds: finished('firstEdition') }),
      card(other, '7', 'Nidoking', { shopIds: id('273798') }),
    ]
    expect(joined(records)).toEqual(['tcgdex:base1-7 + pokemontcg:other-7 (holo)', 'tcgdex:base1-7 + pokemontcg:other-7 (holo-first-edition)'])
  })
})

describe('finishes', () => {
  it('share one vocabulary', () => {
    const records = [
      ...both(FIVE),
      card(base, '7', 'Nidoking', { printing: 'Holo 1st Edition', id: 'a' }),
      card(base, '7', 'Nidoking', { printing: 'Reverse', id: 'a' }),
      card(baseOther, '7', 'Nidoking', { printing: '1st Edition Holofoil', id: 'b' }),
      card(baseOther, '7', 'Nidoking', { printing: 'Reverse Holofoil', id: 'b' }),
    ]
    expect(joined(records).slice(0, 2)).toEqual(['tcgdex:a + pokemontcg:b (holo-first-edition)', 'tcgdex:a + pokemontcg:b (reverse)'])
  })

  it('an edition without a foil matches the one that other sources state', () => {
    const records = [
      ...both(FIVE),
      card(base, '7', 'Nidoking', { printing: 'Holo 1st Edition', id: 'a' }),
      card(baseOther, '7', 'Nidoking', { printing: 'firstEdition', id: 'b' }),
    ]
    expect(joined(records)).toContain('tcgdex:a + pokemontcg:b (holo-first-edition)')
  })

  it('of One Piece are separate printings', () => {
    const pack = { ref: 'punk-records:pack:569101', name: 'ROMANCE DAWN [OP-01]', codes: ['OP-01'], printedTotal: null }
    const zoro = (id: string, printing: string) => card(pack, 'OP01-001', 'Roronoa Zoro', { id, game: 'onepiece', family: 'en', printing })
    expect(joined([zoro('en:OP01-001', 'normal'), zoro('en:OP01-001_p1', '_p1'), zoro('en:OP01-001_r2', 'Reprint 2')])).toEqual([
      'punk-records:en:OP01-001 (normal)',
      'punk-records:en:OP01-001_p1 (parallel-1)',
      'punk-records:en:OP01-001_r2 (reprint-2)',
    ])
  })
})

describe('decisions', () => {
  const twins = [
    ...both(FIVE),
    card(base, '7', 'Twin', { id: 'one' }),
    card(base, '7', 'Twin', { id: 'two' }),
    card(baseOther, '7', 'Twin', { id: 'x' }),
  ]
  const key = (source: string, id: string) => `${source}\t${id}\t`

  it('match pending cards', () => {
    const same: [string, string][] = [[key('tcgdex', 'two'), key('pokemontcg', 'x')]]
    expect(waiting(twins, { same })).toEqual([])
    expect(joined(twins, { same })).toContain('tcgdex:two + pokemontcg:x')
  })

  it('separate cards that a rule would match, and leave the other candidate', () => {
    const apart: [string, string][] = [[key('pokemontcg', 'x'), key('tcgdex', 'one')]]
    expect(joined(twins, { apart })).toContain('tcgdex:two + pokemontcg:x')
    expect(joined(twins, { apart: [...apart, [key('tcgdex', 'two'), key('pokemontcg', 'x')]] })).toContain('pokemontcg:x')
    expect(joined(both(FIVE), { apart: [[key('tcgdex', 'base1-1'), key('pokemontcg', 'base1-1')]] })).toContain('pokemontcg:base1-1')
  })

  it('match contradictory cards, cards of one source and finishes', () => {
    const hp = both(FIVE, { 1: { hp: 80 } }).map((record) => (record.key === key('tcgdex', 'base1-1') ? { ...record, hp: 90 } : record))
    expect(joined(hp, { same: [[key('pokemontcg', 'base1-1'), key('tcgdex', 'base1-1')]] })).toContain('tcgdex:base1-1 + pokemontcg:base1-1')
    expect(joined(twins, { same: [[key('tcgdex', 'one'), key('tcgdex', 'two')]] })).toContain('tcgdex:one + tcgdex:two + pokemontcg:x')
    const finishes = [card(base, '1', 'A', { printing: 'Holo' }), card(base, '1', 'A', { printing: 'Cosmos Holo' })]
    expect(joined(finishes, { same: [[finishes[0]!.key, finishes[1]!.key]] })).toEqual(['tcgdex:base1-1 + tcgdex:base1-1 (holo)'])
  })

  it('about missing records change nothing', () => {
    const gone: Partial<Decisions> = {
      same: [['a\tb\t', 'c\td\t']],
      apart: [['a\tb\t', key('tcgdex', 'one')]],
      setMaps: [['nowhere', 'never']],
      postponed: ['z'],
    }
    expect(joined(twins, gone)).toEqual(joined(twins))
  })

  it('to postpone leave the card pending and marked', () => {
    const { waiting: open } = assign(twins, { ...NO_DECISIONS, postponed: [key('pokemontcg', 'x')] })
    expect(open.map(({ postponed }) => postponed)).toEqual([true])
  })
})

describe('sealed products', () => {
  const cardmarket = (id: string, name: string, more: Partial<MatchRecord> = {}) => product('cardmarket', id, name, more)
  const tcgplayer = (id: string, name: string, more: Partial<MatchRecord> = {}) => product('tcgplayer', id, name, more)

  it('are matched by their words', () => {
    expect(
      joined([
        cardmarket('1', 'Darkness Ablaze: Flareon 3-Pack Blister'),
        tcgplayer('2', 'Darkness Ablaze 3 Pack Blister [Flareon]'),
        cardmarket('3', 'Brilliant Stars Booster'),
        tcgplayer('4', 'Brilliant Stars Booster Pack'),
        cardmarket('5', 'Pokémon GO Elite Trainer Box'),
        tcgplayer('6', 'Pokemon GO ETB'),
      ]),
    ).toEqual(['cardmarket:1 + tcgplayer:2', 'cardmarket:3 + tcgplayer:4', 'cardmarket:5 + tcgplayer:6'])
  })

  it('differ by any word, and by their contents', () => {
    expect(
      joined([
        cardmarket('1', 'Brilliant Stars Booster Box'),
        tcgplayer('2', 'Brilliant Stars Booster Box Case'),
        tcgplayer('3', 'Brilliant Stars Booster'),
      ]),
    ).toHaveLength(3)
  })

  it('with the same words in one source are pending', () => {
    const records = [cardmarket('1', 'Zekrom Tin'), cardmarket('2', 'Tin: Zekrom'), tcgplayer('3', 'Zekrom Tin')]
    expect(waiting(records)).toEqual(['tcgplayer:3: several → cardmarket:1 cardmarket:2'])
    expect(waiting([cardmarket('1', 'Zekrom Tin'), tcgplayer('2', 'Zekrom Tin'), tcgplayer('3', 'Tin Zekrom')])).toEqual([
      'tcgplayer:2: claimed-twice → cardmarket:1',
      'tcgplayer:3: claimed-twice → cardmarket:1',
    ])
    expect(waiting([cardmarket('1', 'Zekrom Tin', { priceCents: 100 }), tcgplayer('2', 'Zekrom Tin', { priceCents: 600 })])).toEqual([
      'tcgplayer:2: price-ratio → cardmarket:1',
    ])
  })

  it('use the aliases that an operator adds', () => {
    const records = [cardmarket('1', 'Celebrations Sammelbox'), tcgplayer('2', 'Celebrations Collection')]
    expect(joined(records)).toHaveLength(2)
    expect(joined(records, {}, { sealedAliases: { sammelbox: 'collection' } })).toEqual(['cardmarket:1 + tcgplayer:2'])
  })
})

test('the order of records does not matter, for any records', () => {
  const sets = [base, baseOther, promos, promosOther, setOf('tcgplayer', 'g', 'Base Set')]
  const anyRecord = fc
    .record({
      set: fc.constantFrom(...sets),
      number: fc.constantFrom('1', '01', '2', '3', '4', 'SWSH001', 'SWSH2'),
      name: fc.constantFrom('Mew', 'Mew ex', 'Mew (Delta Species)', 'Mewtwo', 'Ditto'),
      printing: fc.constantFrom(undefined, 'normal', 'Holo', 'Reverse', '1st Edition', 'Holo 1st Edition'),
      hp: fc.constantFrom(null, 50, 60),
      priceCents: fc.constantFrom(null, 100, 1_000),
      shopIds: fc.uniqueArray(fc.constantFrom('1', '2', '3'), { maxLength: 2 }).map((ids) => ids.map((id) => ({ source: 'cardmarket', id }))),
      genre: fc.constantFrom('single', 'single', 'single', 'sealed'),
    })
    .map(({ set, number, name, genre, ...more }) => card(set, number, name, { ...more, genre: genre as 'single' }))
  const anyRecords = fc.uniqueArray(anyRecord, { selector: ({ key }) => key, maxLength: 40 })
  const anyCase = anyRecords.chain((records) =>
    fc.record({
      records: fc.constant(records),
      order: fc.shuffledSubarray(records, { minLength: records.length }),
      pairs: fc.array(fc.tuple(fc.nat(39), fc.nat(39), fc.boolean()), { maxLength: 4 }),
      setMap: fc.constantFrom(undefined, null, base.ref, promos.ref),
    }),
  )
  fc.assert(
    fc.property(anyCase, ({ records, order, pairs, setMap }) => {
      const chosen = pairs.flatMap(([a, b, same]) =>
        records[a] && records[b] && a !== b ? [{ pair: [records[a].key, records[b].key] as [string, string], same }] : [],
      )
      const decisions: Decisions = {
        ...NO_DECISIONS,
        same: chosen.filter(({ same }) => same).map(({ pair }) => pair),
        apart: chosen.filter(({ same }) => !same).map(({ pair }) => pair),
        setMaps: setMap === undefined ? [] : [[baseOther.ref, setMap]],
      }
      const assignment = assign(records, decisions)
      expect(assign(order, decisions)).toEqual(assignment)
      // Each record is in items or pending, never both; one with a finish is in one item.
      const placed = assignment.items.flatMap((item) => item.records)
      const open = new Set(assignment.waiting.flatMap(({ keys }) => keys))
      for (const { key, finish } of records) {
        const count = placed.filter((one) => one.key === key).length
        expect(open.has(key) ? count === 0 : finish === null ? count >= 1 : count === 1).toBe(true)
      }
    }),
    { numRuns: runs(500) },
  )
})
