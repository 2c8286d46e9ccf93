// Columns as a file holds them: what has columns names them once, in its `store`, for writing and for reading alike.
import type { Column } from '#index/columns.ts'

/** What parts hold: elements of a typed array, or text and numbers in a form of their own. */
const ARRAYS = { Int32Array, Float64Array, Uint8Array, Uint16Array, Uint32Array, Buffer } as const
type PartType = keyof typeof ARRAYS | 'texts' | 'numbers' | 'value'

/** Bytes of a piece that is handed over at a time: hashing it must not be felt. */
const PIECE_BYTES = 1024 * 1024
/** Texts or numbers of a piece. */
const PIECE_ENTRIES = 2_048
const INT_BYTES = 4

/**
 * Takes columns in the order in which they are named. Where it writes, it gives back what it is given; where it reads,
 * what was written in that place.
 */
export interface ColumnStore {
  readonly reading: boolean
  column<C extends Column>(column: C): C
  /** arrays of one kind, which are read into one memory */
  chunks<C extends Column>(chunks: C[]): C[]
  /** lists; where others than arrays are given, nothing comes back of them when it writes */
  texts(texts: Iterable<string>): string[]
  numbers(numbers: Iterable<number>): number[]
  /** anything small that JSON can hold */
  value<T>(value: T): T
}

/** A part that is to be written; its pieces are made one by one, and nothing that is stored may change until the last. */
export interface Part {
  type: PartType
  /** elements of each array */
  lengths: number[]
  pieces: () => Iterable<Uint8Array>
}

/** A part that was read. */
export interface ReadPart {
  type: string
  lengths: readonly number[]
  bytes: Uint8Array<ArrayBuffer>
}

/** The parts do not fit the columns that they are read into. */
export class StoredColumnsError extends Error {
  override name = 'StoredColumnsError'
}

/** The parts that hold what `store` names, without copying it. */
export function partsOf(store: (columns: ColumnStore) => void): Part[] {
  const parts: Part[] = []
  const chunks = <C extends Column>(list: C[]): C[] => {
    const type = (list[0] === undefined ? 'Buffer' : list[0].constructor.name) as PartType
    const held = [...list]
    parts.push({ type, lengths: held.map(({ length }) => length), pieces: () => piecesOf(held) })
    return list
  }
  store({
    reading: false,
    column: (column) => chunks([column])[0]!,
    chunks,
    texts: (texts) => {
      parts.push({ type: 'texts', lengths: [], pieces: () => textPieces(texts) })
      return Array.isArray(texts) ? texts : []
    },
    numbers: (numbers) => {
      parts.push({ type: 'numbers', lengths: [], pieces: () => numberPieces(numbers) })
      return Array.isArray(numbers) ? numbers : []
    },
    value: (value) => {
      parts.push({ type: 'value', lengths: [], pieces: () => [Buffer.from(JSON.stringify(value))] })
      return value
    },
  })
  return parts
}

/**
 * Hands the parts out again, in the order in which they were written; `end` tells that nothing more will be asked for.
 * Both throw StoredColumnsError when the parts are others.
 */
export function readParts(parts: readonly ReadPart[]): { columns: ColumnStore; end: () => void } {
  let at = 0
  const next = (...types: readonly string[]): ReadPart => {
    const part = parts[at++]
    if (!part || !types.includes(part.type)) throw new StoredColumnsError(`part ${at} is ${part?.type ?? 'missing'}, not ${types.join(' or ')}`)
    return part
  }
  const chunks = <C extends Column>(part: ReadPart): C[] => {
    const make = ARRAYS[part.type as keyof typeof ARRAYS]
    const { buffer, byteOffset } = part.bytes
    let offset = byteOffset
    return part.lengths.map((length) => {
      const chunk = make === Buffer ? Buffer.from(buffer, offset, length) : new (make as typeof Int32Array)(buffer, offset, length)
      offset += chunk.byteLength
      return chunk as unknown as C
    })
  }
  const arrays = Object.keys(ARRAYS)
  const columns: ColumnStore = {
    reading: true,
    column: <C extends Column>() => chunks<C>(next(...arrays))[0]!,
    chunks: <C extends Column>() => chunks<C>(next(...arrays)),
    texts: () => readTexts(next('texts').bytes),
    numbers: () => readNumbers(next('numbers').bytes),
    value: () => JSON.parse(Buffer.from(next('value').bytes).toString()),
  }
  const end = () => {
    if (at !== parts.length) throw new StoredColumnsError(`${parts.length - at} parts are left over`)
  }
  return { columns, end }
}

function* piecesOf(columns: readonly Column[]): Generator<Uint8Array> {
  for (const { buffer, byteOffset, byteLength } of columns) {
    for (let from = 0; from < byteLength; from += PIECE_BYTES) {
      yield new Uint8Array(buffer, byteOffset + from, Math.min(PIECE_BYTES, byteLength - from))
    }
  }
}

/** Each piece is the number of its texts, their lengths in bytes, and the texts. Half a surrogate pair is one, too, and UTF-8 has none. */
function* textPieces(texts: Iterable<string>): Generator<Uint8Array> {
  for (const some of inPieces(texts)) {
    const bytes = some.map((text) => (text.isWellFormed() ? Buffer.from(text) : Buffer.from(text, 'utf16le')))
    const lengths = some.map((text, i) => (text.isWellFormed() ? bytes[i]!.length : -bytes[i]!.length))
    const head = Int32Array.of(some.length, ...lengths)
    yield Buffer.concat([Buffer.from(head.buffer), ...bytes])
  }
}

function readTexts(bytes: Uint8Array<ArrayBuffer>): string[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const texts: string[] = []
  for (let at = 0; at < all.length; ) {
    const count = all.readInt32LE(at)
    let head = at + INT_BYTES
    let from = head + count * INT_BYTES
    for (let i = 0; i < count; i += 1, head += INT_BYTES) {
      const length = all.readInt32LE(head)
      const to = from + Math.abs(length)
      texts.push(length < 0 ? all.toString('utf16le', from, to) : all.toString('utf8', from, to))
      from = to
    }
    at = from
  }
  return texts
}

function* numberPieces(numbers: Iterable<number>): Generator<Uint8Array> {
  for (const some of inPieces(numbers)) yield new Uint8Array(Float64Array.from(some).buffer)
}

function readNumbers({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): number[] {
  return Array.from(new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT))
}

function* inPieces<T>(entries: Iterable<T>): Generator<T[]> {
  let some: T[] = []
  for (const entry of entries) {
    some.push(entry)
    if (some.length < PIECE_ENTRIES) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}
