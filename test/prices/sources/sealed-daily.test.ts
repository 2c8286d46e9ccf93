// The daily series of sealed products.
import { expect, it } from 'vitest'
import { sealedDaily } from '#prices/sources/sealed-daily.ts'
import { itReads, readShort } from './reading.ts'

const HEADER = 'productId,date,marketPrice\n'

it('reads one price a day, and a blank as no price', async () => {
  expect(await readShort(sealedDaily, `${HEADER}5,2024-02-08,399.01\n5,2024-02-09,\n5,2024-02-10,207.0\n`)).toEqual([
    '2 tcgplayer:5 Near Mint source_c 399.01 2024-02-08T00:00:00.000Z',
    '3 none',
    '4 tcgplayer:5 Near Mint source_c 207.00 2024-02-10T00:00:00.000Z',
  ])
})

it('rejects only invalid rows', async () => {
  const csv = `${HEADER},2024-02-08,1\n5,,1\n5,2024-02-31,1\n5,2024-02-31,1\n5,1995-01-01,1\n5,2024-02-08,x\n5,2024-02-08\n`
  expect(await readShort(sealedDaily, csv)).toEqual([
    '2 reject productId required',
    '3 reject lacks price date',
    '4 reject date date 2024-02-31',
    '5 reject date date 2024-02-31',
    '6 reject date not_before 1996-01-01',
    '7 reject marketPrice number 9999999999.99 x',
    '8 reject row_cells 2 3',
  ])
})

itReads(sealedDaily, 'prices/pokemon-sealed-daily-usd.csv.gz', (counts) => {
  expect(counts).toEqual({ lines: 656_925, prices: 656_925 - 46_374, none: 46_374, rejects: {} })
})
