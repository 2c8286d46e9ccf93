// Sends requests again that may be repeated, when the service asked for it or could not be reached.

/** What sends a request: `fetch`, or something in its place. */
export type Send = (request: Request) => Promise<Response>

const IDEMPOTENT = ['GET', 'HEAD', 'PUT', 'DELETE']
/** Too many requests, and what a node that restarts or the proxy before it answers. */
const TEMPORARY = [429, 502, 503, 504]
const LONGEST_WAIT_SECONDS = 60
/** Between attempts where the service does not say. */
const LONGEST_PAUSE_SECONDS = 30

/**
 * Sends a request up to `retries` times more. Only what may be repeated is: by its method, or by its `Idempotency-Key`. It waits
 * as long as `Retry-After` says; where that is more than a minute, the answer is the caller's to handle.
 */
export function retrying(send: Send, retries: number): Send {
  return async (request) => {
    const repeatable = IDEMPOTENT.includes(request.method) || request.headers.has('idempotency-key')
    for (let attempt = 0; repeatable && attempt < retries; attempt += 1) {
      const response = await send(request.clone()).catch((error: unknown) => {
        if (request.signal.aborted) throw error
        return null
      })
      if (response && !TEMPORARY.includes(response.status)) return response
      const seconds = (response && secondsToWait(response)) ?? Math.min(0.5 * 2 ** attempt, LONGEST_PAUSE_SECONDS)
      if (response && seconds > LONGEST_WAIT_SECONDS) return response
      // An answer that is not read would hold its connection.
      await response?.body?.cancel()
      await pause(seconds * 1_000, request.signal)
    }
    return send(request)
  }
}

/** What `Retry-After` asks for, as seconds or as a date; null if it is absent or neither. */
export function secondsToWait({ headers }: Response): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  const seconds = /^\s*\d/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

/** @throws the signal's reason when it is aborted */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
