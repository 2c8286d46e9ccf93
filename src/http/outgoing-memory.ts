// Memory for answers on their way out: taken while one answer is made and sent, then used again, still warm, for the next.

const SLAB_BYTES = 1024 * 1024
const LARGEST_TAKEN = SLAB_BYTES / 8

class OutgoingMemory {
  #slab: Buffer = Buffer.alloc(0)
  /** where the memory of the answer that is being sent begins */
  #start = 0
  #used = 0
  #sending = false
  /** off: all memory is the caller's own */
  enabled = true
  /** sees what is about to be used again; tests overwrite it */
  reused: ((memory: Buffer) => void) | null = null

  /**
   * A buffer with anything in it. Inside `sending` it is valid until that returns and may not be kept; outside it is
   * the caller's own.
   */
  take(size: number): Buffer {
    if (!this.#sending || !this.enabled || size > LARGEST_TAKEN) return Buffer.allocUnsafeSlow(size)
    if (this.#used + size > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#start = 0
      this.#used = 0
    }
    this.#used += size
    return this.#slab.subarray(this.#used - size, this.#used)
  }

  /**
   * Makes and sends one answer.
   * @param send returns whether the system has taken all of it, so that its memory can be used again
   */
  sending(send: () => boolean): void {
    this.#sending = true
    let written = false
    try {
      written = send()
    } finally {
      this.#sending = false
      if (written) {
        this.reused?.(this.#slab.subarray(this.#start, this.#used))
        this.#used = this.#start
      } else this.#start = this.#used
    }
  }
}

/** The one owner of this memory in a process. */
export const outgoingMemory = new OutgoingMemory()
