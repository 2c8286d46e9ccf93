// Evidence of current prices packed for the change log (kind `evidence`): verdicts and feed figures that nodes apply without reading the table.
import { type Confidence, CONFIDENCES, type Figures, type PriceState, STATES } from './evidence-types.ts'

const ENTRY_BYTES = 32
const MINUTE_MS = 60_000
/** A missing figure, or one too large for four bytes (42,949,672.95 and more). */
export const NO_FIGURE = 0xff_ff_ff_ff
/** The figures of a price that nodes keep in memory. */
export const CACHED_FIGURES = ['avg7', 'avg30', 'low', 'high'] as const

/** The evidence columns of a current price after any of them changed. */
export interface EvidenceChange extends Pick<Figures, (typeof CACHED_FIGURES)[number]> {
  itemId: number
  market: number
  labelId: number
  state: PriceState
  confidence: Confidence
  /** bits of FLAGS */
  flags: number
  /** nodes store it to the minute; null: same as when the price was last changed */
  confirmedAtMs: number | null
}

/** State and confidence of a price in one byte. */
export function verdictByte(state: number, confidence: number): number {
  return state | (confidence << 4)
}

/** The state in a verdict byte. */
export function stateOf(verdict: number): PriceState {
  return STATES[verdict & 15]!
}

/** The confidence in a verdict byte. */
export function confidenceOf(verdict: number): Confidence {
  return CONFIDENCES[verdict >> 4]!
}

/** A figure in minor units as four bytes. */
export function figureWord(minor: number | null): number {
  return minor === null || minor >= NO_FIGURE ? NO_FIGURE : minor
}

/** Whole minutes since 1970; 0 for null. */
export function confirmedMinutes(confirmedAtMs: number | null): number {
  return confirmedAtMs === null ? 0 : Math.floor(confirmedAtMs / MINUTE_MS)
}

/** When a price was last confirmed: at least `updatedAtMs`, and to the minute if it was confirmed later. */
export function confirmedAtMs(minutes: number, updatedAtMs: number): number {
  return Math.max(updatedAtMs, minutes * MINUTE_MS)
}

export function packEvidence(changes: readonly EvidenceChange[]): Buffer {
  const packed = Buffer.allocUnsafe(changes.length * ENTRY_BYTES)
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  let at = 0
  for (const change of changes) {
    view.setInt32(at, change.itemId, true)
    view.setInt32(at + 4, change.labelId, true)
    view.setUint8(at + 8, change.market)
    view.setUint8(at + 9, verdictByte(STATES.indexOf(change.state), CONFIDENCES.indexOf(change.confidence)))
    view.setUint16(at + 10, change.flags, true)
    view.setUint32(at + 12, confirmedMinutes(change.confirmedAtMs), true)
    for (const [i, figure] of CACHED_FIGURES.entries()) view.setUint32(at + 16 + i * 4, figureWord(change[figure]), true)
    at += ENTRY_BYTES
  }
  return packed
}

/** Evidence of one price as nodes store it. */
export interface PackedEvidence {
  /** state and confidence, see `stateOf` and `confidenceOf` */
  verdict: number
  /** bits of FLAGS */
  flags: number
  /** see `confirmedAtMs` */
  confirmedMinutes: number
  /** minor units or NO_FIGURE */
  avg7: number
  avg30: number
  low: number
  high: number
}

interface PackedChange extends PackedEvidence {
  itemId: number
  market: number
  labelId: number
}

/** Number of entries in a payload. */
export function packedEvidenceCount(packed: Buffer): number {
  return Math.floor(packed.length / ENTRY_BYTES)
}

/** Reads entries `from` (inclusive) to `to` (exclusive). */
export function eachPackedEvidence(packed: Buffer, from: number, to: number, take: (evidence: PackedChange) => void): void {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  for (let i = from; i < to; i += 1) {
    const at = i * ENTRY_BYTES
    take({
      itemId: view.getInt32(at, true),
      labelId: view.getInt32(at + 4, true),
      market: view.getUint8(at + 8),
      verdict: view.getUint8(at + 9),
      flags: view.getUint16(at + 10, true),
      confirmedMinutes: view.getUint32(at + 12, true),
      avg7: view.getUint32(at + 16, true),
      avg30: view.getUint32(at + 20, true),
      low: view.getUint32(at + 24, true),
      high: view.getUint32(at + 28, true),
    })
  }
}
