// Lanes before Fastify: what they take is answered as Fastify would, and whatever is not plain success is left to it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Viewer } from '#core/verb.ts'
import type { CorsHeaders } from './cors.ts'
import type { KeptAnswer } from './kept-answers.ts'
import { freePageMemory } from './page-memory.ts'
import { hostProblem, requestIdOf } from './server.ts'

/** Who asks, and how often: what the gate before Fastify's routes looks at. */
export interface DirectGate {
  /** who calls, where the key is valid and was used lately; null for all others */
  known: (authorization: string | undefined) => Viewer | null
  /** counts a request; gives names and values of the headers that tell so, null where no limit applies */
  count: (viewer: Viewer) => Promise<string[]> | null
}

/** A request on its way; `rest` leaves it to Fastify. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  cors: CorsHeaders | null
  rest: () => void
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Bodies up to this many bytes are sent as text together with their headers, which is one piece to write instead of two. */
const SHORT = 4_096
const NO_HEADERS: string[] = []

/** Puts a lane before whatever answers the requests of a listener that is ready, before it listens. */
export function addLane(app: FastifyInstance, lane: (exchange: Exchange) => void): void {
  const { server } = app
  const [rest] = server.listeners('request') as [Listener]
  server.removeListener('request', rest)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // A listener that closes says so in its answers.
    if (server.listening && hostProblem(request) === null) lane({ request, response, cors: app.cors, rest: () => rest(request, response) })
    else rest(request, response)
  })
}

/**
 * Answers a request if that is plain success.
 * @param answerFor the answer as it will be sent, null where Fastify makes it; its body may be page memory
 * @param sent counts it
 */
export function answerDirectly(
  { known, count }: DirectGate,
  exchange: Exchange,
  answerFor: (viewer: Viewer) => KeptAnswer | null,
  sent: () => void,
): void {
  const { request, rest } = exchange
  let answer: KeptAnswer | null
  let counted: Promise<string[]> | null
  try {
    const viewer = known(request.headers.authorization)
    if (!viewer) return rest()
    answer = answerFor(viewer)
    if (!answer) return rest()
    // Counted last: what fails is counted where it is answered. Over the limit, one count more tells nobody anything.
    counted = count(viewer)
  } catch {
    return rest()
  }
  const finish = (headers: string[]) => {
    send(exchange, answer, headers)
    sent()
  }
  if (counted) counted.then(finish, rest)
  else finish(NO_HEADERS)
}

function send({ request, response, cors }: Exchange, { headers, body }: KeptAnswer, more: string[]): void {
  const allowed = cors ? cors(request.headers.origin) : NO_HEADERS
  response.writeHead(200, [...headers, ...allowed, 'x-request-id', requestIdOf(request), ...more, 'content-length', String(body.length)])
  if (body.length <= SHORT) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
  // Mostly the system has taken all of it by now, and the next answer may use the memory.
  if (body.length <= SHORT || response.writableLength === 0) freePageMemory(body)
}
