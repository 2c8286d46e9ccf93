// Stores columns in a file and restores them: each owner lists its columns once, in its `store` method, for both writing and reading.
import type { Column } from '#index/columns.ts'

/** Content of a part: elements of a typed array, or texts, numbers or a value in their own encoding. */
const ARRAYS = { Int32Array, Float64Array, Uint8Array, Uint16Array, Uint32Array, Buffer } as const
type PartType = keyof typeof ARRAYS | 'texts' | 'numbers' | 'value'

/** Bytes per piece: hashing one piece must not block the event loop noticeably. */
const PIECE_BYTES = 1024 * 1024
/** Texts or numbers per piece. */
const PIECE_ENTRIES = 2_048
const INT_BYTES = 4

/**
 * Receives columns in the order in which `store` names them. When writing, it returns the given columns; when reading,
 * the columns that were written at the same position.
 */
export interface ColumnStore {
  readonly reading: boolean
  column<C extends Column>(column: C): C
  /** arrays of one type; reading creates them as views of one buffer */
  chunks<C extends Column>(chunks: C[]): C[]
  /** lists; for an iterable that is not an array, writing returns an empty list */
  texts(texts: Iterable<string>): string[]
  numbers(numbers: Iterable<number>): number[]
  /** any small value that JSON can represent */
  value<T>(value: T): T
}

/** A part to write; its pieces are created one by one, and the stored data must not change until the last one. */
export interface Part {
  type: PartType
  /** elements of each array */
  lengths: number[]
  pieces: () => Iterable<Uint8Array>
}

/** A part that has been read. */
export interface ReadPart {
  type: string
  lengths: readonly number[]
  bytes: Uint8Array<ArrayBuffer>
}

/** Thrown if the parts do not match the columns that they are read into. */
export class StoredColumnsError extends Error {
  override name = 'StoredColumnsError'
}

/** The parts for what `store` names; nothing is copied. */
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
 * Returns the parts in the order in which they were written; call `end` after the last one.
 * Both throw StoredColumnsError if the parts do not match.
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

/**
 * Each piece is the number of its texts, their lengths in bytes, and the texts. A text with half a surrogate pair is written as UTF-16, with a
 * negative length.
 */
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
