// Exports of TCGplayer as collections.
import { checkTcgplayerHeader, readTcgplayerRow, TCGPLAYER_COLUMNS } from '#intake/tcgplayer.ts'
import { type CollectionFormat, NO_DETAILS } from './entries.ts'

export const tcgplayer: CollectionFormat = {
  name: 'tcgplayer',
  title: 'TCGplayer collection or pricing export (CSV: Product ID, Product Line, Set Name, Product Name, ...)',
  marks: ['Product Line', 'Product Name'],
  checkHeader: checkTcgplayerHeader,
  reads: TCGPLAYER_COLUMNS,
  read: (cells) => {
    const row = readTcgplayerRow(cells)
    return row && { ...row, ...NO_DETAILS }
  },
}
