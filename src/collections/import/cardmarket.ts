// The stock file of Cardmarket. Its price is what the seller asks in euros, so it is neither read nor written.
import { problem } from '#core/problems.ts'
import { CARDMARKET_LANGUAGES, isYes } from '#intake/card-cells.ts'
import { BadCell } from '#intake/cells.ts'
import { appFormat } from './app-format.ts'

export const cardmarket = appFormat({
  name: 'cardmarket',
  title: 'Cardmarket stock file (CSV: idArticle; idProduct; English Name; ...; Amount; onSale)',
  marks: ['idProduct', 'English Name', 'Exp. Name', 'Condition', 'Amount'],
  header: [
    'idArticle',
    'idProduct',
    'English Name',
    'Local Name',
    'Exp.',
    'Exp. Name',
    'Price',
    'Language',
    'Condition',
    'Foil?',
    'Signed?',
    'Playset?',
    'Altered?',
    'Comments',
    'Amount',
    'onSale',
  ],
  delimiter: ';',
  columns: {
    cardmarket_id: 'idProduct',
    name: 'English Name',
    local_name: 'Local Name',
    set_code: 'Exp.',
    set: 'Exp. Name',
    language: 'Language',
    condition: 'Condition',
    foil: 'Foil?',
    reverse: 'Reverse Holo?',
    first_edition: 'First Edition?',
    signed: 'Signed?',
    altered: 'Altered?',
    note: 'Comments',
    quantity: 'Amount',
  },
  conditions: { 'Near Mint': 'NM', 'Lightly Played': 'EX', 'Moderately Played': 'GD', 'Heavily Played': 'PO' },
  printings: { plain: '', foil: 'X' },
  answers: { yes: 'X', no: '' },
  languageOf: (code) => {
    const at = CARDMARKET_LANGUAGES.indexOf(code.toLowerCase())
    return at < 0 ? code : String(at + 1)
  },
  cardmarket: true,
  ownership: ['Playset?'],
  isNotOwned: (cells) => {
    if (isYes(cells, 'Playset?')) throw new BadCell(problem('Playset?', 'sold_together'))
    return false
  },
})
