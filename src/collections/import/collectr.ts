// The collection export of Collectr: portfolios with grade, condition and average cost; amounts are used unchanged.
import { parseLabel } from '#core/labels.ts'
import { problem } from '#core/problems.ts'
import { BadCell, cell, type Cells, gameOf, quantityOf, textOrNull } from '#intake/cells.ts'
import { type AppFormat, appFormat } from './app-format.ts'
import { amountOf, NO_DETAILS, noteOf } from './entries.ts'

export const collectr: AppFormat = {
  ...appFormat({
    name: 'collectr',
    title: 'Collectr portfolio export (CSV: Portfolio Name, Category, Set, Product Name, ...)',
    marks: ['Category', 'Set', 'Product Name', 'Card Number', 'Grade', 'Quantity'],
    header: [
      'Portfolio Name',
      'Category',
      'Set',
      'Product Name',
      'Card Number',
      'Rarity',
      'Variance',
      'Grade',
      'Card Condition',
      'Average Cost Paid',
      'Quantity',
      'Market Price',
      'Price Override',
      'Watchlist',
      'Date Added',
      'Notes',
    ],
    columns: {
      game: 'Category',
      set: 'Set',
      name: 'Product Name',
      number: 'Card Number',
      finish: 'Variance',
      grade: 'Grade',
      condition: 'Card Condition',
      purchase_price: 'Average Cost Paid',
      quantity: 'Quantity',
      note: 'Notes',
    },
    ownership: ['Watchlist'],
    fixed: { 'Portfolio Name': 'Main', Watchlist: 'false' },
    conditions: {},
    printings: { plain: 'Normal', foil: 'Holofoil' },
  }),
  read: (cells) => {
    // A watched card is not an owned one.
    if (cell(cells, 'Watchlist').toLowerCase() === 'true') return null
    const name = cell(cells, 'Product Name')
    if (name === '') throw new BadCell(problem('Product Name', 'required'))
    return {
      item: {
        keys: [],
        name,
        number: textOrNull(cells, 'Card Number'),
        set: textOrNull(cells, 'Set'),
        game: gameOf(cell(cells, 'Category')),
        finish: textOrNull(cells, 'Variance'),
      },
      label: labelOf(cells),
      quantity: quantityOf(cells, 'Quantity'),
      ...NO_DETAILS,
      // Empty values are exported as 0.
      purchaseMinor: amountOf(cells, 'Average Cost Paid') || null,
      note: noteOf('Notes', cell(cells, 'Notes')),
    }
  },
}

/** A grade takes precedence over the condition, which the export also sets for graded cards. */
function labelOf(cells: Cells): string | null {
  const grade = cell(cells, 'Grade')
  const text = grade === '' || /^ungraded$/i.test(grade) ? cell(cells, 'Card Condition') || grade : grade
  return text === '' ? null : (parseLabel(text)?.label ?? text)
}
