// Answers asked for again, kept as they were sent: compressing a page takes a hundred times as long as making it.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Recent } from '#core/recent.ts'

export interface KeptAnswer {
  /** names and values in turn */
  headers: string[]
  body: Buffer
}

/** What depends on nothing but the path, the encodings a client takes and the shape it gets. */
const HEADERS = ['content-type', 'etag', 'content-encoding', 'vary'] as const
const ENTRY_BYTES = 200
/** Share of the budget for keys of what was asked for once. */
const ASKED_SHARE = 1 / 8
/** How many of the cheap answers look for a place when there is none left: few, since each is copied. */
const CHANCE_WHEN_FULL = 1 / 16

/** Keeps what is asked for twice while nothing changes, within a budget. */
export class KeptAnswers {
  readonly #versionOf: () => number
  readonly #answers: Recent<string, KeptAnswer>
  readonly #asked: Recent<string, true>
  #version = -1

  /** @param versionOf rises with every change of what the answers are made from */
  constructor(budgetBytes: number, versionOf: () => number) {
    this.#answers = new Recent(budgetBytes * (1 - ASKED_SHARE), ({ body }, key) => ENTRY_BYTES + key.length + body.length)
    this.#asked = new Recent(budgetBytes * ASKED_SHARE, (_entry, key) => ENTRY_BYTES + key.length)
    this.#versionOf = versionOf
  }

  get version(): number {
    return this.#versionOf()
  }

  /** @param version as it is now */
  get(key: string, version: number): KeptAnswer | null {
    this.#forgetUnless(version)
    return this.#answers.get(key) ?? null
  }

  /**
   * Keeps an answer, if it was made from this version and is not asked for the first time.
   * @param dear it takes far longer to make than to keep; others push out only what nobody asks for any more
   */
  offer(key: string, madeFrom: number, dear: boolean, answer: () => KeptAnswer): void {
    const { version } = this
    if (madeFrom !== version) return
    this.#forgetUnless(version)
    if (!dear && this.#answers.full) {
      if (Math.random() < CHANCE_WHEN_FULL) this.#answers.offer(key, answer)
      return
    }
    if (this.#asked.get(key)) this.#answers.set(key, answer())
    else this.#asked.set(key, true)
  }

  #forgetUnless(version: number): void {
    if (this.#version === version) return
    this.#version = version
    this.#answers.clear()
    this.#asked.clear()
  }
}

interface Offer {
  kept: KeptAnswers
  key: string
  madeFrom: number
}

/** Where what Fastify answers to requests may be kept. */
const offers = new WeakMap<IncomingMessage, Offer>()

/** Tells that what Fastify answers to a request, made from the version that is now, may be kept once it is compressed. */
export function mayBeKept(request: IncomingMessage, kept: KeptAnswers, key: string): void {
  offers.set(request, { kept, key, madeFrom: kept.version })
}

/** Lets answers of a scope be kept once they are compressed; before its routes are registered. */
export function keepCompressed(scope: FastifyInstance): void {
  const keep = ({ raw }: FastifyRequest, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void) => {
    const offer = offers.get(raw)
    if (offer && reply.statusCode === 200 && Buffer.isBuffer(payload)) {
      offer.kept.offer(offer.key, offer.madeFrom, true, () => keptAnswer(reply, payload))
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
