// The formats that collections can be imported from.
import { collectr } from './collectr.ts'
import type { CollectionFormat } from './entries.ts'
import { mintmarkCsv } from './mintmark-csv.ts'
import { pricecharting } from './pricecharting.ts'
import { tcgplayer } from './tcgplayer.ts'

export const COLLECTION_FORMATS: readonly CollectionFormat[] = [collectr, pricecharting, tcgplayer, mintmarkCsv]
