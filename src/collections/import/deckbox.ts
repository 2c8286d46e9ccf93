// The inventory file of Deckbox. Its price is an asking price in dollars, so it is neither read nor written.
import { appFormat } from './app-format.ts'

export const DECKBOX_CONDITIONS = {
  'Near Mint': 'Near Mint',
  'Lightly Played': 'Good (Lightly Played)',
  'Moderately Played': 'Played',
  'Heavily Played': 'Heavily Played',
} as const

export const deckbox = appFormat({
  name: 'deckbox',
  title: 'Deckbox inventory export (CSV: Count, Tradelist Count, Name, Edition, ..., Card Number, ...)',
  marks: ['Count', 'Tradelist Count', 'Name', 'Edition', 'Card Number'],
  header: [
    'Count',
    'Tradelist Count',
    'Name',
    'Edition',
    'Edition Code',
    'Card Number',
    'Condition',
    'Language',
    'Foil',
    'Signed',
    'Artist Proof',
    'Altered Art',
    'Misprint',
    'Promo',
    'Textless',
    'Printing Id',
    'Printing Note',
    'Tags',
    'My Price',
  ],
  columns: {
    quantity: 'Count',
    for_trade: 'Tradelist Count',
    name: 'Name',
    set: 'Edition',
    set_code: 'Edition Code',
    number: 'Card Number',
    condition: 'Condition',
    language: 'Language',
    foil: 'Foil',
    signed: 'Signed',
    proof: 'Artist Proof',
    altered: 'Altered Art',
    misprint: 'Misprint',
    tcgplayer_id: 'TcgPlayer ID',
  },
  conditions: DECKBOX_CONDITIONS,
  plainStated: true,
})
