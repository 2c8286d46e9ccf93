// PriceCharting's price guide in its known layouts.
import { expect, it } from 'vitest'
import { pricechartingCsv } from '#prices/sources/pricecharting-csv.ts'
import { itReads, readShort, readText } from './reading.ts'

const COLUMNS = [
  'id',
  'console-name',
  'product-name',
  'loose-price',
  'cib-price',
  'new-price',
  'graded-price',
  'box-only-price',
  'manual-only-price',
  'bgs-10-price',
  'condition-17-price',
  'genre',
  'tcg-id',
  'release-date',
]
const NOW = '2026-11-21T00:00:00.000Z'

function table(rows: Record<string, string>[], delimiter = ',', columns = COLUMNS): string {
  const quoted = (cell: string) => (cell.includes(delimiter) ? `"${cell}"` : cell)
  return [columns, ...rows.map((row) => columns.map((name) => quoted(row[name] ?? '')))].map((cells) => cells.join(delimiter)).join('\n')
}

const CARD = {
  id: '11',
  'product-name': 'Testmon ex #232',
  'loose-price': '$748.75',
  'manual-only-price': '$2325.00',
  'bgs-10-price': '$3,023.00',
  'cib-price': '$1.00',
  'new-price': '$2.00',
  'graded-price': '$3.00',
  'box-only-price': '$4.00',
  'condition-17-price': '$5.00',
  'tcg-id': '900',
}

const PRICES = [
  `2 tcgplayer:900 Near Mint source_a 748.75 ${NOW}`,
  `2 tcgplayer:900 PSA 10 source_a 2325.00 ${NOW}`,
  `2 tcgplayer:900 BGS 10 source_a 3023.00 ${NOW}`,
]

it('reads ungraded, PSA 10 and BGS 10, and no grade without a grader', async () => {
  expect(await readShort(pricechartingCsv, table([CARD]))).toEqual(PRICES)
})

it('uses column names in the longer form, and tabs in the other variant', async () => {
  const longer = COLUMNS.toSpliced(10, 0, 'condition-9-price', 'condition-10-price')
  expect(await readShort(pricechartingCsv, table([{ ...CARD, 'condition-9-price': '$9.00' }], ',', longer))).toEqual(PRICES)
  expect(await readShort(pricechartingCsv, table([{ ...CARD, 'bgs-10-price': '$3,023.00 ' }], '\t'))).toEqual(PRICES)
})

it('reads $0.00 and empty cells as no price', async () => {
  const row = { id: '11', 'product-name': 'Testmon', 'loose-price': '$0.00' }
  expect(await readShort(pricechartingCsv, table([row]))).toEqual(['2 none'])
})

it('identifies an item without a TCGplayer id by its own id', async () => {
  const row = { id: '11', 'product-name': 'Testmon', 'loose-price': '$1.00' }
  expect(await readShort(pricechartingCsv, table([row], ',', COLUMNS), 'source_c')).toEqual([`2 pricecharting:11 Near Mint source_c 1.00 ${NOW}`])
  expect(await readShort(pricechartingCsv, table([{ ...row, id: '' }]))).toEqual(['2 reject row at_least_one id,tcg-id'])
})

it.each([
  ['Testmon #4', { name: 'Testmon', number: '4' }],
  ['Testmon [Reverse Holo] #4', { name: 'Testmon', number: '4', finish: 'Reverse Holo' }],
  ['Testmon [1st Edition] #4', { name: 'Testmon', number: '4', finish: '1st Edition' }],
  ['Testmon [Alternate Art] #OP01-001', { name: 'Testmon', number: 'OP01-001' }],
  ['Booster Box', { name: 'Booster Box' }],
])('reads the variant of %s', async (product, described) => {
  const [row] = await readText(pricechartingCsv, table([{ ...CARD, 'product-name': product }]))
  expect(row).toHaveProperty('item', { source: 'tcgplayer', id: '900', ...described })
})

it('rejects an invalid amount and keeps the other amounts of the row', async () => {
  expect(await readShort(pricechartingCsv, table([{ ...CARD, 'loose-price': 'NaN', 'bgs-10-price': '-$1.00' }]))).toEqual([
    '2 reject loose-price number 9999999999.99 NaN',
    PRICES[1],
    '2 reject bgs-10-price number 0',
  ])
})

it('rejects the collection export, which has prices of another kind', async () => {
  const csv = 'id,product-name,console-name,price-in-pennies,include-string,condition-string\n1,a,b,2,c,d'
  await expect(readShort(pricechartingCsv, csv)).rejects.toMatchObject({
    why: { rule: 'header', params: { columns: expect.arrayContaining(['tcg-id']) as string[] } },
  })
})

itReads(pricechartingCsv, 'formats/pricecharting-price-guide.sample.csv', (counts) => {
  expect(counts).toEqual({ lines: 1, prices: 3, none: 0, rejects: {} })
})
