// The collection file of Moxfield, whose sets are codes. It does not state the currency of its price.
import { isYes } from '#intake/card-cells.ts'
import { appFormat } from './app-format.ts'
import { DECKBOX_CONDITIONS } from './deckbox.ts'

export const moxfield = appFormat({
  name: 'moxfield',
  title: 'Moxfield collection export (CSV: Count, Tradelist Count, Name, Edition, ..., Collector Number, ...)',
  marks: ['Count', 'Tradelist Count', 'Name', 'Edition', 'Collector Number'],
  header: [
    'Count',
    'Tradelist Count',
    'Name',
    'Edition',
    'Condition',
    'Language',
    'Foil',
    'Tags',
    'Last Modified',
    'Collector Number',
    'Alter',
    'Proxy',
    'Purchase Price',
  ],
  columns: {
    quantity: 'Count',
    for_trade: 'Tradelist Count',
    name: 'Name',
    set_code: 'Edition',
    condition: 'Condition',
    language: 'Language',
    foil: 'Foil',
    number: 'Collector Number',
    altered: 'Alter',
    purchase_price: 'Purchase Price',
  },
  fixed: { Proxy: 'False' },
  // Those of Deckbox are Moxfield's, too.
  conditions: DECKBOX_CONDITIONS,
  printings: { plain: '', foil: 'foil', etched: 'etched' },
  answers: { yes: 'True', no: 'False' },
  setCodeOf: (code) => code.toLowerCase(),
  plainStated: true,
  ownership: ['Proxy'],
  isNotOwned: (cells) => isYes(cells, 'Proxy'),
})
