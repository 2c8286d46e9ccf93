// Splitting the data of one source out of an item, and reverting the split.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Batch } from '#identity/merge/batches.ts'
import { exported, pokemontcgCards, pokemontcgSets, tcgdexCards, tcgdexSets } from '../imports/one-card.ts'
import { importFiles, startTestNode, type TestNode } from '../support/node.ts'
import { item, merge, operator, postPrices, undo } from './kit.ts'

let node: TestNode

const tcgdex = () =>
  importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets },
    { name: 'cards', text: tcgdexCards },
  ])
const pokemontcg = () =>
  importFiles(node, 'pokemontcg', [
    { name: 'sets', text: pokemontcgSets },
    { name: 'cards', text: pokemontcgCards },
  ])

beforeAll(async () => {
  node = await startTestNode()
  await tcgdex()
  await pokemontcg()
})
afterAll(() => node.close())

interface Source {
  source: string
  foreign_id: string
  finish: string | null
  method: string
  confidence: number
  facts: Record<string, unknown>
}

const idOf = async (ref: string) => (await node.db.kysely.selectFrom('items').select('id').where('ref', '=', ref).executeTakeFirstOrThrow()).id
const sources = async (id: number) => (await operator<Source[]>(node, 'GET', `/items/${id}/sources`)).body.data
const names = async (id: number) => (await sources(id)).map(({ source, foreign_id }) => `${source} ${foreign_id}`)
const split = (id: number, source: unknown, foreignId: unknown) =>
  operator<Batch>(node, 'POST', `/items/${id}/split`, { source, foreign_id: foreignId })

test('the sources of an item are listed with the facts of each', async () => {
  const [first, second] = await sources(await idOf('tcgdex:base1-4'))
  expect(first).toMatchObject({
    source: 'tcgdex',
    foreign_id: 'base1-4',
    finish: 'holo',
    method: 'own',
    confidence: 100,
    facts: { name: 'Charizard', details: { hp: 80 } },
  })
  expect(second).toMatchObject({ source: 'pokemontcg', foreign_id: 'base1-4', finish: null, method: 'set-map', facts: { details: { level: 43 } } })
  expect((await operator(node, 'GET', '/items/999999/sources')).status).toBe(404)
})

test('a source record becomes a separate item, stays separate, and can be merged back', async () => {
  const id = await idOf('tcgdex:base1-4')
  await postPrices(node, [{ item_id: id, market: 'source_b', price: 12 }])
  const before = await exported(node)
  const { status, body } = await split(id, 'pokemontcg', 'base1-4')
  expect([status, body.data]).toMatchObject([200, { kind: 'split', from: { ref: 'pokemontcg:base1-4' }, into: { id, ref: 'tcgdex:base1-4' } }])
  const own = body.data.from.id
  expect([await names(id), await names(own)]).toEqual([['tcgdex base1-4'], ['pokemontcg base1-4']])
  // The foreign id belongs to the card as a whole: no other finish has it either.
  expect(await names(await idOf('tcgdex:base1-4:reverse'))).toEqual(['tcgdex base1-4'])
  expect((await item(node, id)).body.data.prices).toHaveLength(1)
  await pokemontcg()
  await tcgdex()
  expect([await names(id), await names(own)]).toEqual([['tcgdex base1-4'], ['pokemontcg base1-4']])

  expect((await undo(node, body.data.batch_id)).body.data).toMatchObject({ kind: 'split', from: { id: own }, into: { id } })
  expect((await item(node, own)).body.data.id).toBe(id)
  expect((await undo(node, body.data.batch_id)).body.error).toMatchObject({ code: 'CONFLICT', rule: 'batch_reverted' })
  await pokemontcg()
  expect(await names(await idOf('tcgdex:base1-4:reverse'))).toEqual(['tcgdex base1-4', 'pokemontcg base1-4'])
  expect(await exported(node)).toBe(before)
})

test('an item keeps its id and user data when its first source is split off', async () => {
  const id = await idOf('tcgdex:base1-2')
  await postPrices(node, [{ item_id: id, market: 'source_b', price: 12 }])
  const { body } = await split(id, 'tcgdex', 'base1-2')
  expect([await names(id), await names(body.data.from.id)]).toEqual([['pokemontcg base1-2'], ['tcgdex base1-2']])
  expect((await item(node, id)).body.data.prices).toHaveLength(1)
  expect((await undo(node, body.data.batch_id)).status).toBe(200)
  expect(await names(id)).toEqual(['tcgdex base1-2', 'pokemontcg base1-2'])
})

test('a record that came from a merge becomes that item again', async () => {
  const [from, into] = [await idOf('tcgdex:base1-5'), await idOf('tcgdex:base1-6')]
  await postPrices(node, [{ item_id: from, market: 'source_c', price: 7 }])
  await merge(node, from, into)
  const { body } = await split(into, 'tcgdex', 'base1-5')
  expect(body.data).toMatchObject({ kind: 'split', from: { id: from }, into: { id: into } })
  expect((await item(node, from)).body.data).toMatchObject({ id: from, prices: [{ price: 7 }] })
})

test('invalid splits are rejected', async () => {
  const id = await idOf('tcgdex:base1-1')
  expect((await split(id, 'pokemontcg', 'base1-2')).body.error).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ field: 'foreign_id', rule: 'not_a_source', params: { values: ['tcgdex base1-1', 'pokemontcg base1-1'] } }],
  })
  await split(id, 'pokemontcg', 'base1-1')
  expect((await split(id, 'tcgdex', 'base1-1')).body.error).toMatchObject({ code: 'CONFLICT', rule: 'only_source' })
  expect((await split(999_999, 'tcgdex', 'base1-1')).status).toBe(404)
  expect((await split(id, 7, undefined)).status).toBe(422)
  expect((await undo(node, 999_999)).status).toBe(404)
})
