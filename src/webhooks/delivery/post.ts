// Sends one POST request to an external server: only to allowed addresses, without redirects, with one deadline and a bounded response.
import type { Socket } from 'node:net'
import { Client } from 'undici'
import { startTimer, stopTimer, timeoutSignal } from '#core/process/time-and-chance.ts'
import { dial, DialFailure, type DialProblem, type Network, withDeadline } from '#outbound/dial.ts'

/** All values of the log's `error`, except null. */
export type PostError = DialProblem | 'timed out after 5 s' | 'interrupted by a restart'

export interface Outcome {
  success: boolean
  statusCode: number | null
  error: PostError | null
  /** start of the response body, at most 1,000 characters */
  excerpt: string
}

const TIMEOUT_MS = 5_000
const EXCERPT_MS = 500
const EXCERPT_BYTES = 4_096
const EXCERPT_LENGTH = 1_000

/** Sends the request and never throws; redirects are responses like any other. */
export async function post(url: URL, headers: Record<string, string>, body: string, network: Network): Promise<Outcome> {
  const deadline = timeoutSignal(TIMEOUT_MS)
  let client: Client | null = null
  try {
    const socket = await dial(url, network, deadline)
    client = clientOn(socket, url)
    const request = client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers,
      body,
      reset: true,
      signal: deadline,
    })
    const response = await withDeadline(deadline, request)
    const excerpt = await excerptOf(response.body)
    const { statusCode } = response
    return { success: statusCode >= 200 && statusCode < 300, statusCode, error: null, excerpt }
  } catch (error) {
    const reason = deadline.aborted ? 'timed out after 5 s' : error instanceof DialFailure ? error.reason : 'connection failed'
    return { success: false, statusCode: null, error: reason, excerpt: '' }
  } finally {
    void client?.destroy()
  }
}

/** A client for one request on one connection, because the address of a second connection would not be checked. */
function clientOn(socket: Socket, url: URL): Client {
  let isConnected = false
  return new Client(url.origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, done) => {
      const again = isConnected
      isConnected = true
      // Deferred, because undici is still handling its own event here.
      queueMicrotask(() => (again ? done(new Error('the connection was closed'), null) : done(null, socket)))
    },
  })
}

type Body = AsyncIterable<Buffer> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown }

/** The start of the response body, within a short time; compressed responses are not decompressed. */
async function excerptOf(body: Body): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  body.on('error', () => {})
  const timer = startTimer(() => body.destroy(), EXCERPT_MS)
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= EXCERPT_BYTES) break
    }
  } catch {
    // The response was aborted: use the part received so far as the excerpt.
  } finally {
    stopTimer(timer)
    body.destroy()
  }
  return readable(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES), size > EXCERPT_BYTES)
}

/** Text that can be stored and shown: invalid UTF-8 replaced, control characters and unpaired surrogates removed. */
function readable(bytes: Buffer, cut: boolean): string {
  const text = new TextDecoder().decode(bytes, { stream: cut }).replace(/\p{Cc}/gu, '')
  return text.slice(0, EXCERPT_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}
