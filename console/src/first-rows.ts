// Parses the first rows of a CSV or JSON list from the start of its file, so that a person can map its columns.

export interface FirstRows {
  columns: string[]
  rows: string[][]
}

const MAX_ROWS = 5
const MAX_COLUMNS = 60

/** Complete rows in the text; `complete` means that the text is the whole file. */
export function firstRows(head: string, complete: boolean): FirstRows {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  return /^[{[]/.test(text) ? fromObjects(objectsIn(text)) : fromCsv(text, complete)
}

function fromCsv(text: string, complete: boolean): FirstRows {
  const line = text.split('\n', 1)[0]!
  const delimiter = [',', ';', '\t'].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best))
  const [columns = [], ...rows] = recordsIn(text, delimiter, complete)
  return { columns: columns.map((column) => column.trim()).slice(0, MAX_COLUMNS), rows: rows.slice(0, MAX_ROWS) }
}

/** CSV records; one that may continue after the text is left out. */
function recordsIn(text: string, delimiter: string, complete: boolean): string[][] {
  const records: string[][] = []
  let record: string[] = []
  let cell = ''
  let quoted = false
  for (let at = 0; at < text.length && records.length <= MAX_ROWS; at += 1) {
    const character = text[at]!
    if (quoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') cell += text[(at += 1)]!
      else quoted = false
    } else if (character === '"' && cell === '') quoted = true
    else if (character === delimiter) {
      record.push(cell)
      cell = ''
    } else if (character === '\n') {
      records.push([...record, cell.replace(/\r$/, '')])
      record = []
      cell = ''
    } else cell += character
  }
  if (records.length <= MAX_ROWS && (record.length > 0 || cell !== '') && (complete || records.length === 0)) records.push([...record, cell])
  return records
}

/** Complete objects, one per line or in an array. */
function objectsIn(text: string): object[] {
  const found: object[] = []
  let from = -1
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length && found.length < MAX_ROWS; at += 1) {
    const character = text[at]
    if (quoted) {
      if (character === '\\') at += 1
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' && (depth += 1) === 1) from = at
    else if (character === '}' && (depth -= 1) === 0) {
      try {
        found.push(JSON.parse(text.slice(from, at + 1)) as object)
      } catch {
        return found
      }
    }
  }
  return found
}

function fromObjects(objects: readonly object[]): FirstRows {
  const rows = objects.map((object) => new Map(members(object, '')))
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))].slice(0, MAX_COLUMNS)
  return { columns, rows: rows.map((row) => columns.map((column) => row.get(column) ?? '')) }
}

/** Members with their paths. */
function members(object: object, before: string): [path: string, text: string][] {
  return Object.entries(object).flatMap(([name, value]: [string, unknown]) => {
    const path = before + name
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return members(value, `${path}.`)
    return [[path, typeof value === 'string' ? value : JSON.stringify(value)] as [string, string]]
  })
}

/** Fields that most lists have, with the usual names of their columns. */
const NAMES: readonly (readonly [field: string, names: RegExp])[] = [
  ['price', /price|amount|fiyat/i],
  ['name', /^(name|title|product.?name|card.?name)$/i],
  ['set', /^(set|set.?(name|code)|expansion|edition)$/i],
  ['number', /^(number|no|nr|collector.?number|card.?number|code)$/i],
  ['finish', /^(finish|foil|printing|variant|version)$/i],
  ['label', /^(label|condition|grade)$/i],
  ['updated_at', /^(date|updated_?at|last_?updated|timestamp)$/i],
]

/** Guesses the column of each field by its name; the first match wins. */
export function guessColumns(columns: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    NAMES.flatMap(([field, names]) => {
      const column = columns.find((one) => names.test(one))
      return column === undefined ? [] : [[field, column]]
    }),
  )
}
