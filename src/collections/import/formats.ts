// The formats of files that collections can be imported from and exported to.
import { namedValues } from '#core/named-values.ts'
import type { WrittenFormat } from './app-format.ts'
import { cardmarket } from './cardmarket.ts'
import { collectr } from './collectr.ts'
import { deckbox } from './deckbox.ts'
import { dragonShield } from './dragon-shield.ts'
import { type CollectionFormat, hasMarks } from './entries.ts'
import { manabox } from './manabox.ts'
import { mintmarkCsv } from './mintmark-csv.ts'
import { moxfield } from './moxfield.ts'
import { pricecharting } from './pricecharting.ts'
import { tcgplayer } from './tcgplayer.ts'

const APPS = [collectr, deckbox, moxfield, manabox, dragonShield, cardmarket]

export const COLLECTION_FORMATS: readonly CollectionFormat[] = [...APPS, pricecharting, tcgplayer, mintmarkCsv]

export const WRITTEN_FORMATS: readonly WrittenFormat[] = [mintmarkCsv, ...APPS]
/** A file of lots and disposals instead of records. */
export const LOTS_FORMAT = 'mintmark-lots'
export const EXPORT_FORMATS = namedValues('CollectionExportFormat', [...namesOf(WRITTEN_FORMATS), LOTS_FORMAT])

/** A file that is read by its columns. */
export const MAPPED = 'mapped'
export const IMPORT_FORMATS = namedValues('CollectionImportFormat', [...namesOf(COLLECTION_FORMATS), MAPPED])

function namesOf(formats: readonly { name: string }[]): string[] {
  return formats.map(({ name }) => name)
}

/** The format of a file with this header; undefined if it has none. */
export function formatOfHeader(header: readonly string[]): CollectionFormat | undefined {
  return COLLECTION_FORMATS.find((format) => hasMarks(format, header))
}
