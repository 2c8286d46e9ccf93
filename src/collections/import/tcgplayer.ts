// Exports of TCGplayer as collections.
import { checkTcgplayerHeader, readTcgplayerRow } from '#intake/tcgplayer.ts'
import { type CollectionFormat, csvEntries, NO_DETAILS } from './entries.ts'

export const tcgplayer: CollectionFormat = {
  name: 'tcgplayer',
  title: 'TCGplayer collection or pricing export (CSV: Product ID, Product Line, Set Name, Product Name, ...)',
  read: (source) =>
    csvEntries(source, checkTcgplayerHeader, (cells) => {
      const row = readTcgplayerRow(cells)
      return row && { ...row, ...NO_DETAILS }
    }),
}
