// Requests of the console that the service rejects name a rule, so that every rejection has a text in Turkish.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TURKISH } from '#core/problem-texts/turkish.ts'
import { type Reason, textIn, textOf } from '#core/problems.ts'
import type { ImportDetail } from '#prices/imports/stored-imports.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { pokemontcgFiles, tcgdexFiles } from '../imports/waiting-cards.ts'
import { importFiles, importText, OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'
import { operator } from './browser.ts'

let node: TestNode
let itemId: number
let listingId: number
let keyId: number
let matchId: number
let setId: number

beforeAll(async () => {
  node = await startSampleNode({ listeners: 'operator' })
  itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
  const listing = { seller_id: node.accounts.plus, item_id: itemId, title: 'One', price: 100, quantity: 1 }
  listingId = (await operator<{ id: number }>(node, 'POST', '/listings', listing)).id
  await operator(node, 'POST', `/listings/${listingId}/approve`, {})
  keyId = (await operator<{ id: number }>(node, 'POST', `/accounts/${node.accounts.plus}/keys`, {})).id
  await operator(node, 'DELETE', `/keys/${keyId}`)
  await importFiles(node, 'tcgdex', tcgdexFiles)
  await importFiles(node, 'pokemontcg', pokemontcgFiles)
  matchId = (await operator<{ id: number }[]>(node, 'GET', '/matches'))[0]!.id
  setId = (await operator<{ id: number }[]>(node, 'GET', '/set-matches'))[0]!.id
  await operator(node, 'POST', `/matches/${matchId + 1}/separate`)
})

afterAll(() => node.close())

const LONG = 'x'.repeat(300)
const NOBODY = 999_999

/** Mistakes that people can make in the console: method, path, body. */
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
  ['POST', '/imports/prices-csv?market=source_b&map=price%3Da,price%5BFine%5D%3Db,name%3Dc,date%3Dd,updated_at%3De', {}],
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
  ['GET', `/matches/${NOBODY}`],
  ['POST', `/matches/${matchId}/accept`, { item_id: NOBODY }],
  ['POST', `/matches/${matchId}/withdraw`],
  ['POST', `/matches/${matchId + 1}/separate`],
  ['POST', `/set-matches/${setId}/withdraw`],
  ['POST', `/set-matches/${setId}/accept`, { set_id: setId }],
  ['POST', `/set-matches/${setId}/accept`, { set_id: NOBODY }],
]

/** Both texts of a reason, with all parameters filled in. */
function expectTexts({ rule, params }: Reason): void {
  for (const text of [textOf({ rule, params }), textIn(TURKISH, { rule, params })])
    expect([rule, text]).toEqual([rule, expect.not.stringMatching(/undefined|[{}]/)])
}

test('every error has a rule and texts in both languages', async () => {
  const rules = new Set<string>()
  for (const [method, path, json] of wrong()) {
    const { status, body } = await send(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json })
    expect([path, status >= 400]).toEqual([path, true])
    const { details, ...error } = body.error!
    for (const { rule, params } of details ?? [error]) {
      expectTexts({ rule, params } as Reason)
      rules.add(rule!)
    }
  }
  expect(rules.size).toBeGreaterThan(15)
})

const NDJSON = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n')
const CARD = { type: 'item', market: 'source_c', ref: 'x', name: 'X', slug: 'x', genre: 'single', game: 'pokemon', category: 'none' }
const PRICE_HEAD = 'item_ref,market,label,price,updated_at'
const TCGPLAYER_HEAD = 'TCGplayer Id,Product Line,Set Name,Product Name,Title,Number,Rarity,Condition,TCG Market Price'

/** Files with errors in most of their rows, or as a whole. */
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
  [
    'tcgdex',
    NDJSON(
      { id: 'a', localId: '1', name: { en: 'A' } },
      { localId: '1', name: { en: 'A' }, set: 's' },
      { id: 'b', localId: '2', set: 's' },
      { cardCount: {}, id: 's' },
    ),
  ],
  [
    'pokemontcg',
    NDJSON(
      { supertype: 'Pokémon', id: 'a-1' },
      { supertype: 'Pokémon', name: 'A' },
      { supertype: 'Pokémon', id: 'a-1', name: 'A' },
      { supertype: 'Pokémon', id: 'a', name: 'A', number: '1' },
    ),
  ],
  [
    'punk-records',
    NDJSON({ id: 'OP01-001', pack_id: '1', name: 'A', img_full_url: 'https://x.example/a' }, { pack_id: '1', img_full_url: 'https://en.example/a' }),
  ],
  [
    'cardmarket-products',
    JSON.stringify({
      products: [
        { idProduct: 1, categoryName: 'Pokémon Coins', idCategory: 1, name: 'A' },
        { idProduct: 2, categoryName: 'Pokémon Box' },
        { name: 'A' },
        { idProduct: 3, name: 'A', categoryName: 'Chess' },
        4,
      ],
    }),
  ],
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
  [
    'graded-guide',
    NDJSON({ set_code: 'base1', graded_prices: { psa10: 1 } }, { set_code: 'base1', card_link: '/card/base4-1', graded_prices: { psa10: 1 } }),
  ],
  ['singles-brl', NDJSON({ key: 'a', cardId: 'a', sources: [] }, { key: 'a', cardId: 'a', finish: 'normal', stamp: 'gold', sources: [] })],
  ['cardmarket-price-guide', JSON.stringify({ priceGuides: [{ idProduct: 1, avg: 1 }, { avg: 1 }] })],
  ['cardmarket-price-guide', 'nothing'],
  ['tcgdex', ''],
]

test('import reports have a rule and texts in both languages', async () => {
  let texts = 0
  for (const [format, text, input] of BAD_FILES) {
    const { id } = await importText(node, format, text, { ...(input && { input }) })
    const { data } = await send<ImportDetail>(`${node.operatorUrl}/operator/v1/imports/${id}`, OPERATOR_TOKEN).then(({ body }) => body)
    const said = [...data!.errors, ...data!.reasons, ...(data!.message === null ? [] : [data!])]
    expect([format, said.length > 0]).toEqual([format, true])
    texts += said.length
    for (const { rule, params } of said) expectTexts({ rule, params } as Reason)
  }
  expect(texts).toBeGreaterThan(60)
})
