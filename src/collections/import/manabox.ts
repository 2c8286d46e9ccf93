// The collection file of ManaBox, of one binder or of all. Its conditions are Cardmarket's, and it states the currency of its price.
import { problem } from '#core/problems.ts'
import { isYes } from '#intake/card-cells.ts'
import { BadCell, cell } from '#intake/cells.ts'
import { truncate } from '#prices/sources/cells.ts'
import { appFormat } from './app-format.ts'

export const manabox = appFormat({
  name: 'manabox',
  title: 'ManaBox collection export (CSV: Name, Set code, Set name, Collector number, ..., ManaBox ID, ...)',
  marks: ['Name', 'Set name', 'Collector number', 'Quantity', 'ManaBox ID'],
  header: [
    'Name',
    'Set code',
    'Set name',
    'Collector number',
    'Foil',
    'Rarity',
    'Quantity',
    'ManaBox ID',
    'Scryfall ID',
    'Purchase price',
    'Misprint',
    'Altered',
    'Condition',
    'Language',
    'Purchase price currency',
  ],
  columns: {
    name: 'Name',
    set_code: 'Set code',
    set: 'Set name',
    number: 'Collector number',
    foil: 'Foil',
    quantity: 'Quantity',
    purchase_price: 'Purchase price',
    misprint: 'Misprint',
    altered: 'Altered',
    signed: 'Signed',
    condition: 'Condition',
    language: 'Language',
    currency: 'Purchase price currency',
  },
  conditions: { 'Near Mint': 'near_mint', 'Lightly Played': 'excellent', 'Moderately Played': 'good', 'Heavily Played': 'poor' },
  printings: { plain: 'normal', foil: 'foil', etched: 'etched' },
  answers: { yes: 'true', no: 'false' },
  languageOf: (code) => code,
  setCodeOf: (code) => code.toUpperCase(),
  cardmarket: true,
  plainStated: true,
  ownership: ['Binder Type', 'Proxy'],
  isNotOwned: (cells) => {
    const kind = cell(cells, 'Binder Type').toLowerCase()
    // It is not public whether the cards of a deck are also in a binder.
    if (kind !== '' && kind !== 'binder' && kind !== 'list') {
      throw new BadCell(problem('Binder Type', 'one_of', { values: ['binder', 'list'], value: truncate(kind) }))
    }
    return kind === 'list' || isYes(cells, 'Proxy')
  },
})
