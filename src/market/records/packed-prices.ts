// New listing prices in the change log, so that nodes need not read the listings again.
const ENTRY_BYTES = 8

export function packedPrice(listingId: number, kurus: number): Buffer {
  const packed = Buffer.allocUnsafe(ENTRY_BYTES)
  packed.writeInt32BE(kurus, packed.writeInt32BE(listingId))
  return packed
}

/** Number of entries. */
export function newPriceCount(packed: Buffer): number {
  return packed.length / ENTRY_BYTES
}

/** Entries from `from` (inclusive) to `to` (exclusive). */
export function eachNewPrice(packed: Buffer, from: number, to: number, visit: (listingId: number, kurus: number) => void): void {
  for (let at = from * ENTRY_BYTES; at < to * ENTRY_BYTES; at += ENTRY_BYTES) visit(packed.readInt32BE(at), packed.readInt32BE(at + 4))
}
