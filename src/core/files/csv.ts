// CSV reading and writing: cells a spreadsheet would run as formulas are escaped, and unescaped when read.

/** Matches text that spreadsheets treat as a formula, with or without quotes or white space before it. */
const FORMULA = /^['"\s]*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/
/** Where spreadsheets of some countries begin a new cell, even inside our quotes. */
const SEPARATOR = /([;\t\r\n])/
const INNER_FORMULA = /^['"\s]*[=+\-@\uff0b\uff0d\uff1d\uff20]/
const QUOTED = /[",;\r\n\t]|^\s|\s$/

/** A line of cells; null is an empty cell. */
export function csvLine(cells: readonly (string | number | null)[], delimiter: ',' | ';' = ','): string {
  return `${cells.map((cell) => (typeof cell === 'string' ? quoted(neutralised(cell)) : (cell ?? ''))).join(delimiter)}\n`
}

/** The text as it was before `csvLine` wrote it. */
export function unescapeCell(cell: string): string {
  const text = cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
  return eachPart(text, (part) => (part.startsWith("'") && INNER_FORMULA.test(part) ? part.slice(1) : part))
}

/** An apostrophe turns a formula into text. Where there already is one, another is added, so that reading restores the original. */
function neutralised(text: string): string {
  const escaped = eachPart(text, (part) => (INNER_FORMULA.test(part) ? `'${part}` : part))
  return FORMULA.test(escaped) ? `'${escaped}` : escaped
}

/** Changes each part of a text that follows a separator. */
function eachPart(text: string, change: (part: string) => string): string {
  const [first = '', ...parts] = text.split(SEPARATOR)
  return first + parts.map(change).join('')
}

function quoted(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
