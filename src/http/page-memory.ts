// Memory for pages on their way out: cut from a large buffer and given back once sent, so that the same warm bytes serve again.

const SLAB_BYTES = 1024 * 1024
const LARGEST_CUT = SLAB_BYTES / 8

let slab: Buffer = Buffer.alloc(0)
let used = 0

/** A buffer of this size with anything in it; it must not be kept, since many others share its memory. */
export function pageMemory(size: number): Buffer {
  if (size > LARGEST_CUT) return Buffer.allocUnsafeSlow(size)
  if (used + size > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
    used = 0
  }
  used += size
  return slab.subarray(used - size, used)
}

/** Gives back what was cut last, when nobody will read it again; anything else is left to the garbage collector. */
export function freePageMemory(page: Buffer): void {
  if (page.buffer === slab.buffer && page.byteOffset + page.length === used) used = page.byteOffset
}
