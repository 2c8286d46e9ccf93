// Card lists with TCGplayer prices by printing.
import { expect, it } from 'vitest'
import { pokemontcgPrices } from '#prices/sources/pokemontcg-prices.ts'
import { itReads, readShort } from './reading.ts'

const COLUMNS = [
  'ID',
  'Name',
  'Pokedex Number',
  'Attacks',
  'TCG Price Date',
  'TCG Market Price USD (Normal)',
  'TCG Low Price USD (Normal)',
  'TCG Market Price USD (Reverse Holofoil)',
  'TCG Market Price USD (Holofoil)',
]
const csv = (...rows: string[]) => [COLUMNS.join(','), ...rows].join('\n')

it('reads the market price of each printing at the start of its day', async () => {
  const text = csv('t1-2,Testmon,100.0,"A (), B (10×2)",2025/02/22,0.1,0.01,0.27,', 't1-3,Testmon,,,2023/04/15,,5.0,,168.56')
  expect(await readShort(pokemontcgPrices, text)).toEqual([
    '2 pokemontcg:t1-2:normal Near Mint source_c 0.10 2025-02-22T00:00:00.000Z',
    '2 pokemontcg:t1-2:reverse Near Mint source_c 0.27 2025-02-22T00:00:00.000Z',
    '3 pokemontcg:t1-3:holo Near Mint source_c 168.56 2023-04-15T00:00:00.000Z',
  ])
})

it('rejects a missing or invalid date only if there is a price', async () => {
  expect(await readShort(pokemontcgPrices, csv('a,,,,,,,,', 'b,,,,,1.0,,,', 'c,,,,2025/02/30,1.0,,,', 'd,,,,x,,,,'))).toEqual([
    '2 none',
    '3 reject lacks price date',
    '4 reject TCG Price Date date 2025/02/30',
    '5 none',
  ])
})

it('rejects a row without an id, and invalid amounts', async () => {
  expect(await readShort(pokemontcgPrices, csv(',,,,2025/02/22,1.0,,,', 'b,,,,2025/02/22,0.0,,nan,1'))).toEqual([
    '2 reject ID required',
    '3 reject TCG Market Price USD (Normal) number 0',
    '3 reject TCG Market Price USD (Reverse Holofoil) number 9999999999.99 nan',
    '3 pokemontcg:b:holo Near Mint source_c 1.00 2025-02-22T00:00:00.000Z',
  ])
})

for (const month of ['feb', 'mar']) {
  itReads(pokemontcgPrices, `prices/pokemontcg-modern-pkmn-cards-${month}2025.csv.gz`, (counts) => {
    expect(counts).toMatchObject({ lines: 5_444, none: 46, rejects: {} })
  })
  itReads(pokemontcgPrices, `prices/pokemontcg-vintage-pkmn-cards-${month}2025.csv.gz`, (counts) => {
    expect(counts).toMatchObject({ lines: 806, none: 806 - 392, rejects: {} })
  })
}
