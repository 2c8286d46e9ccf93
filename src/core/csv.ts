// CSV reading and writing: cells a spreadsheet would run as formulas are escaped, and unescaped when read.

/** What spreadsheets take for the start of a formula; white space before it does not stop them all. */
const FORMULA = /^'*\s*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/
const QUOTED = /[",;\r\n\t]|^\s|\s$/

/** A line of cells; null is an empty cell. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map((cell) => (typeof cell === 'string' ? quoted(neutralised(cell)) : (cell ?? ''))).join(',')}\n`
}

/** The text as it was before `csvLine` wrote it. */
export function restored(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

/** An apostrophe makes text of a formula; text that has one there already gets another, so that none is lost. */
function neutralised(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
