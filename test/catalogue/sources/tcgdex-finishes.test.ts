// Which printings of a TCGdex card become items, under which refs, and which foreign ids assign prices to them.
import { expect, it } from 'vitest'
import { tcgdex } from '#catalogue/sources/tcgdex.ts'
import { attribute, itemsOf, readRows } from './reading.ts'

interface Printing {
  type: string
  subtype?: string
  stamp?: string[]
  foil?: string
  size?: string
  languages?: string[]
  thirdParty?: { cardmarket?: number; tcgplayer?: number; cardtrader?: number }
}

/** The items of a card as text: `ref | Finish | foreign ids with their finish`. */
async function finishes(variants: unknown, thirdParty?: Printing['thirdParty']): Promise<string[]> {
  const card = {
    id: 'tst1-4',
    localId: '4',
    name: { en: 'Testizard' },
    category: 'Pokemon',
    set: 'tst1',
    variants,
    thirdParty,
  }
  return itemsOf(await readRows(tcgdex, card)).map((item) => {
    const ids = item.foreignIds.map(({ source, id, finish }) => [source, id, finish].filter((part) => part).join(':'))
    return [item.ref, attribute(item, 'Finish') ?? '', ids.join(' ')].join(' | ')
  })
}

const printings = (...list: Printing[]) => finishes(list)

it('creates one item for a card without a list of printings', async () => {
  const one = ['tcgdex:tst1-4 |  | tcgdex:tst1-4 cardmarket:1 tcgplayer:2']
  expect(await finishes(undefined, { cardmarket: 1, tcgplayer: 2 })).toEqual(one)
  expect(await finishes([], { cardmarket: 1, tcgplayer: 2 })).toEqual(one)
  expect(await finishes([{ thirdParty: { cardmarket: 9 } }, null, 'holo'], { cardmarket: 1, tcgplayer: 2 })).toEqual(one)
})

it('creates an item for each flag that is set, if a card has flags instead of printings', async () => {
  const flags = (...set: string[]) => Object.fromEntries(['normal', 'reverse', 'holo', 'firstEdition'].map((flag) => [flag, set.includes(flag)]))
  expect(await finishes(flags('holo'), { cardmarket: 1, tcgplayer: 2 })).toEqual([
    'tcgdex:tst1-4 | Holo | tcgdex:tst1-4:holo cardmarket:1:holo tcgplayer:2:holo',
  ])
  expect(await finishes(flags('reverse', 'normal', 'firstEdition'), { tcgplayer: 2 })).toEqual([
    'tcgdex:tst1-4 | Normal | tcgdex:tst1-4:normal tcgplayer:2:normal',
    'tcgdex:tst1-4:reverse | Reverse | tcgdex:tst1-4:reverse tcgplayer:2:reverse',
    'tcgdex:tst1-4:first-edition | First Edition | tcgdex:tst1-4:first-edition tcgplayer:2:first-edition',
  ])
  expect(await finishes(flags(), { tcgplayer: 2 })).toEqual(['tcgdex:tst1-4 |  | tcgdex:tst1-4 tcgplayer:2'])
})

it('creates one item for each printing, the first being the card itself', async () => {
  expect(
    await printings(
      { type: 'holo', subtype: 'unlimited', thirdParty: { cardmarket: 1, tcgplayer: 2 } },
      { type: 'holo', subtype: 'shadowless', stamp: ['1st-edition'], thirdParty: { tcgplayer: 4, cardmarket: 3 } },
      { type: 'holo', subtype: 'shadowless', thirdParty: { tcgplayer: 4, cardmarket: 3 } },
    ),
  ).toEqual([
    'tcgdex:tst1-4 | Holo | tcgdex:tst1-4:holo cardmarket:1:holo tcgplayer:2:holo',
    'tcgdex:tst1-4:holo-first-edition | Holo First Edition | tcgdex:tst1-4:first-edition cardmarket:3:first-edition tcgplayer:4:first-edition',
    'tcgdex:tst1-4:holo-shadowless | Holo Shadowless | tcgdex:tst1-4:holo-shadowless cardmarket:3:holo tcgplayer:4:holo',
  ])
})

it('creates items for printings without their own ids', async () => {
  expect(await printings({ type: 'normal' }, { type: 'reverse' }, { type: 'holo', foil: 'cosmos' })).toEqual([
    'tcgdex:tst1-4 | Normal | tcgdex:tst1-4:normal',
    'tcgdex:tst1-4:reverse | Reverse | tcgdex:tst1-4:reverse',
    'tcgdex:tst1-4:holo-cosmos | Holo Cosmos | tcgdex:tst1-4:holo-cosmos',
  ])
  expect(
    await printings(
      { type: 'normal', thirdParty: { cardmarket: 1, tcgplayer: 2 } },
      { type: 'reverse', thirdParty: { cardmarket: 1, tcgplayer: 2 } },
      { type: 'normal', stamp: ['pokemon-day'], languages: ['de'] },
    ),
  ).toEqual([
    'tcgdex:tst1-4 | Normal | tcgdex:tst1-4:normal cardmarket:1:normal tcgplayer:2:normal',
    'tcgdex:tst1-4:reverse | Reverse | tcgdex:tst1-4:reverse cardmarket:1:reverse tcgplayer:2:reverse',
    'tcgdex:tst1-4:pokemon-day | Pokemon Day | tcgdex:tst1-4:pokemon-day',
  ])
})

it('uses the ids of the card for printings without ids', async () => {
  const list = [{ type: 'normal' }, { type: 'holo', foil: 'cracked-ice', thirdParty: { tcgplayer: 9 } }, { type: 'reverse' }]
  expect(await finishes(list, { cardmarket: 1, tcgplayer: 2 })).toEqual([
    'tcgdex:tst1-4 | Normal | tcgdex:tst1-4:normal cardmarket:1:normal tcgplayer:2:normal',
    'tcgdex:tst1-4:holo-cracked-ice | Holo Cracked Ice | tcgdex:tst1-4:holo-cracked-ice tcgplayer:9:holo',
    'tcgdex:tst1-4:reverse | Reverse | tcgdex:tst1-4:reverse cardmarket:1:reverse tcgplayer:2:reverse',
  ])
})

it('treats printings as one if the ids of one are part of the other', async () => {
  const part = { type: 'holo', thirdParty: { tcgplayer: 2 } }
  const whole = { type: 'holo', subtype: 'unlimited', thirdParty: { cardmarket: 1, tcgplayer: 2 } }
  const one = ['tcgdex:tst1-4 | Holo | tcgdex:tst1-4:holo cardmarket:1:holo tcgplayer:2:holo']
  expect(await printings(part, whole)).toEqual(one)
  expect(await printings(whole, part)).toEqual(one)
})

it('assigns an id shared by two items with one finish to the first', async () => {
  expect(
    await printings(
      { type: 'normal', thirdParty: { cardmarket: 1, tcgplayer: 2 } },
      { type: 'normal', stamp: ['staff'], thirdParty: { cardmarket: 3, tcgplayer: 2 } },
    ),
  ).toEqual([
    'tcgdex:tst1-4 | Normal | tcgdex:tst1-4:normal cardmarket:1:normal tcgplayer:2:normal',
    'tcgdex:tst1-4:staff | Staff | tcgdex:tst1-4:staff cardmarket:3:normal tcgplayer:2:staff',
  ])
})

it('never uses a stamped or oversized printing as the plain finish', async () => {
  const finishesOfCard = await printings(
    { type: 'normal', thirdParty: { tcgplayer: 1 } },
    { type: 'holo', size: 'jumbo', thirdParty: { tcgplayer: 2 } },
    { type: 'holo', size: 'standard', thirdParty: { tcgplayer: 3 } },
    { type: 'reverse', foil: 'pokeball', thirdParty: { tcgplayer: 4 } },
  )
  expect(finishesOfCard.map((line) => line.split(' ').at(-2))).toEqual([
    'tcgdex:tst1-4:normal',
    'tcgdex:tst1-4:holo-jumbo',
    'tcgdex:tst1-4:holo',
    'tcgdex:tst1-4:reverse-pokeball',
  ])
})

it('distinguishes products of the same finish by a number', async () => {
  const stamped = (cardmarket: number) => ({ type: 'holo', stamp: ['winner'], thirdParty: { cardmarket } })
  expect((await printings(stamped(1), stamped(2), stamped(3))).map((line) => line.split(' | ').slice(0, 2).join(' '))).toEqual([
    'tcgdex:tst1-4 Holo Winner',
    'tcgdex:tst1-4:holo-winner-2 Holo Winner 2',
    'tcgdex:tst1-4:holo-winner-3 Holo Winner 3',
  ])
})

it('reads the Asian spelling of the first edition', async () => {
  expect(
    await printings(
      { type: 'holo', subtype: 'unlimited', thirdParty: { tcgplayer: 1 } },
      { type: 'holo', stamp: ['1st edition'], thirdParty: { tcgplayer: 2, cardtrader: 5 } },
    ),
  ).toEqual([
    'tcgdex:tst1-4 | Holo | tcgdex:tst1-4:holo tcgplayer:1:holo',
    'tcgdex:tst1-4:holo-first-edition | Holo First Edition | tcgdex:tst1-4:first-edition tcgplayer:2:first-edition',
  ])
})
