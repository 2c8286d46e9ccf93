// A proxy in front of PostgreSQL that holds every request of a client until it is released, and can lose a request, a response or a connection.
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { Framer, type Message, type Rewrite, sqlState, Statements } from './messages.ts'

/** What the server said to a request. */
export interface Reply {
  /** command tags, such as `INSERT 0 1` */
  tags: string[]
  /** SQLSTATE; null without an error */
  error: string | null
  /** transaction status after it: idle, in a transaction, or in a failed one */
  status: 'I' | 'T' | 'E'
}

interface ProxyEvents {
  /** a request waits for its release */
  held: (connection: Connection) => void
  /** the server has answered, and the client has the response unless it was dropped */
  replied: (connection: Connection, reply: Reply) => void
  closed: (connection: Connection) => void
}

/** Requests that say nothing about the order of writes pass at once: the session's settings, notices, and the watch of silent servers. */
const PASSING = /^\s*set time zone|pg_notify\(|^select pid from pg_stat_activity|^listen |^unlisten /

/** One client and its server process. */
export class Connection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #events: ProxyEvents
  readonly #rewrite: Rewrite
  readonly #statements = new Statements()
  #request: Message[] = []
  #held: { text: string; values: string; messages: Buffer[] } | null = null
  #reply: { messages: Buffer[]; tags: string[]; error: string | null } = { messages: [], tags: [], error: null }
  /** passed without a release */
  #passing = 0
  /** whether the first ReadyForQuery has come */
  #isOpen = false
  isBusy = false
  dropsReply = false
  isClosed = false
  /** process id of the server process */
  backend = 0

  constructor(client: Socket, server: Socket, events: ProxyEvents, rewrite: Rewrite) {
    this.#client = client
    this.#server = server
    this.#events = events
    this.#rewrite = rewrite
    const fromClient = new Framer('client')
    const fromServer = new Framer('server')
    client.on('data', (chunk: Buffer) => {
      for (const message of fromClient.push(chunk)) this.#fromClient(message)
    })
    server.on('data', (chunk: Buffer) => {
      for (const message of fromServer.push(chunk)) this.#fromServer(message)
    })
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', () => this.cut())
  }

  /** The text of the request that waits; null if none does. */
  get heldText(): string | null {
    return this.#held?.text ?? null
  }

  /** The values of the request that waits, as one text. */
  get heldValues(): string {
    return this.#held?.values ?? ''
  }

  /** Sends the request that waits to the server. */
  release(): void {
    const held = this.#held!
    this.#held = null
    this.isBusy = true
    this.#server.write(Buffer.concat(held.messages))
  }

  /** Ends both sides at once; a request that waits is lost. */
  cut(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#held = null
    this.#client.destroy()
    this.#server.destroy()
    this.#events.closed(this)
  }

  #fromClient(message: Message): void {
    this.#request.push(message)
    if (message.type === 'X' || message.type === '' || message.type === 'p') {
      this.#server.write(message.bytes)
      this.#request = []
    } else if (message.type === 'Q' || message.type === 'S') {
      const held = this.#statements.read(this.#request, this.#rewrite)
      this.#request = []
      if (!this.#isOpen || PASSING.test(held.text)) {
        this.#passing += 1
        this.#server.write(Buffer.concat(held.messages))
        return
      }
      this.#held = held
      this.#events.held(this)
    }
  }

  #fromServer({ type, bytes }: Message): void {
    if (type === 'K') this.backend = bytes.readInt32BE(5)
    if (!this.#isOpen || this.#passing > 0) {
      this.#client.write(bytes)
      if (type !== 'Z') return
      if (this.#isOpen) this.#passing -= 1
      this.#isOpen = true
      return
    }
    this.#reply.messages.push(bytes)
    if (type === 'C') this.#reply.tags.push(bytes.toString('latin1', 5, bytes.length - 1))
    if (type === 'E') this.#reply.error = sqlState(bytes)
    if (type !== 'Z') return
    const { messages, tags, error } = this.#reply
    this.#reply = { messages: [], tags: [], error: null }
    this.isBusy = false
    if (!this.dropsReply) this.#client.write(Buffer.concat(messages))
    this.#events.replied(this, { tags, error, status: String.fromCharCode(bytes[5]!) as Reply['status'] })
  }
}

/** Listens on a Unix socket of its own; every connection goes to the server's socket. */
export class MessageProxy {
  readonly connections = new Set<Connection>()
  readonly url: string
  readonly #listener: Server

  /** @param dir of the socket @param server host (a directory) and port of PostgreSQL */
  static async open(dir: string, server: { dir: string; port: number }, events: ProxyEvents, rewrite: Rewrite): Promise<MessageProxy> {
    mkdirSync(dir, { recursive: true })
    const proxy = new MessageProxy(dir, server, events, rewrite)
    proxy.#listener.listen(join(dir, `.s.PGSQL.${server.port}`))
    await once(proxy.#listener, 'listening')
    return proxy
  }

  private constructor(dir: string, server: { dir: string; port: number }, events: ProxyEvents, rewrite: Rewrite) {
    this.url = `postgresql://mintmark@/mintmark?host=${encodeURIComponent(dir)}&port=${server.port}`
    this.#listener = createServer((client) => {
      const upstream = connect(join(server.dir, `.s.PGSQL.${server.port}`))
      const connection: Connection = new Connection(
        client,
        upstream,
        {
          ...events,
          closed: (closed) => {
            this.connections.delete(closed)
            events.closed(closed)
          },
        },
        rewrite,
      )
      this.connections.add(connection)
    })
  }

  close(): void {
    for (const connection of this.connections) connection.cut()
    this.#listener.close()
  }
}
