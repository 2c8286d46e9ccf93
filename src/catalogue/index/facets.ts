// Properties of items for field queries, besides names, codes and prices, as columns of small numbers.
import { GAMES } from '#games/games.ts'
import { SEARCH_FIELDS, type SearchField } from '#games/schema.ts'
import { withCapacity } from '#index/columns.ts'
import { fold } from '#index/fold.ts'
import type { ColumnStore } from '#index/stored.ts'
import type { Utf8 } from '#index/utf8.ts'
import { RepeatedTexts } from '#index/vocabulary.ts'
import { Interned } from './interned.ts'

/** Facets by attribute; an item has one value per facet, or a comma-separated list of values. */
const BY_ATTRIBUTE: ReadonlyMap<string, Facet> = new Map(Object.entries(GAMES.attributes))

export const FACETS = SEARCH_FIELDS
export type Facet = SearchField

const TYPES = '"types": ['
const HP = /"hp": (\d+)/u

export class Facets {
  /** distinct values by facet; number 0 means none */
  readonly values = Object.fromEntries(FACETS.map((facet) => [facet, new Interned(fold)])) as Record<Facet, Interned>
  /** value numbers by facet and row */
  readonly columns = Object.fromEntries(FACETS.map((facet) => [facet, new Uint16Array(0)])) as Record<Facet, Uint16Array | Int32Array>
  /** 0 means none */
  hp = new Uint16Array(0)
  readonly #texts = new RepeatedTexts()

  constructor() {
    for (const facet of FACETS) this.values[facet].number('')
  }

  store(columns: ColumnStore): void {
    for (const facet of FACETS) {
      this.values[facet].store(columns)
      this.columns[facet] = columns.column(this.columns[facet])
    }
    this.hp = columns.column(this.hp)
  }

  /** Reserves memory for this many rows. */
  reserve(rows: number): void {
    for (const facet of FACETS) this.columns[facet] = withCapacity(this.columns[facet], rows)
    this.hp = withCapacity(this.hp, rows)
  }

  /** Reads the facets of a row from its attributes and details, which are JSON as formatted by the database. */
  set(row: number, attributes: Utf8, details: Utf8): void {
    for (const facet of FACETS) this.#put(facet, row, 0)
    eachAttribute(attributes, (name, from, to) => {
      const facet = BY_ATTRIBUTE.get(name)
      if (!facet) return
      const text = this.#texts.textOf(attributes.bytes as Buffer, from, to)
      this.#put(facet, row, this.values[facet].number(text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text))
    })
    const text = (details.bytes as Buffer).toString('utf8', details.from, details.to)
    const from = text.indexOf(TYPES)
    const types = from < 0 ? '' : text.slice(from + TYPES.length, text.indexOf(']', from))
    if (types) this.#put('type', row, this.values.type.number(types.replaceAll('"', '')))
    this.hp = withCapacity(this.hp, row + 1)
    this.hp[row] = Number(HP.exec(text)?.[1] ?? 0)
  }

  #put(facet: Facet, row: number, value: number): void {
    let column = this.columns[facet]
    if (value > 65_535 && column instanceof Uint16Array) column = Int32Array.from(column)
    if (row >= column.length) column = withCapacity(column, row + 1)
    column[row] = value
    this.columns[facet] = column
  }
}

const NAME = Buffer.from('"name": "')
const VALUE = Buffer.from('", "value": "')
const QUOTE = 34
const BACKSLASH = 92

/** Iterates over a JSON list of names and values, as formatted by `jsonb`, without creating objects. */
function eachAttribute({ bytes, from, to }: Utf8, take: (name: string, valueFrom: number, valueTo: number) => void): void {
  const buffer = bytes as Buffer
  let at = from
  for (;;) {
    // A name follows `[{` or `}, {`.
    while (at < to && buffer[at] !== QUOTE) at += 1
    const nameFrom = at + NAME.length
    if (nameFrom >= to) return
    const nameTo = endOfText(buffer, nameFrom, to)
    const valueFrom = nameTo + VALUE.length
    const valueTo = endOfText(buffer, valueFrom, to)
    take(buffer.toString('latin1', nameFrom, nameTo), valueFrom, valueTo)
    at = valueTo + 1
  }
}

function endOfText(buffer: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && buffer[at] !== QUOTE) at += buffer[at] === BACKSLASH ? 2 : 1
  return at
}
