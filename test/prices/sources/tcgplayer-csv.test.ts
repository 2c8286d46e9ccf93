// TCGplayer prices in its three common layouts.
import { expect, it } from 'vitest'
import { tcgplayerCsv } from '#prices/sources/tcgplayer-csv.ts'
import { readShort } from './reading.ts'

const NOW = '2026-11-21T00:00:00.000Z'
const PRICING =
  'TCGplayer Id,Product Line,Set Name,Product Name,Title,Number,Rarity,Condition,TCG Market Price,' +
  'TCG Direct Low,TCG Low Price With Shipping,TCG Low Price,Total Quantity,Add to Quantity,TCG Marketplace Price,Photo URL'

const pricing = (...rows: [id: string, condition: string, price: string][]) =>
  [PRICING, ...rows.map(([id, condition, price]) => `"${id}","Pokemon","S","P","","1","C","${condition}","${price}",${'"",'.repeat(6)}""`)].join(
    '\r\n',
  )

it('reads the pricing export, whose ids are SKU ids', async () => {
  const csv = pricing(
    ['501', 'Near Mint', '12.345'],
    ['502', 'Lightly Played Reverse Holofoil', '1,049.00'],
    ['503', 'Near Mint Foil', '2'],
    ['504', 'Heavily Played 1st Edition Holofoil', '3'],
    ['505', 'Moderately Played Unlimited', '3'],
    ['506', 'Unopened', '99.99'],
    ['507', 'Near Mint', ''],
  )
  expect(await readShort(tcgplayerCsv, csv)).toEqual([
    `2 tcgplayer-sku:501 Near Mint source_c 12.35 ${NOW}`,
    `3 tcgplayer-sku:502:Reverse Holofoil Lightly Played source_c 1049.00 ${NOW}`,
    `4 tcgplayer-sku:503:Foil Near Mint source_c 2.00 ${NOW}`,
    `5 tcgplayer-sku:504:1st Edition Holofoil Heavily Played source_c 3.00 ${NOW}`,
    `6 tcgplayer-sku:505:Unlimited Moderately Played source_c 3.00 ${NOW}`,
    `7 tcgplayer-sku:506 Near Mint source_c 99.99 ${NOW}`,
    '8 none',
  ])
})

it.each(['Opened', 'Damaged', 'Damaged Foil', 'PSA 10', '', 'Near Mint '.repeat(100)])(
  'rejects the condition "%s", which has no label',
  async (condition) => {
    const [row] = await readShort(tcgplayerCsv, pricing(['1', condition, '1.00']))
    expect(row).toMatch(/^2 reject Condition label/)
  },
)

it('rejects invalid amounts and ids', async () => {
  const csv = pricing(['', 'Near Mint', '1'], ['x', 'Near Mint', '1'], ['1', 'Near Mint', '0.00'], ['1', 'Near Mint', '1e309'])
  expect(await readShort(tcgplayerCsv, csv)).toEqual([
    '2 reject TCGplayer Id id',
    '3 reject TCGplayer Id id x',
    '4 reject TCG Market Price number 0',
    '5 reject TCG Market Price number 9999999999.99 1e309',
  ])
})

it('reads the collection export by product id and printing', async () => {
  const csv =
    `Product ID,${PRICING.replace('Condition,', 'Condition,Printing,')}\n` +
    `77,501,One Piece Card Game,S,P,,1,C,Near Mint,Foil,3.88,,,,1,,,\n78,502,Pokemon,S,P,,1,C,Lightly Played Holofoil,,4,,,,,1,,\n`
  expect(await readShort(tcgplayerCsv, csv)).toEqual([
    `2 tcgplayer:77:Foil Near Mint source_c 3.88 ${NOW}`,
    `3 tcgplayer:78:Holofoil Lightly Played source_c 4.00 ${NOW}`,
  ])
})

it('reads tcgcsv prices in either order of columns, one row per printing', async () => {
  const printings = ['Normal', 'Holofoil', 'Reverse Holofoil', '1st Edition', '1st Edition Holofoil', 'Unlimited', 'Unlimited Holofoil', 'Foil']
  const archive = [
    'productId,subTypeName,lowPrice,midPrice,highPrice,marketPrice,directLowPrice',
    ...printings.map((printing) => `5,${printing},1,2,3,4.5,`),
  ].join('\n')
  expect(await readShort(tcgplayerCsv, archive)).toEqual(
    printings.map((printing, n) => `${n + 2} tcgplayer:5:${printing} Near Mint source_c 4.50 ${NOW}`),
  )
  const current =
    'productId,lowPrice,midPrice,highPrice,marketPrice,directLowPrice,subTypeName\n' +
    '5,1,2,3,,,Normal\n6,1,2,3,null,,Normal\n7,,,,9.99,,Cold Foil\n'
  expect(await readShort(tcgplayerCsv, current)).toEqual(['2 none', '3 none', `4 tcgplayer:7:Cold Foil Near Mint source_c 9.99 ${NOW}`])
})

it('rejects other headers, even without rows', async () => {
  await expect(readShort(tcgplayerCsv, 'Product Line,Product Name,Condition,SkuId\n')).rejects.toMatchObject({
    why: { rule: 'file_format', params: { format: 'tcgplayer-csv' } },
  })
})
