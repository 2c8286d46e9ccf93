// The supported catalogue formats by name; a new one is one line here.
import type { CatalogueFormat } from '../records/catalogue-records.ts'
import { cardmarketProducts } from './cardmarket-products.ts'
import { mintmarkNdjson } from './mintmark-ndjson.ts'
import { pokemontcg } from './pokemontcg.ts'
import { punkRecords } from './punk-records.ts'
import { tcgdex } from './tcgdex.ts'
import { tcgplayerSealed } from './tcgplayer-sealed.ts'

export const CATALOGUE_FORMATS: readonly CatalogueFormat[] = [mintmarkNdjson, tcgdex, pokemontcg, punkRecords, cardmarketProducts, tcgplayerSealed]
