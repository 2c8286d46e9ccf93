// JSON of items by selection, cached as bytes until the item changes: many responses contain the same items.
import { ByteRing, CHUNK_BYTES } from '#index/byte-ring.ts'
import type { Output } from './output.ts'

/** Longer items are serialised each time. */
const MAX_ITEM_BYTES = CHUNK_BYTES / 8

// Fields of a slot are adjacent, because they are read together.
const FIELDS = 6
const SELECTION = 0
const ROW = 1
const VERSION = 2
const CHUNK = 3
const OFFSET = 4
const LENGTH = 5

const MIN_SLOTS = 2 ** 12
const MAX_SLOTS = 2 ** 18
/** Distributes selections over the slots; the rows of one selection are adjacent and never collide while there are enough slots. */
const SPREAD = 0x9e3779b1
/** Maximum number of numbered selections; beyond it, all are numbered again. */
const MAX_SELECTIONS = 10_000

/** A cache of bytes by selection and row. At the maximum number of slots, a new entry replaces another. */
export class ItemBytes {
  readonly #ring: ByteRing
  #slots = new Int32Array(MIN_SLOTS * FIELDS)
  #mask = MIN_SLOTS - 1
  #generation = -1
  readonly #selections = new Map<string, number>()
  #numbers = 0

  constructor(budgetBytes: number) {
    this.#ring = new ByteRing(budgetBytes)
  }

  /** Drops all entries when something that many items share has changed. */
  follow(generation: number): void {
    if (generation === this.#generation) return
    this.#generation = generation
    this.#ring.dropAll()
  }

  /** The number of a selection, the same for the same text. */
  numberOf(selection: string): number {
    let number = this.#selections.get(selection)
    if (number !== undefined) return number
    if (this.#selections.size >= MAX_SELECTIONS) this.#selections.clear()
    number = this.#numbers += 1
    this.#selections.set(selection, number)
    return number
  }

  /** Copies the entry of a row's version into a response; false if there is none. */
  copy(selection: number, row: number, version: number, output: Output): boolean {
    const slots = this.#slots
    const at = this.#slotOf(selection, row)
    if (slots[at + SELECTION] !== selection || slots[at + ROW] !== row || slots[at + VERSION] !== version) return false
    const chunk = slots[at + CHUNK]!
    if (!this.#ring.has(chunk)) return false
    const offset = slots[at + OFFSET]!
    output.copy(this.#ring.chunk(chunk).bytes, offset, offset + slots[at + LENGTH]!)
    return true
  }

  put(selection: number, row: number, version: number, bytes: Buffer): void {
    const { length } = bytes
    if (length > MAX_ITEM_BYTES) return
    const offset = this.#ring.take(length)
    this.#ring.chunk(this.#ring.newest).bytes.set(bytes, offset)
    const at = this.#freeSlotOf(selection, row)
    const slots = this.#slots
    slots[at + SELECTION] = selection
    slots[at + ROW] = row
    slots[at + VERSION] = version
    slots[at + CHUNK] = this.#ring.newest
    slots[at + OFFSET] = offset
    slots[at + LENGTH] = length
  }

  #slotOf(selection: number, row: number): number {
    return ((Math.imul(selection, SPREAD) + row) & this.#mask) * FIELDS
  }

  /** The slot for a new entry; adds slots first if it is taken and more are allowed. */
  #freeSlotOf(selection: number, row: number): number {
    for (;;) {
      const at = this.#slotOf(selection, row)
      const slots = this.#slots
      const others = this.#ring.has(slots[at + CHUNK]!) && (slots[at + SELECTION] !== selection || slots[at + ROW] !== row)
      if (!others || this.#mask + 1 >= MAX_SLOTS) return at
      this.#double()
    }
  }

  #double(): void {
    const before = this.#slots
    this.#slots = new Int32Array(2 * before.length)
    this.#mask = 2 * this.#mask + 1
    for (let from = 0; from < before.length; from += FIELDS) {
      if (!this.#ring.has(before[from + CHUNK]!)) continue
      this.#slots.set(before.subarray(from, from + FIELDS), this.#slotOf(before[from + SELECTION]!, before[from + ROW]!))
    }
  }
}
