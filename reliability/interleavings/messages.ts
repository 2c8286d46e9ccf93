// The frontend/backend protocol of PostgreSQL, as far as its frames: which bytes are a message, and what statement a request contains.

/** A message with its type (empty for the first of a connection) and all its bytes. */
export interface Message {
  type: string
  bytes: Buffer
}

/** Splits a stream into messages. */
export class Framer {
  #rest: Buffer = Buffer.alloc(0)
  /** the first message of a client has no type */
  #isStart: boolean

  constructor(side: 'client' | 'server') {
    this.#isStart = side === 'client'
  }

  push(chunk: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const messages: Message[] = []
    let from = 0
    for (;;) {
      const lengthAt = from + (this.#isStart ? 0 : 1)
      if (this.#rest.length < lengthAt + 4) break
      const to = lengthAt + this.#rest.readInt32BE(lengthAt)
      if (this.#rest.length < to) break
      messages.push({ type: this.#isStart ? '' : String.fromCharCode(this.#rest[from]!), bytes: this.#rest.subarray(from, to) })
      this.#isStart = false
      from = to
    }
    this.#rest = this.#rest.subarray(from)
    return messages
  }
}

/** Replaces the text of a statement, for planted faults. */
export type Rewrite = (text: string) => string

/** Reads the statements of one connection: prepared ones are named later. */
export class Statements {
  readonly #byName = new Map<string, string>()

  /** The text that a request runs, as the client sent it, with its values (as one text), and its messages with the text replaced. */
  read(request: readonly Message[], rewrite: Rewrite): { text: string; values: string; messages: Buffer[] } {
    let text = ''
    let values = ''
    const messages = request.map(({ type, bytes }) => {
      if (type === 'Q') {
        text = bytes.toString('utf8', 5, bytes.length - 1)
        const changed = rewrite(text)
        return changed === text ? bytes : framed('Q', Buffer.from(`${changed}\0`))
      }
      if (type === 'P') {
        const nameEnd = bytes.indexOf(0, 5)
        const textEnd = bytes.indexOf(0, nameEnd + 1)
        text = bytes.toString('utf8', nameEnd + 1, textEnd)
        this.#byName.set(bytes.toString('utf8', 5, nameEnd), text)
        const changed = rewrite(text)
        return changed === text ? bytes : framed('P', Buffer.concat([bytes.subarray(5, nameEnd + 1), Buffer.from(changed), bytes.subarray(textEnd)]))
      }
      if (type === 'B') {
        const portalEnd = bytes.indexOf(0, 5)
        text = this.#byName.get(bytes.toString('utf8', portalEnd + 1, bytes.indexOf(0, portalEnd + 1))) ?? text
        values = bytes.toString('utf8', portalEnd)
      }
      return bytes
    })
    return { text, values, messages }
  }
}

function framed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** The SQLSTATE of an error message. */
export function sqlState(bytes: Buffer): string {
  for (let at = 5; bytes[at] !== 0; ) {
    const end = bytes.indexOf(0, at)
    if (bytes[at] === 0x43) return bytes.toString('latin1', at + 1, end)
    at = end + 1
  }
  return ''
}
