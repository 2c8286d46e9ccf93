// Price changes packed for the change log: what every node applies to its memory without reading the table again.

const ENTRY_BYTES = 26

export interface PriceChange {
  itemId: number
  market: number
  labelId: number
  /** minor units, 0 when the price was taken away */
  minor: number
  updatedAtMs: number
}

export function packPrices(changes: readonly PriceChange[]): Buffer {
  const packed = Buffer.allocUnsafe(changes.length * ENTRY_BYTES)
  let at = 0
  for (const change of changes) {
    packed.writeInt32LE(change.itemId, at)
    packed.writeUInt16LE(change.market, at + 4)
    packed.writeInt32LE(change.labelId, at + 6)
    packed.writeDoubleLE(change.minor, at + 10)
    packed.writeDoubleLE(change.updatedAtMs, at + 18)
    at += ENTRY_BYTES
  }
  return packed
}

export function packedCount(packed: Buffer): number {
  return Math.floor(packed.length / ENTRY_BYTES)
}

/** Reads entries `from` (inclusive) to `to` (exclusive). */
export function eachPackedPrice(packed: Buffer, from: number, to: number, take: (change: PriceChange) => void): void {
  for (let i = from; i < to; i += 1) {
    const at = i * ENTRY_BYTES
    take({
      itemId: packed.readInt32LE(at),
      market: packed.readUInt16LE(at + 4),
      labelId: packed.readInt32LE(at + 6),
      minor: packed.readDoubleLE(at + 10),
      updatedAtMs: packed.readDoubleLE(at + 18),
    })
  }
}
