// Proves that the Turkish console knows what the service says when it refuses what operators do there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { turkishRefusal, turkishSentence } from '../../console/src/words/refusals-tr.ts'
import { turkishReport } from '../../console/src/words/reports-tr.ts'
import { startSampleNode } from '../graphql/client.ts'
import { importText, OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'
import { operator } from './browser.ts'

let node: TestNode
let itemId: number
let listingId: number
let keyId: number

beforeAll(async () => {
  node = await startSampleNode()
  itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
  const listing = { seller_id: node.accounts.plus, item_id: itemId, title: 'One', price: 100, quantity: 1 }
  listingId = (await operator<{ id: number }>(node, 'POST', '/listings', listing)).id
  await operator(node, 'POST', `/listings/${listingId}/approve`, {})
  keyId = (await operator<{ id: number }>(node, 'POST', `/accounts/${node.accounts.plus}/keys`, {})).id
  await operator(node, 'DELETE', `/keys/${keyId}`)
})

afterAll(() => node.close())

const LONG = 'x'.repeat(300)
const NOBODY = 999_999

/** What people can get wrong in the console: method, path, body. */
const wrong = (): [string, string, object?][] => [
  ['GET', '/listings?status=nonsense'],
  ['GET', '/listings?seller_id=x'],
  ['GET', '/accounts?page=0'],
  ['GET', `/accounts/${NOBODY}`],
  ['GET', `/items/${NOBODY}`],
  ['GET', `/listings/${NOBODY}`],
  ['GET', `/orders/${NOBODY}`],
  ['GET', `/imports/${NOBODY}`],
  ['GET', '/audit?from=yesterday'],
  ['GET', '/price-mappings/none'],
  ['POST', '/imports/prices-csv', {}],
  ['POST', '/imports/prices-csv?map=price%3Da,name%3Db', {}],
  ['POST', '/imports/prices-csv?market=source_b&currency=euro&map=set%3Da,colour%3Db', {}],
  ['POST', '/imports/prices-csv?market=source_b&entries=a..b&map=price%3Da,price%3Db', {}],
  ['POST', '/imports/prices-csv?market=source_b&map=price%3D', {}],
  ['POST', '/imports/prices-csv?market=source_b&map=price%3Da,name%3D%7Bb,date%3Dc,updated_at%3Dd', {}],
  ['POST', '/imports/mintmark-prices-csv?map=price%3Da,name%3Db', {}],
  ['POST', '/accounts', { name: LONG, plan: 'free', highlight_credits: -1 }],
  ['POST', '/accounts', {}],
  ['POST', `/accounts/${node.accounts.plus}/credits`, { amount: 0 }],
  ['POST', `/accounts/${node.accounts.plus}/credits`, { amount: -50 }],
  ['POST', `/accounts/${node.accounts.plus}/credits`, { amount: 1, reason: LONG }],
  ['POST', `/accounts/${node.accounts.plus}/keys`, { expires_at: '2001-01-01T00:00:00Z' }],
  ['POST', `/keys/${keyId}/rotate`, { overlap_hours: 1 }],
  ['POST', `/accounts/${node.accounts.plus}/webhook/test`, { event: 'sale' }],
  ['POST', '/categories', { name: 'New', game: 'pokemon', market: 'source_c', parent_id: NOBODY }],
  ['POST', '/items', { name: 'New', genre: 'single', game: 'pokemon', market: 'source_c', category_id: NOBODY }],
  ['PATCH', `/items/${itemId}`, {}],
  ['PATCH', `/items/${itemId}`, { name: '' }],
  ['POST', '/listings', { seller_id: NOBODY, item_id: itemId, title: 'T', price: 0, quantity: -1 }],
  ['POST', '/listings', { seller_id: NOBODY, item_id: itemId, title: 'T', price: 5 }],
  ['POST', '/listings', { seller_id: node.accounts.plus, item_id: NOBODY, title: 'T', price: 5 }],
  ['PATCH', `/listings/${listingId}`, { min_offer_price: 5_000 }],
  ['PATCH', `/listings/${listingId}`, { language: LONG }],
  ['POST', `/listings/${listingId}/approve`, {}],
  ['POST', `/listings/${listingId}/reject`, {}],
  ['POST', '/orders', { order_id: 5, lines: [{ listing_id: NOBODY, quantity: 1 }] }],
  ['POST', '/orders', { order_id: 5, lines: [{ listing_id: listingId, quantity: 9 }] }],
  ['POST', '/orders', { order_id: 5, sold_at: '2099-01-01T00:00:00Z', lines: [{ listing_id: listingId, quantity: 1 }] }],
  ['POST', '/collections', { account_id: node.accounts.plus, name: '' }],
  ['POST', '/held-prices/accept', {}],
  ['POST', `/held-prices/${NOBODY}/accept`, {}],
]

test('every sentence is known', async () => {
  const unknown: string[] = []
  for (const [method, path, json] of wrong()) {
    const { status, body } = await send(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json })
    expect([path, status >= 400]).toEqual([path, true])
    const said = body.error!.details?.map(({ message }) => message) ?? [body.error!.message]
    unknown.push(...said.filter((sentence) => turkishSentence(sentence) === null).map((sentence) => `${method} ${path}: ${sentence}`))
  }
  expect(unknown).toEqual([])
})

test('what is not known stays as the service said it', () => {
  expect(turkishSentence('must be a whole number from 1 to 100')).toBe('1 ile 100 arasında bir tam sayı olmalı')
  expect(turkishSentence('is required: it must be one of a, b')).toBe('gerekli: şunlardan biri olmalı: a, b')
  expect(turkishRefusal({ code: 'UNAVAILABLE', message: 'Something new' })).toContain('veritabanına')
  expect(turkishRefusal({ code: 'CONFLICT', message: 'Something new' })).toBe('Something new')
})

const NDJSON = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n')
const CARD = { type: 'item', market: 'source_c', ref: 'x', name: 'X', slug: 'x', genre: 'single', game: 'pokemon', category: 'none' }
const PRICE_HEAD = 'item_ref,market,label,price,updated_at'
const TCGPLAYER_HEAD = 'TCGplayer Id,Product Line,Set Name,Product Name,Title,Number,Rarity,Condition,TCG Market Price'

/** Files with something wrong in most of their rows, or as a whole. */
const MAPPED = { map: 'price=eur,set=set,number=no,name=name,finish=foil,updated_at=day,label=grade', market: 'source_b' }

const BAD_FILES: [format: string, text: string, input?: object][] = [
  [
    'prices-csv',
    'name,set,no,eur,foil,day,grade\nNobody,S,1,1.00,,2026-01-01,NM\n,,,1.00,,2026-01-01,NM\nA,,1,1.00,,2026-01-01,NM\nA,S,1,"1,234",,2026-01-01,NM\n' +
      'A,S,1,£1,,2026-01-01,NM\nA,S,1,1,,soon,NM\nA,S,1,1,,2026-01-01,Fine\nCharizard,Nowhere,1,1,,2026-01-01,NM\nCharizard,Base Set,4,1,Gold,2026-01-01,NM\nCharizard,Base Set,400,1,,2026-01-01,NM\nA\uFFFD,S,1,1,,2026-01-01,NM\n',
    { ...MAPPED, currency: 'EUR' },
  ],
  ['prices-csv', 'name,set,no,eur,foil,day,grade\nCharizard,Base Set,4/102,1,,2026-01-01,NM\n', { ...MAPPED, currency: 'XAU' }],
  ['prices-csv', 'a,b\n1,2\n', MAPPED],
  ['prices-csv', 'name,set,no,eur,eur,foil,day,grade\n', MAPPED],
  ['prices-ndjson', '[{"a":1},2]', MAPPED],
  ['mintmark-ndjson', `${NDJSON(CARD, { ...CARD, name: '' }, { type: 'category', market: 'source_c' }, { type: 'none' })}\n[1]\n{`],
  ['mintmark-ndjson', 'no JSON at all'],
  ['tcgdex', NDJSON({ id: 'a', localId: '1', name: { en: 'A' } }, { localId: '1', name: { en: 'A' }, set: 's' }, { id: 'b', localId: '2', set: 's' }, { cardCount: {}, id: 's' })],
  ['pokemontcg', NDJSON({ supertype: 'Pokémon', id: 'a-1' }, { supertype: 'Pokémon', name: 'A' }, { supertype: 'Pokémon', id: 'a-1', name: 'A' }, { supertype: 'Pokémon', id: 'a', name: 'A', number: '1' })],
  ['punk-records', NDJSON({ id: 'OP01-001', pack_id: '1', name: 'A', img_full_url: 'https://x.example/a' }, { pack_id: '1', img_full_url: 'https://en.example/a' })],
  ['cardmarket-products', JSON.stringify({ products: [{ idProduct: 1, categoryName: 'Pokémon Coins', idCategory: 1, name: 'A' }, { idProduct: 2, categoryName: 'Pokémon Box' }, { name: 'A' }, { idProduct: 3, name: 'A', categoryName: 'Chess' }, 4] })],
  ['cardmarket-products', '{}'],
  ['tcgplayer-sealed', 'productId,name,cleanName,imageUrl,categoryId,groupId,url,set_code\nx,A,A,,3,1,,s\n1,,A,,3,1,,s\n'],
  [
    'mintmark-prices-csv',
    [
      PRICE_HEAD,
      ',source_b,Near Mint,1.00,2026-11-01T00:00:00Z',
      'nobody,source_b,Near Mint,1.00,2026-11-01T00:00:00Z',
      'x,nowhere,Near Mint,1.00,2026-11-01T00:00:00Z',
      'x,source_b,Fine,1.00,2026-11-01T00:00:00Z',
      'x,source_b,Near Mint,0,2026-11-01T00:00:00Z',
      'x,source_b,Near Mint,dear,2026-11-01T00:00:00Z',
      'x,source_b,Near Mint,1.00,yesterday',
      'x,source_b,Near Mint,1.00,1990-11-01T00:00:00Z',
      'x,source_b,Near Mint,1.00,',
      'x,source_b',
    ].join('\n'),
  ],
  ['mintmark-prices-csv', 'a,b\n1,2\n'],
  ['sealed-daily', 'productId,date,marketPrice\n,2026-01-01,1\n1,2026-13-01,1\n1,2026-01-01,free\n1,,1\n1,2026-01-01,1\n'],
  ['pricecharting-csv', 'id,product-name,loose-price,tcg-id\n,A,$1.00,\n5,A,$1.00,\n'],
  ['pokemontcg-prices', 'ID,Name,TCG Price Date,Normal TCG Market Price USD\n,A,2025-01-01,1\nx-1,A,2025-01-01,1\n'],
  ['tcgplayer-csv', `${TCGPLAYER_HEAD}\nx,Pokemon,S,A,,1,C,Near Mint,1\n1,Pokemon,S,A,,1,C,Mouldy,1\n2,Pokemon,S,A,,1,C,Near Mint,1\n`],
  ['graded-guide', NDJSON({ set_code: 'base1', graded_prices: { psa10: 1 } }, { set_code: 'base1', card_link: '/card/base4-1', graded_prices: { psa10: 1 } })],
  ['singles-brl', NDJSON({ key: 'a', cardId: 'a', sources: [] }, { key: 'a', cardId: 'a', finish: 'normal', stamp: 'gold', sources: [] })],
  ['cardmarket-price-guide', JSON.stringify({ priceGuides: [{ idProduct: 1, avg: 1 }, { avg: 1 }] })],
  ['cardmarket-price-guide', 'nothing'],
  ['tcgdex', ''],
]

test('reports of imports are known, and what is not known stays', async () => {
  const unknown: string[] = []
  let known = 0
  for (const [format, text, input] of BAD_FILES) {
    const { errors, message } = await importText(node, format, text, { ...(input && { input }) })
    const said = [...errors.map((error) => error.message), ...(message === null ? [] : [message])].flatMap((sentence) => sentence.split('; '))
    expect([format, said.length > 0]).toEqual([format, true])
    known += said.length
    unknown.push(...said.filter((sentence) => turkishReport(sentence) === sentence).map((sentence) => `${format}: ${sentence}`))
  }
  expect(unknown).toEqual([])
  expect(known).toBeGreaterThan(40)
  expect(turkishReport('12.50 after 3')).toBe('önceki fiyat 3 iken 12.50')
  expect(turkishReport('a thing that is new')).toBe('a thing that is new')
})
