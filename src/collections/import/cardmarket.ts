// The stock file of Cardmarket, and its newer file of articles. Its price is what the seller asks in euros, so it is neither read nor written.
import { problem } from '#core/problems.ts'
import { CARDMARKET_LANGUAGES, isYes } from '#intake/card-cells.ts'
import { BadCell } from '#intake/cells.ts'
import { appFormat } from './app-format.ts'

/** Columns that say that a row's copies are sold together. */
const PLAYSET = ['Playset?', 'isPlayset']

export const cardmarket = appFormat({
  name: 'cardmarket',
  title: 'Cardmarket stock file (CSV: idArticle; idProduct; English Name; ...; Amount; onSale), or its file of articles (idProduct; groupCount; ...)',
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
  newer: {
    marks: ['idProduct', 'groupCount', 'idLanguage', 'condition'],
    columns: {
      cardmarket_id: 'idProduct',
      language: 'idLanguage',
      condition: 'condition',
      foil: 'isFoil',
      reverse: 'isReverseHolo',
      first_edition: 'isFirstEd',
      signed: 'isSigned',
      altered: 'isAltered',
      quantity: 'groupCount',
    },
  },
  conditions: { 'Near Mint': 'NM', 'Lightly Played': 'EX', 'Moderately Played': 'GD', 'Heavily Played': 'PO' },
  printings: { plain: '', foil: 'X' },
  answers: { yes: 'X', no: '' },
  languageOf: (code) => {
    const at = CARDMARKET_LANGUAGES.indexOf(code.toLowerCase())
    return at < 0 ? code : String(at + 1)
  },
  cardmarket: true,
  ownership: PLAYSET,
  isNotOwned: (cells) => {
    const column = PLAYSET.find((name) => cells[name] !== undefined && isYes(cells, name))
    if (column !== undefined) throw new BadCell(problem(column, 'sold_together'))
    return false
  },
})
