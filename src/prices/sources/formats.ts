// The price formats that an import can read.
import type { PriceFormat } from '#prices/records/feed-rows.ts'
import { cardmarketPriceGuide } from './cardmarket-price-guide.ts'
import { gradedGuide } from './graded-guide.ts'
import { mintmarkPricesCsv } from './mintmark-prices-csv.ts'
import { pricesCsv, pricesNdjson } from './mapped.ts'
import { pokemontcgPrices } from './pokemontcg-prices.ts'
import { pricechartingCsv } from './pricecharting-csv.ts'
import { sealedDaily } from './sealed-daily.ts'
import { singlesBrl } from './singles-brl.ts'
import { tcgplayerCsv } from './tcgplayer-csv.ts'

export const PRICE_FORMATS: readonly PriceFormat[] = [
  mintmarkPricesCsv,
  pricechartingCsv,
  gradedGuide,
  cardmarketPriceGuide,
  tcgplayerCsv,
  pokemontcgPrices,
  singlesBrl,
  sealedDaily,
  pricesCsv,
  pricesNdjson,
]
