// Games: what is loaded of each, from which sources, and what awaits a match, over the operator API and the command line.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register as registerGames } from '#cli/catalogue/games.ts'
import type { Game, GameDetail } from '#stats/games/read-games.ts'
import { runCommand } from '../support/command-line.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'operator' })
})

afterAll(() => node.close())

const get = <T>(path: string) => send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN)

test('each game has its counts, prices by market, sources, last imports and public sources', async () => {
  expect((await get<Game[]>('/games')).body.data).toEqual([])
  const sets = [{ id: 'base1', name: 'Base', series: 'Base', printedTotal: 102, total: 102, images: {} }]
  const cards = [1, 2].map((n) => ({ id: `base1-${n}`, name: `Card ${n}`, supertype: 'Pokémon', number: String(n), images: {} }))
  const { id } = await importText(node, 'pokemontcg', [...sets, ...cards].map((row) => JSON.stringify(row)).join('\n'))
  const price = 'item_ref,market,label,price,updated_at\npokemontcg:base1-1,source_a,Near Mint,2.50,2026-11-03T00:00:00Z\n'
  await importText(node, 'mintmark-prices-csv', price)
  const punk = { id: 'OP01-001', pack_id: '569101', name: 'Zoro', category: 'Leader', colors: ['Red'] }
  await importText(node, 'punk-records', JSON.stringify({ 569101: { id: '569101', raw_title: 'ROMANCE DAWN' } }))
  await importText(node, 'punk-records', JSON.stringify([punk]))

  const { body } = await get<Game[]>('/games')
  expect(body.data).toMatchObject([
    { game: 'pokemon', name: 'Pokémon', items: 2, categories: 2, waiting: 0, postponed: 0, waiting_sets: 0, updated_at: expect.any(String) },
    { game: 'onepiece', name: 'One Piece', items: 1, categories: 2 },
  ])
  const { body: one } = await get<GameDetail>('/games/pokemon')
  expect(one.data).toMatchObject({
    ...body.data[0],
    prices: [{ market: 'source_a', prices: 1, items: 1, newest_at: '2026-11-03T00:00:00.000Z' }],
    sources: [{ source: 'pokemontcg', records: 2, format: 'pokemontcg', import_id: id, imported_at: expect.any(String) }],
    imports: [{ id, format: 'pokemontcg', status: 'done' }],
    public_sources: [{ name: 'tcgdex', game_name: 'Pokémon', state: 'never' }, { name: 'pokemontcg' }],
  })
  expect(await get('/games/none')).toMatchObject({ status: 404, body: { error: { message: 'Game not found: none' } } })

  expect(JSON.parse((await runCommand(node, [registerGames], ['games', '--json'])).text)).toEqual(body.data)
  expect((await runCommand(node, [registerGames], ['games', 'onepiece'])).text).toContain('One Piece: 1 items in 2 categories')
})
