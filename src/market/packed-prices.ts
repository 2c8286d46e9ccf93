// New prices of listings as the change log carries them, so that no node reads the listings again.
const ENTRY_BYTES = 8

export function packedPrice(listingId: number, kurus: number): Buffer {
  const packed = Buffer.allocUnsafe(ENTRY_BYTES)
  packed.writeInt32BE(kurus, packed.writeInt32BE(listingId))
  return packed
}

export function eachNewPrice(packed: Buffer, visit: (listingId: number, kurus: number) => void): void {
  for (let at = 0; at < packed.length; at += ENTRY_BYTES) visit(packed.readInt32BE(at), packed.readInt32BE(at + 4))
}
