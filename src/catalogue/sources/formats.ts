// The supported catalogue formats by name; a new one is one line here.
import type { CatalogueFormat } from '../records/catalogue-records.ts'
import { cardmarketProducts } from './cardmarket-products.ts'
import { fleshAndBlood } from './flesh-and-blood.ts'
import { mintmarkNdjson } from './mintmark-ndjson.ts'
import { mtgjson } from './mtgjson.ts'
import { pokemontcg } from './pokemontcg.ts'
import { punkRecords } from './punk-records.ts'
import { scryfall } from './scryfall.ts'
import { tcgdex } from './tcgdex.ts'
import { tcgplayerSealed } from './tcgplayer-sealed.ts'
import { ygoprodeck } from './ygoprodeck.ts'

export const CATALOGUE_FORMATS: readonly CatalogueFormat[] = [
  mintmarkNdjson,
  tcgdex,
  pokemontcg,
  punkRecords,
  scryfall,
  mtgjson,
  fleshAndBlood,
  ygoprodeck,
  cardmarketProducts,
  tcgplayerSealed,
]
