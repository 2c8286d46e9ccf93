// Current prices of the items of a batch, as seen by its transaction; new prices are compared with them.
import { MARKETS } from '#core/markets.ts'
import { copyOut, int2At, int4At, minorAt, readBinaryCopy, timeAt } from '#db/copy.ts'
import type { Queryable } from '#db/schema.ts'
import { resolveAliases } from '#db/live-item.ts'
import { withCapacity } from '#index/columns.ts'
import { bitsOf, type PriceEvidence, STATES } from '../evidence/evidence-types.ts'
import { FIGURE_COLUMNS, FigureTable } from './feed-figures.ts'
import type { PriceChange } from './price-payload.ts'

/** The columns that `priceOf` reads from a binary COPY of the table. */
export const CURRENT_FIELDS = 'item_id, market::int4, label_id, price, updated_at'

/** Evidence columns, after the others. */
const EVIDENCE_FIELDS = `confirmed_at, state, confidence, flags, ${FIGURE_COLUMNS.join(', ')}`
const NO_EVIDENCE = `null, 0::int2, 0::int2, 0${', null'.repeat(FIGURE_COLUMNS.length)}`
/** Positions in a row: the first evidence column, the first figure, and the ctid. */
const EVIDENCE = CURRENT_FIELDS.split(',').length
const FIGURES = EVIDENCE + 4
const PLACE = FIGURES + FIGURE_COLUMNS.length
const IMPORT = PLACE + 1
const LINE = IMPORT + 1

export const IDENTICAL = bitsOf(['identical_figures'])
export const FROZEN = bitsOf(['frozen'])
const JUMP = bitsOf(['jump'])
const AVERAGE_JUMP = bitsOf(['average_jump'])
/** Set when a price is computed from our own sales. */
export const FEW_PEOPLE = bitsOf(['few_people'])
/** Flags that are set when prices arrive, and stay until they are settled. */
export const JUMPS = JUMP | AVERAGE_JUMP
export const PERSISTENT_FLAGS = IDENTICAL | FROZEN | JUMPS | FEW_PEOPLE

const SERVICE = MARKETS.indexOf('service')

/** Used instead of a market in rows of merged items. */
const ALIAS = -1

/** The price in a row of `CURRENT_FIELDS`. The database only copies the columns, because computing there would take most of the time. */
export function priceOf(buffer: Buffer, offsets: Int32Array): PriceChange {
  return {
    itemId: int4At(buffer, offsets[0]!),
    market: int4At(buffer, offsets[1]!),
    labelId: int4At(buffer, offsets[2]!),
    minor: minorAt(buffer, offsets[3]!),
    updatedAtMs: timeAt(buffer, offsets[4]!),
  }
}

/** When a price was last stated. Ours can be set later than its newest sale, which is what counts for its age. */
function confirmedMs({ market, updatedAtMs }: PriceChange, storedMs: number): number {
  return market === SERVICE ? storedMs : Math.max(updatedAtMs, storedMs)
}

/** The ctid of a row as SQL text. */
function placeOf(buffer: Buffer, offset: number): string {
  return `(${int4At(buffer, offset) >>> 0},${(buffer[offset + 4]! << 8) | buffer[offset + 5]!})`
}

/** A verdict as one number: flags in the lower 16 bits, then four bits for the state and four for the confidence. */
export function packedVerdict(state: number, confidence: number, flags: number): number {
  return flags | (state << 16) | (confidence << 20)
}

/** The state of a packed verdict, as its position in STATES. */
export function stateIn(verdict: number): number {
  return (verdict >> 16) & 15
}

/** The confidence of a packed verdict, as its position in CONFIDENCES. */
export function confidenceIn(verdict: number): number {
  return verdict >> 20
}

/** The bits of FLAGS of a packed verdict. */
export function flagsIn(verdict: number): number {
  return verdict & 0xff_ff
}

/** Current prices as columns; the few prices of an item form a linked list through `#next`. */
export class CurrentPrices {
  #size = 0
  readonly #first = new Map<number, number>()
  #next = new Int32Array(0)
  #itemId = new Int32Array(0)
  #market = new Uint8Array(0)
  #labelId = new Int32Array(0)
  minor = new Float64Array(0)
  updatedAtMs = new Float64Array(0)
  /** when their feeds last stated them; at least `updatedAtMs` */
  confirmedAtMs = new Float64Array(0)
  /** packed by `packedVerdict` */
  verdict = new Int32Array(0)
  readonly figures = new FigureTable()
  /** import that set each price, and line of its file (-1 for none) of the prices that were read */
  importId = new Int32Array(0)
  line = new Int32Array(0)
  /** ctids of the rows that were read; none for new prices */
  readonly places: string[] = []
  /** the requested ids that were merged into another item, with that item's id; their prices are not read */
  readonly survivors = new Map<number, number>()

  /** Reads every price of the items, in all markets; those of locked markets stay valid, because writes to one market are serialised. */
  static async read(on: Queryable, itemIds: Iterable<number>): Promise<CurrentPrices> {
    const currents = new CurrentPrices()
    const aliases: number[] = []
    const ids = [...new Set(itemIds)].join(',')
    if (ids === '') return currents
    const chunks = copyOut(
      on,
      `copy (
        select ${CURRENT_FIELDS}, ${EVIDENCE_FIELDS}, ctid, import_id, line from prices where item_id = any('{${ids}}'::int4[])
        union all
        select old_id, ${ALIAS}, item_id, 0, 'epoch', ${NO_EVIDENCE}, ctid, 0, 0 from item_aliases where old_id = any('{${ids}}'::int4[])
      ) to stdout (format binary)`,
    )
    await readBinaryCopy(chunks, (buffer, offsets, lengths) => {
      const price = priceOf(buffer, offsets)
      if (price.market === ALIAS) {
        aliases.push(price.itemId)
        return
      }
      currents.places.push(placeOf(buffer, offsets[PLACE]!))
      const at = currents.#add(price)
      if (lengths[EVIDENCE]! > 0) currents.confirmedAtMs[at] = confirmedMs(price, timeAt(buffer, offsets[EVIDENCE]!))
      const [state, confidence] = [int2At(buffer, offsets[EVIDENCE + 1]!), int2At(buffer, offsets[EVIDENCE + 2]!)]
      currents.verdict[at] = packedVerdict(state, confidence, int4At(buffer, offsets[EVIDENCE + 3]!))
      currents.figures.read(at, buffer, offsets, lengths, FIGURES)
      currents.importId[at] = int4At(buffer, offsets[IMPORT]!)
      currents.line[at] = lengths[LINE]! < 0 ? -1 : int4At(buffer, offsets[LINE]!)
    })
    // Aliases are rare: planning to resolve them would take longer than reading the prices of a small batch.
    if (aliases.length > 0) for (const [from, into] of await resolveAliases(on, aliases)) currents.survivors.set(from, into)
    return currents
  }

  /** Position of the first price of an item; -1 if it has none. `next` returns the following ones. */
  first(itemId: number): number {
    return this.#first.get(itemId) ?? -1
  }

  /** Position of an item's price in a market and under a label; -1 if there is none. */
  find(first: number, market: number, labelId: number): number {
    let at = first
    while (at >= 0 && (this.#labelId[at] !== labelId || this.#market[at] !== market)) at = this.#next[at]!
    return at
  }

  /** Position of the next price of the same item; -1 after the last. */
  next(at: number): number {
    return this.#next[at]!
  }

  /** Number of prices. */
  get size(): number {
    return this.#size
  }

  itemIds(): IterableIterator<number> {
    return this.#first.keys()
  }

  itemId(at: number): number {
    return this.#itemId[at]!
  }

  /** The values of a column at some positions, as a PostgreSQL array literal. */
  column(name: 'itemId' | 'market' | 'labelId', positions: readonly number[]): string {
    const column = name === 'itemId' ? this.#itemId : name === 'market' ? this.#market : this.#labelId
    return `{${positions.map((at) => column[at]).join(',')}}`
  }

  market(at: number): number {
    return this.#market[at]!
  }

  labelId(at: number): number {
    return this.#labelId[at]!
  }

  /**
   * Sets a price that has not been confirmed yet; the evidence of the previous price does not apply to it.
   * @param current position of the price that it replaces; -1 for none
   * @returns its position
   */
  set(current: number, price: PriceChange, importId: number): number {
    const at = current < 0 ? this.#add(price) : current
    this.minor[at] = price.minor
    this.updatedAtMs[at] = price.updatedAtMs
    this.confirmedAtMs[at] = price.updatedAtMs
    this.importId[at] = importId
    return at
  }

  /** The price at a position with all its evidence. */
  evidence(at: number, { sharedId, conditionKnown }: Pick<PriceEvidence, 'sharedId' | 'conditionKnown'>): PriceEvidence {
    const verdict = this.verdict[at]!
    const figures = this.figures.at(at)
    return {
      market: this.#market[at]!,
      minor: this.minor[at]!,
      updatedAtMs: this.updatedAtMs[at]!,
      confirmedAtMs: this.confirmedAtMs[at]!,
      state: STATES[stateIn(verdict)]!,
      identical: (verdict & IDENTICAL) !== 0,
      frozen: (verdict & FROZEN) !== 0,
      jumped: (verdict & JUMP) !== 0,
      averageJumped: (verdict & AVERAGE_JUMP) !== 0,
      sharedId,
      fewPeople: (verdict & FEW_PEOPLE) !== 0,
      conditionKnown,
      avg1: figures?.avg1 ?? null,
      avg7: figures?.avg7 ?? null,
      avg30: figures?.avg30 ?? null,
      low: figures?.low ?? null,
      mid: figures?.mid ?? null,
      high: figures?.high ?? null,
      samples: figures?.samples ?? null,
    }
  }

  #add({ itemId, market, labelId, minor, updatedAtMs }: PriceChange): number {
    const at = this.#size
    if (at === this.minor.length) this.#reach(at + 1)
    this.#size += 1
    this.#next[at] = this.first(itemId)
    this.#first.set(itemId, at)
    this.#itemId[at] = itemId
    this.#market[at] = market
    this.#labelId[at] = labelId
    this.minor[at] = minor
    this.updatedAtMs[at] = updatedAtMs
    this.confirmedAtMs[at] = updatedAtMs
    this.verdict[at] = 0
    return at
  }

  #reach(length: number): void {
    this.#next = withCapacity(this.#next, length)
    this.#itemId = withCapacity(this.#itemId, length)
    this.#market = withCapacity(this.#market, length)
    this.#labelId = withCapacity(this.#labelId, length)
    this.minor = withCapacity(this.minor, length)
    this.updatedAtMs = withCapacity(this.updatedAtMs, length)
    this.confirmedAtMs = withCapacity(this.confirmedAtMs, length)
    this.verdict = withCapacity(this.verdict, length)
    this.importId = withCapacity(this.importId, length)
    this.line = withCapacity(this.line, length)
  }
}
