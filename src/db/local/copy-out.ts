// Reads COPY data from a connection: whole protocol messages as they arrive, without an object for each.
import type { Connection, Submittable } from 'pg'

/** A message consists of its code, its length (which includes these four bytes) and its content. */
const HEADER_BYTES = 5
const [COPY_DATA, COPY_OUT, NOTICE, SETTING, NOTIFICATION, COPY_DONE] = Buffer.from('dHNSAc') as unknown as number[]
/** Bytes that may be buffered before the connection is paused. */
const WAITING_BYTES = 256 * 1024

type DataListener = (chunk: Buffer) => void

/** A query to pass to a client of pg; its connection reads nothing else until the copy is complete. */
export class CopyOut implements Submittable {
  readonly #sql: string
  #stream: Connection['stream'] | null = null
  /** pg's own parser, which is paused until the copy is complete */
  #reader: DataListener = () => {}
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #error: Error | null = null
  #over = false
  #wake: () => void = () => {}
  /** an incomplete header */
  #head: Buffer | null = null
  /** an incomplete message, how much of it has arrived, and whether it is needed */
  #part = Buffer.alloc(0)
  #partSize = 0
  #partIsData = false

  constructor(sql: string) {
    this.#sql = sql
  }

  /** Received data, in chunks of whole messages; null at the end. */
  async next(): Promise<Buffer | null> {
    for (;;) {
      const chunk = this.#waiting.shift()
      if (chunk) {
        this.#waitingBytes -= chunk.length
        return chunk
      }
      if (this.#error) throw this.#error
      if (this.#over) return null
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#stream?.resume()
      await woken
    }
  }

  submit(connection: Connection): void {
    const { stream } = connection
    this.#stream = stream
    const [reader] = stream.listeners('data') as DataListener[]
    this.#reader = reader!
    stream.off('data', this.#reader)
    stream.on('data', this.#onData)
    connection.query(this.#sql)
  }

  handleError(error: Error): void {
    this.#error ??= error
    this.#wake()
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#over = true
    this.#wake()
  }

  readonly #onData = (received: Buffer): void => {
    const chunk = this.#head ? Buffer.concat([this.#head, received]) : received
    this.#head = null
    let at = this.#complete(chunk)
    // Moves the payloads of the messages together, over their headers.
    const start = at
    let end = at
    while (at < chunk.length) {
      if (at + HEADER_BYTES > chunk.length) {
        this.#head = chunk.subarray(at)
        break
      }
      const code = chunk[at]!
      const size = chunk.readInt32BE(at + 1) - 4
      const isData = code === COPY_DATA
      if (!isData && code !== COPY_OUT && code !== NOTICE && code !== SETTING && code !== NOTIFICATION) {
        this.#give(chunk.subarray(start, end))
        this.#handOver(chunk.subarray(code === COPY_DONE ? at + HEADER_BYTES : at))
        return
      }
      at += HEADER_BYTES
      if (at + size > chunk.length) {
        this.#part = Buffer.allocUnsafeSlow(size)
        this.#partSize = chunk.copy(this.#part, 0, at)
        this.#partIsData = isData
        break
      }
      if (isData) {
        chunk.copyWithin(end, at, at + size)
        end += size
      }
      at += size
    }
    this.#give(chunk.subarray(start, end))
  }

  /** Adds the bytes that belong to the incomplete message; returns the position after it. */
  #complete(chunk: Buffer): number {
    const missing = this.#part.length - this.#partSize
    const added = chunk.copy(this.#part, this.#partSize, 0, Math.min(missing, chunk.length))
    this.#partSize += added
    if (missing === 0 || added < missing) return added
    const whole = this.#part
    this.#part = Buffer.alloc(0)
    this.#partSize = 0
    if (this.#partIsData) this.#give(whole)
    return added
  }

  #give(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > WAITING_BYTES) this.#stream!.pause()
    this.#wake()
  }

  /** Resumes pg's parser, which reads the result of the copy and all later messages. */
  #handOver(rest: Buffer): void {
    const stream = this.#stream!
    stream.off('data', this.#onData)
    stream.on('data', this.#reader)
    stream.resume()
    this.#reader(rest)
  }
}
