// Requests to public sources: one connection, a pause between requests, https only, and only to allowed addresses after each redirect.
import { Agent, type Dispatcher, request } from 'undici'
import { delay, monotonicMs, timeoutSignal } from '#core/process/time-and-chance.ts'
import { reason } from '#core/problems.ts'
import { dial, DialFailure, type Network } from '#outbound/dial.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { DownloadFailure } from './failure.ts'

const CONNECT_MS = 15_000
const HEADERS_MS = 60_000
const MAX_REDIRECTS = 5
const USER_AGENT = `Mintmark/${packageJson.version} (self-hosted price guide for trading cards; fetches public catalogue files)`

export interface SourceNetwork extends Network {
  /** origin and prefix of a mirror that is asked instead of the sources, without a slash at its end; null for none */
  mirror: string | null
}

export interface SourceClient {
  /**
   * Sends a GET request and follows redirects; the caller reads or destroys the body.
   * @throws DownloadFailure if no response arrives
   */
  get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Dispatcher.ResponseData>
  close(): Promise<void>
}

/** @param pauseMs least time between two requests */
export function openSourceClient({ mirror, ...network }: SourceNetwork, pauseMs: number): SourceClient {
  const mirrorOrigin = mirror === null ? null : new URL(mirror).origin
  const agent = new Agent({
    connections: 1,
    headersTimeout: HEADERS_MS,
    // The reader of the body has its own limits.
    bodyTimeout: 0,
    connect: ({ protocol, host }, done) => {
      const url = new URL(`${protocol}//${host}`)
      // The operator has named the mirror, so it may be in the own network.
      const guard = url.origin === mirrorOrigin ? { allows: () => true } : network.guard
      dial(url, { ...network, guard }, timeoutSignal(CONNECT_MS)).then(
        (socket) => done(null, socket),
        (error: Error) => done(error, null),
      )
    },
  })
  let lastMs = Number.NEGATIVE_INFINITY

  const send = async (url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    const waitMs = lastMs + pauseMs - monotonicMs()
    if (waitMs > 0) await delay(waitMs, { signal })
    try {
      return await request(url, { dispatcher: agent, headers: { 'user-agent': USER_AGENT, ...headers }, signal })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const cause = error instanceof DialFailure ? error.reason : (error as Error).message
      const refused = error instanceof DialFailure && error.reason === 'target address not allowed'
      throw new DownloadFailure(reason('source_connection', { url: url.href, cause }), refused ? null : {}, error)
    } finally {
      lastMs = monotonicMs()
    }
  }

  return {
    get: async (address, headers, signal) => {
      let url = mirrored(address, mirror)
      for (let redirects = 0; ; redirects += 1) {
        if (url.protocol !== 'https:' && url.origin !== mirrorOrigin) throw new DownloadFailure(reason('source_https', { url: url.href }))
        const response = await send(url, headers, signal)
        const { location } = response.headers
        if (![301, 302, 303, 307, 308].includes(response.statusCode) || typeof location !== 'string') return response
        discard(response)
        if (redirects === MAX_REDIRECTS) throw new DownloadFailure(reason('source_redirects', { url: address, max: MAX_REDIRECTS }))
        if (!URL.canParse(location, url.href)) throw new DownloadFailure(reason('source_https', { url: location.slice(0, 200) }))
        url = new URL(location, url)
      }
    },
    close: () => agent.destroy(),
  }
}

/** Ends a response whose body is not needed. */
export function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {}).destroy()
}

/** A mirror has the file of `https://host/path` at `/host/path`. */
function mirrored(address: string, mirror: string | null): URL {
  const url = new URL(address)
  return mirror === null ? url : new URL(`${mirror}/${url.host}${url.pathname}${url.search}`)
}
