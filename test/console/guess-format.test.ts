// The console guesses the format of a file by the marks that the service serves, and no format for other files.
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { listImportFormats } from '#imports/list-import-formats.ts'
import { call } from '#core/verb.ts'
import { guessFormat as guess, headOf } from '../../console/src/guess-format.ts'

const REAL = new URL('../../../shared/data/', import.meta.url)
const SAMPLE = new URL('../../sample/', import.meta.url)

const formats = await call(listImportFormats, { viewer: { kind: 'operator', name: 'test' } }, {})
const guessFormat = (head: string) => guess(head, formats)

/** Beginnings of files of each format. */
const HEADS: Record<string, string[]> = {
  'mintmark-ndjson': ['{"type":"category","market":"source_c","ref":"base","name":"Base","game":"pokemon"}\n'],
  tcgdex: [
    '{"name":{"en":"Base","fr":"Base"},"id":"base"}\n{"id":"bw","name":{"en":"Black & White"}}',
    '{"name":{"zh-tw":"劍"},"id":"S"}',
    '{"id":"base4","name":{"en":"Base Set 2"},"serie":"base","cardCount":{"official":130}}',
    '{"id":"base1-1","localId":"1","name":{"en":"Alakazam"},"set":"base1"}',
    '{"category":"Pokemon","id":"2021swsh-1","localId":"1","name":"Bulbasaur","set":{"cardCount":{"official":25},"id":"2021swsh"}}',
  ],
  pokemontcg: [
    '[{"id":"base1","name":"Base","series":"Base","printedTotal":102,"ptcgoCode":"BS"}]',
    '{"id":"base1-1","name":"Alakazam","supertype":"Pokémon","subtypes":["Stage 2"]}',
  ],
  'punk-records': [
    '{"569001":{"id":"569001","raw_title":"STARTER DECK [ST-01]","title_parts":{"label":"ST-01"}}}',
    '{"colors":["Red"],"id":"ST01-001","img_full_url":"https://example.com/1.png","name":"Luffy","pack_id":"569001"}',
  ],
  scryfall: [
    '[{"object":"card","id":"s-1","oracle_id":"o","tcgplayer_id":1,"name":"Fire // Ice","lang":"en","scryfall_uri":"https://scryfall.example/1"}]',
    '{"object":"list","has_more":false,"data":[{"object":"set","id":"s","code":"apc","name":"Apocalypse","scryfall_uri":"https://scryfall.example"}]}',
    '{"object":"list","has_more":false,"data":[{"object":"migration","id":"m","migration_strategy":"merge","old_scryfall_id":"a"}]}',
  ],
  mtgjson: ['{"meta":{"date":"2026-11-01"},"data":{"10E":{"baseSetSize":383,"block":"Core Set","cards":[]}}}'],
  'flesh-and-blood': ['[{"artists":[],"cardIdentifier":"head-jab-red","classes":["Ninja"],"legalFormats":[],"name":"Head Jab","printings":[]}]'],
  ygoprodeck: [
    '{"data":[{"id":46986414,"name":"Dark Magician","type":"Normal Monster","frameType":"normal","desc":"","race":"Spellcaster"}]}',
    '[{"set_name":"Metal Raiders","set_code":"MRD","num_of_cards":144,"tcg_date":"2002-06-26"}]',
  ],
  'cardmarket-products': ['{"version":1,"products":[{"idProduct":271439,"name":"Phantom Forces Booster","categoryName":"Pokémon Booster"}]}'],
  'tcgplayer-sealed': ['productId,name,cleanName,imageUrl,earliestDate,set_code,url\n243052,Case,Case,,,1863,\n'],
  'mintmark-prices-csv': ['item_ref,market,label,price,updated_at\n', '\uFEFF"item_ref";"market";"label";"price";"updated_at"\r\n'],
  'pricecharting-csv': [
    'id,console-name,product-name,loose-price,manual-only-price,bgs-10-price,tcg-id\n',
    'id\tproduct-name\tloose-price\tmanual-only-price\tbgs-10-price\ttcg-id\n',
  ],
  'graded-guide': [
    '{"set":"Base","set_code":"base1","name":"Alakazam","card_link":"https://example.com/base1-1"}',
    '{"set_code":"base1","graded_prices":{"grade10":1}}',
  ],
  'cardmarket-price-guide': [
    '{"version":1,"createdAt":"2026-06-29T02:55:18+0200","priceGuides":[{"idProduct":895108,"avg":null}]}',
    '[{"date":"2025-10-01","priceGuides":[{"idProduct":690965}]}]',
  ],
  'tcgplayer-csv': [
    'TCGplayer Id,Product Name,Condition,TCG Market Price\n',
    'Product ID,Condition,Printing,TCG Market Price\n',
    'productId,lowPrice,marketPrice,subTypeName\n',
  ],
  'pokemontcg-prices': [
    'ID,Name,TCG Price Date,TCG Market Price USD (Normal),TCG Market Price USD (Reverse Holofoil),TCG Market Price USD (Holofoil)\n',
  ],
  'singles-brl': ['{"key":"2012bw-10::holo","cardId":"2012bw-10","finish":"holo","name":"Scraggy","sources":[]}'],
  'sealed-daily': ['productId,date,marketPrice\n129888,2024-02-08,399.01\n'],
}

test('every format is detected from its samples, and no other format matches them', () => {
  // Lists that are read by a mapping have no marks: every shop has its own layout.
  expect(formats.flatMap(({ name, mapped }) => (mapped ? [] : name)).sort()).toEqual(Object.keys(HEADS).sort())
  for (const [format, heads] of Object.entries(HEADS)) {
    for (const head of heads) {
      expect([format, formats.filter((one) => guess(head, [one]) !== null).map(({ name }) => name)]).toEqual([format, [format]])
    }
  }
})

test.each([
  '',
  'Dear Sir or Madam',
  'The columns are item_ref, market, label, price and updated_at',
  '{"code":"OP01-120","name":"Shanks","en":"$8"}',
  '[{"file":"prices.ndjson","fx":{"eurBrl":5.7}}]',
  'set,number,cardmarket_product_id,match_method,base_name\n',
  'market,item_ref,item_name,code,set,label,quantity,purchase_price\n',
  'Portfolio Name,Category,Set,Product Name,Card Number,Grade,Quantity\n',
  '<!doctype html><html></html>',
])('no format is detected for %j', (head) => {
  expect(guessFormat(head)).toBeNull()
})

test('a compressed file is detected like an uncompressed one', async () => {
  const text = 'item_ref,market,label,price,updated_at\nsample:base-4,source_c,Near Mint,12.50,2026-11-01T00:00:00Z\n'
  expect(guessFormat(await headOf(new Blob([text])))).toBe('mintmark-prices-csv')
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  expect(guessFormat(await headOf(await new Response(packed).blob()))).toBe('mintmark-prices-csv')
})

test('the shipped samples are detected', async () => {
  for (const name of readdirSync(SAMPLE).filter((file) => file.endsWith('.ndjson'))) {
    expect(guessFormat(await firstOf(new URL(name, SAMPLE)))).toBe('mintmark-ndjson')
  }
})

/** Real files and the format that reads them. */
const REAL_FILES: Record<string, string> = {
  'pokemon/tcgdex-series.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-sets.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-cards.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-asia-series.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-asia-sets.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-asia-cards.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-api-en-2021.ndjson.gz': 'tcgdex',
  'pokemon/pokemontcg-cards.ndjson.gz': 'pokemontcg',
  'pokemon/pokemontcg-sets.json.gz': 'pokemontcg',
  'onepiece/punk-records-cards.en.ndjson.gz': 'punk-records',
  'onepiece/punk-records-packs.en.json.gz': 'punk-records',
  'sealed/pokemon-cardmarket-nonsingles.json.gz': 'cardmarket-products',
  'sealed/onepiece-cardmarket-nonsingles.part.json.gz': 'cardmarket-products',
  'sealed/pokemon-sealed-tcgplayer.csv.gz': 'tcgplayer-sealed',
  'prices/onepiece-cardmarket-price-guide.part.json.gz': 'cardmarket-price-guide',
  'formats/cardmarket-price-guide-6.sample.json': 'cardmarket-price-guide',
  'formats/pricecharting-price-guide.sample.csv': 'pricecharting-csv',
  'prices/pokemon-singles-brl-2026-07-23.ndjson.gz': 'singles-brl',
  'prices/pokemon-singles-brl-2026-08-05.ndjson.gz': 'singles-brl',
  'prices/pokemon-sealed-daily-usd.csv.gz': 'sealed-daily',
  'prices/pokemon-graded-pricecharting-usd.ndjson.gz': 'graded-guide',
  'prices/pokemontcg-modern-pkmn-cards-feb2025.csv.gz': 'pokemontcg-prices',
}

/** Real files that no format reads. */
const OTHER_FILES = [
  'prices/onepiece-fan-guide-usd.ndjson.gz',
  'prices/pokemon-cardmarket-id-mapping.csv.gz',
  'prices/pokemon-singles-brl-changes.csv.gz',
  'prices/pokemon-singles-brl.meta.json.gz',
  'prices/pokemon-singles-eur-2026-03.csv.gz',
  'prices/pokemon-tcgplayer-3day-history.csv.gz',
  'sealed/onepiece-ja-sealed-shop-prices.json.gz',
  'formats/collectr-collection-export.sample.csv',
  'formats/csv-headers.json',
]

const there = existsSync(REAL)
describe.skipIf(!there)(`Real files${there ? '' : ' (skipped: ../shared/data is not there)'}`, () => {
  test.each(Object.entries(REAL_FILES))('%s is %s', async (path, format) => {
    const head = await firstOf(new URL(path, REAL))
    expect(formats.filter((one) => guess(head, [one]) !== null).map(({ name }) => name)).toEqual([format])
  })

  test.each(OTHER_FILES)('%s is of no format', async (path) => {
    expect(guessFormat(await firstOf(new URL(path, REAL)))).toBeNull()
  })
})

async function firstOf(file: URL): Promise<string> {
  const bytes = createReadStream(file)
  const text = file.pathname.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  let head = ''
  for await (const chunk of text) {
    head += (chunk as Buffer).toString('utf8')
    if (head.length >= 4096) break
  }
  return head.slice(0, 4096)
}
