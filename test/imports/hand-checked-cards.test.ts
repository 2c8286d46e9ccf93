// Thirty and more real cards of each new game, checked by hand: a sample in its source's form is uploaded, and items, searches and completion are
// compared with what the cards are.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collector, makeCollection } from '../collections/kit.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'

/** What a collector calls a card: one with this name and number in this set. */
interface Card {
  name: string
  code: string
  category: string
  /** of its first item */
  rarity: string
  /** finish of each item, with the language unless it is English */
  items: string[]
  /** searches that must find it */
  find: string[]
}
interface Item {
  id: number
  name: string
  code: string | null
  category: { id: number; name: string }
  attributes: { name: string; value: string }[]
}
interface Completion {
  owned: number
  of: number
}

const GAMES: Readonly<Record<string, { format: string; file: (rows: object[]) => unknown }>> = {
  fab: { format: 'flesh-and-blood', file: (rows) => rows },
  magic: { format: 'scryfall', file: (rows) => rows },
  yugioh: { format: 'ygoprodeck', file: (rows) => ({ data: rows }) },
}

/** The rows of a game's sample in the form of its source, and the cards that they are. */
function sampleOf(game: string): { rows: object[]; cards: Card[] } {
  const lines = readFileSync(new URL(`cards/${game}.ndjson`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  const entries = lines.map((line) => JSON.parse(line) as { row?: object; card?: Card })
  return { rows: entries.flatMap(({ row }) => row ?? []), cards: entries.flatMap(({ card }) => card ?? []) }
}

let node: TestNode
let plus: ReturnType<typeof collector>

beforeAll(async () => {
  node = await startTestNode()
  plus = collector(node, node.keys.plus)
})
afterAll(() => node.close())

async function upload(format: string, text: string): Promise<{ status: string; rejected: number }> {
  const imports = `${node.operatorUrl}/operator/v1/imports`
  const { body } = await send<{ id: number }>(`${imports}/${format}`, OPERATOR_TOKEN, { method: 'POST', body: text })
  let found = { status: '', rejected: -1 }
  await until('the import is over', async () => {
    found = (await send<typeof found>(`${imports}/${body.data.id}`, OPERATOR_TOKEN)).body.data
    return ['done', 'failed'].includes(found.status)
  })
  return found
}

async function get<T>(path: string, query: Record<string, string>): Promise<T> {
  const { status, body } = await send<T>(`${node.publicUrl}/api/v1/${path}?${new URLSearchParams(query).toString()}`, node.keys.plus)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}

const attributeOf = ({ attributes }: Item, name: string) => attributes.find((attribute) => attribute.name === name)?.value
const cardKey = ({ name, code, category }: { name: string; code: string | null; category: string }) => `${category} | ${code} | ${name}`
const keyOf = (item: Item) => cardKey({ ...item, category: item.category.name })
const printingOf = (item: Item) => [attributeOf(item, 'Finish'), attributeOf(item, 'Languages')].filter((part) => part && part !== 'en').join(' ')

describe.each(Object.entries(GAMES))('%s', (game, { format, file }) => {
  const { rows, cards } = sampleOf(game)
  let items: Item[]

  beforeAll(async () => {
    expect(cards.length).toBeGreaterThanOrEqual(30)
    expect(await upload(format, JSON.stringify(file(rows)))).toMatchObject({ status: 'done', rejected: 0 })
    items = await get<Item[]>('items', { game, per_page: '100', page: '1' })
    items.push(...(await get<Item[]>('items', { game, per_page: '100', page: '2' })))
  })

  test('each card has an item for each printing that is sold', () => {
    const found = Map.groupBy(items, keyOf)
    const actual = Array.from(found, ([key, own]) => [key, own.map(printingOf).sort(), attributeOf(own[0]!, 'Rarity')])
    const expected = cards.map((card) => [cardKey(card), card.items.toSorted(), card.rarity])
    expect(actual.sort()).toEqual(expected.sort())
  })

  test.each(cards.map((card) => [card.name, card.code, card] as const))('searches find %s %s', async (_name, _code, card) => {
    for (const search of [...card.find, `${card.name} ${card.code}`]) {
      const listed = await get<Item[]>('items', { game, search, per_page: '100' })
      expect([search, listed.map(keyOf)]).toEqual([search, expect.arrayContaining([cardKey(card)])])
    }
    const [best] = await get<Item[]>('items/search', { game, q: `${card.find[0]} ${card.code} ${card.category}` })
    expect(keyOf(best!)).toBe(cardKey(card))
    const suggested = await get<{ name: string; code: string; category: { name: string } }[]>('items/suggest', { q: `${card.name} ${card.code}` })
    const keys = suggested.map((one) => cardKey({ ...one, category: one.category.name }))
    expect(keys.filter((key) => key === cardKey(card))).toHaveLength(1)
  })

  test('a set is complete with one printing of each of its cards, and mastered with all of them', async () => {
    const collection = await makeCollection(node, node.accounts.plus)
    const sets = new Map(items.map(({ category }) => [category.name, category.id]))
    for (const [name, id] of sets) {
      const own = cards.filter(({ category }) => category === name)
      for (const { code } of own) await plus.add(collection, { item_id: items.find((item) => item.category.id === id && item.code === code)!.id })
      const completion = async (goal: string) => {
        const { owned, of } = (await plus.ask<Completion>('GET', `/${collection}/completion?category_id=${id}&goal=${goal}`)).body.data
        return [owned, of]
      }
      const printings = own.flatMap((card) => card.items).length
      expect([name, await completion('complete'), await completion('master')]).toEqual([name, [own.length, own.length], [own.length, printings]])
    }
  })
})

test('a printing in another language counts for goals of its language alone, and as the same card otherwise', async () => {
  const collection = await makeCollection(node, node.accounts.plus)
  const snapcasters = (await get<Item[]>('items', { game: 'magic', search: 'snapcaster mage' })).filter(({ code }) => code === '78')
  const japanese = snapcasters.find((item) => attributeOf(item, 'Languages') === 'ja')!
  await plus.add(collection, { item_id: japanese.id })
  const completion = async (query: string) => {
    const { owned, of } = (await plus.ask<Completion>('GET', `/${collection}/completion?category_id=${japanese.category.id}&${query}`)).body.data
    return [owned, of]
  }
  expect([await completion('language=ja'), await completion('language=en'), await completion('goal=complete')]).toEqual([
    [1, 1],
    [0, 3],
    [1, 3],
  ])
})

test('a Magic card of the set Unlimited Edition is found by `unlimited`, and no other printing', async () => {
  const sets = async (q: string) => (await get<Item[]>('items/search', { game: 'magic', q })).map(({ category }) => category.name)
  expect([await sets('lightning bolt unlimited'), new Set(await sets('unlimited'))]).toEqual([['Unlimited Edition'], new Set(['Unlimited Edition'])])
})

test('MTGJSON and Scryfall state the same items; tokens are in a set of their own', async () => {
  const before = (await get<Item[]>('items', { game: 'magic', search: 'delver of secrets' })).map(({ id }) => id)
  const face = { number: '51', layout: 'transform', finishes: ['nonfoil', 'foil'], rarity: 'common' }
  const scryfallId = sampleOf('magic').rows.find((row) => (row as { name: string }).name.startsWith('Delver'))! as { id: string }
  const delver = { ...face, uuid: 'm-1', side: 'a', name: 'Delver of Secrets // Insectile Aberration', identifiers: { scryfallId: scryfallId.id } }
  const token = { uuid: 'm-2', name: 'Homunculus', number: '4', layout: 'token', finishes: ['nonfoil'], identifiers: {} }
  const data = { baseSetSize: 264, cards: [delver, { ...delver, uuid: 'm-3', side: 'b' }], code: 'ISD', name: 'Innistrad', tokens: [token] }
  expect(await upload('mtgjson', JSON.stringify({ meta: {}, data }))).toMatchObject({ status: 'done', rejected: 0 })
  const after = await get<Item[]>('items', { game: 'magic', search: 'delver of secrets' })
  expect(after.map(({ id }) => id).sort()).toEqual(before.sort())
  const [homunculus] = await get<Item[]>('items', { game: 'magic', search: 'homunculus' })
  expect(homunculus!.category.name).toBe('Innistrad Tokens')
})
