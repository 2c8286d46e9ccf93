// The collection export of PriceCharting: money in cents, the grade in include-string, the number in the name.
import { parseLabel } from '#core/labels.ts'
import { problem } from '#core/problems.ts'
import { GAMES } from '#games/games.ts'
import { truncate } from '#prices/sources/cells.ts'
import { BadCell, cell, type Cells, quantityOf, textOrNull } from '#intake/cells.ts'
import { codeOf, type CollectionFormat, dayOf, noteOf } from './entries.ts'

export const pricecharting: CollectionFormat = {
  name: 'pricecharting',
  title: 'PriceCharting collection export (CSV: id, product-name, console-name, include-string, ...)',
  marks: ['id', 'product-name', 'console-name', 'include-string', 'quantity'],
  reads: [
    'id',
    'product-name',
    'console-name',
    'include-string',
    'condition-string',
    'notes',
    'cost-basis-in-pennies',
    'quantity',
    'date-purchased',
    'grading-company',
    'grading-cert-id',
  ],
  read: (cells) => {
    const product = cell(cells, 'product-name')
    if (product === '') throw new BadCell(problem('product-name', 'required'))
    const id = cell(cells, 'id')
    const tags = [...product.matchAll(/\[([^[\]]*)\]/g)].map((tag) => tag[1]!)
    const console = cell(cells, 'console-name')
    const game = GAMES.all.find(({ shopNames }) => console.startsWith(`${shopNames.pricecharting} `))
    return {
      item: {
        keys: id === '' ? [] : [{ source: 'pricecharting', id }],
        name: product
          .replace(/\[[^[\]]*\]/g, '')
          .replace(/#\S+/, '')
          .replace(/\s+/g, ' ')
          .trim(),
        number: /#(\S+)/.exec(product)?.[1] ?? null,
        set: (game ? console.slice(game.shopNames.pricecharting.length + 1) : console) || null,
        game: game?.slug ?? null,
        finish: tags.length > 0 ? tags.join(' ') : null,
      },
      label: labelOf(cells),
      quantity: quantityOf(cells, 'quantity'),
      purchaseMinor: centsOf(cells, 'cost-basis-in-pennies'),
      saleMinor: null,
      purchaseDate: dayOf(cells, 'date-purchased'),
      cardUniqId: codeOf('grading-cert-id', cell(cells, 'grading-cert-id')),
      note: noteOf('notes', cell(cells, 'notes')),
    }
  },
}

/** `PSA 10`; `Grade 9` with its company; `Ungraded` with its condition if the cell names one. */
function labelOf(cells: Cells): string | null {
  const included = cell(cells, 'include-string')
  const company = textOrNull(cells, 'grading-company')
  const grade = /^grade (.+)$/i.exec(included)?.[1]
  if (grade && company) return parseLabel(`${company} ${grade}`)?.label ?? `${company} ${grade}`
  const label = parseLabel(included)
  if (label?.label === 'Ungraded') return parseLabel(cell(cells, 'condition-string'))?.label ?? label.label
  return label?.label ?? (included || null)
}

function centsOf(cells: Cells, column: string): number | null {
  const text = cell(cells, column)
  if (text === '') return null
  if (!/^\d{1,12}$/.test(text)) throw new BadCell(problem(column, 'integer', { min: 0, value: truncate(text) }))
  return Number(text)
}
