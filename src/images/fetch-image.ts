// Fetches an image from its source with one GET: only from allowed addresses, with a deadline, a maximum size and displayable types.
import { Agent, type Dispatcher, interceptors, request } from 'undici'
import { timeoutSignal } from '#core/process/time-and-chance.ts'
import { dial, DialFailure, type Network } from '#outbound/dial.ts'

/** Accepted image types, with their file extensions. SVG is excluded because it can contain scripts. */
export const IMAGE_TYPES: Readonly<Record<string, string>> = {
  'image/avif': 'avif',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
}

/** From the name lookup to the last byte, including the wait for a free connection. */
export const IMAGE_TIMEOUT_MS = 10_000
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024
/** Maximum concurrent requests to a source; further ones are queued. */
const CONNECTIONS_PER_SOURCE = 8
const MAX_REDIRECTS = 3

export type ImageProblem = 'missing' | 'failed' | 'slow'

/** The source provides no image: it has none, its response is unusable, or it takes too long. */
export class ImageFailure extends Error {
  override name = 'ImageFailure'
  readonly problem: ImageProblem

  /** @param message for the log */
  constructor(problem: ImageProblem, message: string, cause?: unknown) {
    super(message, { cause })
    this.problem = problem
  }
}

export interface FetchedImage {
  /** a key of IMAGE_TYPES */
  type: string
  /** throws ImageFailure if the body is truncated or too large */
  body: AsyncIterable<Uint8Array>
}

/** Connections to the sources of images; every connection is checked, including redirects. */
export function openSources(network: Network): Dispatcher {
  const agent = new Agent({
    connections: CONNECTIONS_PER_SOURCE,
    connect: ({ protocol, host }, done) => {
      dial(new URL(`${protocol}//${host}`), network, timeoutSignal(IMAGE_TIMEOUT_MS)).then(
        (socket) => done(null, socket),
        (error: Error) => done(error, null),
      )
    },
  })
  return agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS, throwOnMaxRedirect: true }))
}

/**
 * Requests an image from its source; the body is read under the same deadline.
 * @throws ImageFailure
 */
export async function fetchImage(url: string, sources: Dispatcher): Promise<FetchedImage> {
  const deadline = timeoutSignal(IMAGE_TIMEOUT_MS)
  const headers = { accept: Object.keys(IMAGE_TYPES).join(', '), 'accept-encoding': 'identity', 'user-agent': 'Mintmark' }
  try {
    const response = await request(url, { dispatcher: sources, headers, signal: deadline })
    try {
      return { type: usableType(response), body: checked(response.body, deadline) }
    } catch (error) {
      response.body.on('error', () => {}).destroy()
      throw error
    }
  } catch (error) {
    throw asFailure(error, deadline)
  }
}

function usableType({ statusCode, headers }: Dispatcher.ResponseData): string {
  if (statusCode !== 200)
    throw new ImageFailure(statusCode === 404 || statusCode === 410 ? 'missing' : 'failed', `the source responded with ${statusCode}`)
  const type = imageType(headers['content-type'])
  if (type === null) throw new ImageFailure('failed', `the source sent ${String(headers['content-type'] ?? 'no Content-Type')}`)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new ImageFailure('failed', `the source sent Content-Encoding ${String(encoding)}`)
  if (Number(headers['content-length'] ?? 0) > MAX_IMAGE_BYTES) throw tooLarge()
  return type
}

/** A key of IMAGE_TYPES; null for any other type. */
function imageType(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string') return null
  const type = header
    .split(';', 1)[0]!
    .trim()
    .toLowerCase()
    .replace(/^image\/jpg$/, 'image/jpeg')
  return Object.hasOwn(IMAGE_TYPES, type) ? type : null
}

async function* checked(body: AsyncIterable<Uint8Array>, deadline: AbortSignal): AsyncIterable<Uint8Array> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > MAX_IMAGE_BYTES) throw tooLarge()
      yield chunk
    }
  } catch (error) {
    throw asFailure(error, deadline)
  }
  if (bytes === 0) throw new ImageFailure('failed', 'the source sent an empty body')
}

function tooLarge(): ImageFailure {
  return new ImageFailure('failed', `the image is larger than ${MAX_IMAGE_BYTES / 1024 / 1024} MB`)
}

function asFailure(error: unknown, deadline: AbortSignal): ImageFailure {
  if (error instanceof ImageFailure) return error
  if (deadline.aborted) return new ImageFailure('slow', `the source took longer than ${IMAGE_TIMEOUT_MS / 1_000} s`)
  const reason = error instanceof DialFailure ? error.reason : (error as Error).message
  return new ImageFailure('failed', reason, error)
}
