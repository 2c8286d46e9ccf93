// Proves that the console's dictionaries say the same, and that it guesses formats which the service has.
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { IMPORT_FORMATS } from '#catalogue/import/registry.ts'
import { guessFormat, headOf, MARKS } from '../../console/src/guess-format.ts'
import { en } from '../../console/src/words/en.ts'
import { tr } from '../../console/src/words/tr.ts'

const REAL = new URL('../../../shared/data/', import.meta.url)
const SAMPLE = new URL('../../sample/', import.meta.url)

test.each(Object.keys(en) as (keyof typeof en)[])('%s has the same gaps in every language and says something', (key) => {
  const gaps = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
  expect(gaps(tr[key])).toEqual(gaps(en[key]))
  expect(tr[key].trim()).not.toBe('')
})

describe('Formats', () => {
  test('that can be guessed are those of the service', () => {
    const known = IMPORT_FORMATS.map((format) => format.name)
    expect(MARKS.map(([format]) => format).filter((format) => !known.includes(format))).toEqual([])
  })

  test('are guessed from the head of a file, plain or packed', async () => {
    const text = 'item_ref,market,label,price,updated_at\nsample:base-4,source_c,Near Mint,12.50,2026-11-01T00:00:00Z\n'
    expect(guessFormat(await headOf(new Blob([text])))).toBe('mintmark-prices-csv')
    const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
    expect(guessFormat(await headOf(await new Response(packed).blob()))).toBe('mintmark-prices-csv')
    expect(guessFormat('Dear Sir or Madam')).toBeNull()
    expect(guessFormat('')).toBeNull()
  })

  test('of our own samples are guessed', async () => {
    for (const name of readdirSync(SAMPLE).filter((file) => file.endsWith('.ndjson'))) {
      expect(guessFormat(await firstOf(new URL(name, SAMPLE)))).toBe('mintmark-ndjson')
    }
  })
})

/** Real files and the format that reads them. */
const REAL_FILES: Record<string, string> = {
  'pokemon/tcgdex-series.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-sets.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-cards.ndjson.gz': 'tcgdex',
  'pokemon/tcgdex-asia-series.ndjson.gz': 'tcgdex',
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

const there = existsSync(REAL)
describe.skipIf(!there)(`Real files${there ? '' : ' (skipped: ../shared/data is not there)'}`, () => {
  test.each(Object.entries(REAL_FILES))('%s is %s', async (path, format) => {
    expect(guessFormat(await firstOf(new URL(path, REAL)))).toBe(format)
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
