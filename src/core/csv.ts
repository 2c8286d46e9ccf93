// CSV reading and writing: cells a spreadsheet would run as formulas are escaped, and unescaped when read.

/** Matches text that spreadsheets treat as a formula, with or without white space before it. */
const FORMULA = /^'*\s*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/
const QUOTED = /[",;\r\n\t]|^\s|\s$/

/** A line of cells; null is an empty cell. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map((cell) => (typeof cell === 'string' ? quoted(neutralised(cell)) : (cell ?? ''))).join(',')}\n`
}

/** The text as it was before `csvLine` wrote it. */
export function unescapeCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

/** A leading apostrophe turns a formula into text. Text that already starts with one gets another one, so that reading restores the original. */
function neutralised(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
