// The bytes of one response while it is written: texts are joined first, cached bytes are copied between them.

/** Size of the buffer that is reused for the next response. */
const ROOM = 256 * 1024
/** Maximum UTF-8 bytes of a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3
const ASCII = 0x80

export class Output {
  /** Text that is not encoded yet; writers append to it. */
  text = ''
  #bytes = Buffer.allocUnsafeSlow(ROOM)
  #size = 0

  /** Starts another response; an unfinished one is dropped. */
  begin(): void {
    if (this.#bytes.length > ROOM) this.#bytes = Buffer.allocUnsafeSlow(ROOM)
    this.text = ''
    this.#size = 0
  }

  /** Number of bytes so far, including all texts. */
  size(): number {
    const { text } = this
    if (text === '') return this.#size
    this.text = ''
    if (text.length * MAX_BYTES_PER_UNIT > this.#bytes.length - this.#size) this.#reach(Buffer.byteLength(text))
    const unit = text.charCodeAt(0)
    // Most texts between items are a single comma.
    if (text.length === 1 && unit < ASCII) this.#bytes[this.#size++] = unit
    else this.#size += this.#bytes.write(text, this.#size, 'utf8')
    return this.#size
  }

  /** Adds bytes `from` to `to` of a source. */
  copy(source: Buffer, from: number, to: number): void {
    const at = this.size()
    this.#reach(to - from)
    source.copy(this.#bytes, at, from, to)
    this.#size = at + to - from
  }

  /** The bytes written since an earlier count; read them before anything more is written. */
  since(size: number): Buffer {
    const end = this.size()
    return this.#bytes.subarray(size, end)
  }

  /** The whole response, copied to memory of its own. */
  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.size()))
  }

  #reach(more: number): void {
    const needed = this.#size + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#size)
    this.#bytes = larger
  }
}
