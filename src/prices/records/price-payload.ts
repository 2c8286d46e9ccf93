// Price changes packed for the change log, which nodes apply to memory without reading the table.

/** Bytes of a packed price. */
export const PRICE_BYTES = 26

export interface PriceChange {
  itemId: number
  market: number
  labelId: number
  /** minor units; 0 if the price was removed */
  minor: number
  updatedAtMs: number
}

export function packPrices(changes: readonly PriceChange[]): Buffer {
  const packed = Buffer.allocUnsafe(changes.length * PRICE_BYTES)
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  let at = 0
  for (const change of changes) {
    view.setInt32(at, change.itemId, true)
    view.setUint16(at + 4, change.market, true)
    view.setInt32(at + 6, change.labelId, true)
    view.setFloat64(at + 10, change.minor, true)
    view.setFloat64(at + 18, change.updatedAtMs, true)
    at += PRICE_BYTES
  }
  return packed
}

/** Number of price changes in a payload. */
export function packedCount(packed: Buffer): number {
  return Math.floor(packed.length / PRICE_BYTES)
}

/** Reads entries `from` (inclusive) to `to` (exclusive). */
export function eachPackedPrice(packed: Buffer, from: number, to: number, take: (change: PriceChange) => void): void {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  for (let i = from; i < to; i += 1) {
    const at = i * PRICE_BYTES
    take({
      itemId: view.getInt32(at, true),
      market: view.getUint16(at + 4, true),
      labelId: view.getInt32(at + 6, true),
      minor: view.getFloat64(at + 10, true),
      updatedAtMs: view.getFloat64(at + 18, true),
    })
  }
}
