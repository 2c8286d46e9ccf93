// Answers asked for again, kept as they were sent: compressing a page takes a hundred times as long as making it.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface KeptAnswer {
  /** names and values in turn */
  headers: string[]
  body: Buffer
}

/** What depends on nothing but the path, the encodings a client takes and the shape it gets. */
const HEADERS = ['content-type', 'etag', 'content-encoding', 'vary'] as const
const ENTRY_BYTES = 200
/** How many of the cheap answers get a place when there is none left. */
const CHANCE_WHEN_FULL = 1 / 64

/** Keeps what is asked for twice while nothing changes, within a budget. */
export class KeptAnswers {
  readonly #versionOf: () => number
  readonly #halfBytes: number
  // Two generations bound the memory, as with keys; null stands for what was asked for once.
  #young = new Map<string, KeptAnswer | null>()
  #old = new Map<string, KeptAnswer | null>()
  #youngBytes = 0
  #version = -1

  /** @param versionOf rises with every change of what the answers are made from */
  constructor(budgetBytes: number, versionOf: () => number) {
    this.#halfBytes = budgetBytes / 2
    this.#versionOf = versionOf
  }

  get version(): number {
    return this.#versionOf()
  }

  get(key: string): KeptAnswer | null {
    this.#forgetIfChanged()
    const young = this.#young.get(key)
    if (young) return young
    const old = this.#old.get(key)
    if (old) this.#put(key, old)
    return old ?? null
  }

  /**
   * Keeps an answer, if it was made from this version and is not asked for the first time.
   * @param dear it takes far longer to make than to keep; others do not push each other out, but for one now and then
   */
  offer(key: string, madeFrom: number, dear: boolean, answer: () => KeptAnswer): void {
    if (madeFrom !== this.version) return
    this.#forgetIfChanged()
    if (!dear && this.#old.size > 0 && Math.random() > CHANCE_WHEN_FULL) return
    const again = this.#young.has(key) || this.#old.has(key)
    this.#put(key, again ? answer() : null)
  }

  #put(key: string, answer: KeptAnswer | null): void {
    if (this.#youngBytes > this.#halfBytes) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(key, answer)
    this.#youngBytes += ENTRY_BYTES + key.length + (answer?.body.length ?? 0)
  }

  #forgetIfChanged(): void {
    if (this.#version === this.version) return
    this.#version = this.version
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
  }
}

/** Version that the answers to requests were made from which Fastify answers, if they may be kept. */
const madeFrom = new WeakMap<IncomingMessage, number>()

/** Tells that what Fastify answers to a request, made from this version, may be kept once it is compressed. */
export function mayBeKept(request: IncomingMessage, version: number): void {
  madeFrom.set(request, version)
}

/** Lets answers of a scope be kept once they are compressed; before its routes are registered. */
export function keepCompressed(scope: FastifyInstance, kept: KeptAnswers, keyOf: (request: FastifyRequest) => string): void {
  const keep = (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void) => {
    const version = madeFrom.get(request.raw)
    if (version !== undefined && reply.statusCode === 200 && Buffer.isBuffer(payload)) {
      kept.offer(keyOf(request), version, true, () => keptAnswer(reply, payload))
    }
    done(null, payload)
  }
  // A hook of the route's own runs after those that compress.
  scope.addHook('onRoute', (route) => {
    route.onSend = [route.onSend ?? [], keep].flat()
  })
}

/** What is kept of an answer of Fastify's; the body in memory of its own. */
function keptAnswer(reply: FastifyReply, body: Buffer): KeptAnswer {
  const headers = HEADERS.flatMap((name) => {
    const value = reply.getHeader(name)
    return value === undefined ? [] : [name, String(value)]
  })
  return { headers, body: Buffer.from(body) }
}
