// Mintmark's own price file: accepted values, and an invalid row that does not affect the others.
import { expect, it } from 'vitest'
import { mintmarkPricesCsv } from '#prices/sources/mintmark-prices-csv.ts'
import { readShort } from './reading.ts'
import { reason } from '#core/problems.ts'

const HEADER = 'item_ref,market,label,price,updated_at\n'

it('reads rows in canonical form, using the current time if there is none', async () => {
  const csv = `${HEADER}sample:a-1,service,nm,18500.00,2026-11-01T09:00:00Z\r\nsample:a-1,source_b,psa 10.0 GEM - MT,7.5,\n`
  expect(await readShort(mintmarkPricesCsv, csv)).toEqual([
    '2 sample:a-1 Near Mint service 18500.00 2026-11-01T09:00:00.000Z',
    '3 sample:a-1 PSA 10 source_b 7.50 2026-11-21T00:00:00.000Z',
  ])
})

it('uses the market of the file, whatever the caller requests', async () => {
  expect(await readShort(mintmarkPricesCsv, `${HEADER}sample:a-1,service,LP,1,2026-01-01T00:00:00Z`, 'source_a')).toEqual([
    '2 sample:a-1 Lightly Played service 1.00 2026-01-01T00:00:00.000Z',
  ])
})

it.each([
  [',service,NM,1,', 'item_ref required'],
  ['a,source_d,NM,1,', 'market one_of service,source_a,source_b,source_c source_d'],
  ['a,service,10,1,', 'label label 10'],
  ['a,service,NM,0.00,', 'price number 0'],
  ['a,service,NM,-3,', 'price number 0'],
  ['a,service,NM,1.005,', 'price number 9999999999.99 1.005'],
  ['a,service,NM,"1,000",', 'price number 9999999999.99 1,000'],
  ['a,service,NM,10000000000.00,', 'price number 9999999999.99 10000000000.00'],
  ['a,service,NM,1e3,', 'price number 9999999999.99 1e3'],
  ['a,service,NM,1,2026-01-01', 'updated_at time 2026-01-01'],
  ['a,service,NM,1', 'row_cells 4 5'],
])('rejects %s', async (row, reason) => {
  expect(await readShort(mintmarkPricesCsv, `${HEADER}${row}\nb,service,NM,1,2026-01-01T00:00:00Z`)).toEqual([
    `2 reject ${reason}`,
    '3 b Near Mint service 1.00 2026-01-01T00:00:00.000Z',
  ])
})

it('rejects a file of another format', async () => {
  await expect(readShort(mintmarkPricesCsv, 'item_ref,price\na,1')).rejects.toMatchObject({
    why: reason('header', { columns: ['market', 'label', 'updated_at'] }),
  })
})
