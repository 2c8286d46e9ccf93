// Retries repeatable requests if the service asks for it or cannot be reached.

/** A function like `fetch`. */
export type Send = (request: Request) => Promise<Response>

const IDEMPOTENT = ['GET', 'HEAD', 'PUT', 'DELETE']
/** Too many requests, and responses of a restarting node or the proxy in front of it. */
const TEMPORARY = [429, 502, 503, 504]
const MAX_WAIT_SECONDS = 60
/** Longest pause between attempts without `Retry-After`. */
const MAX_PAUSE_SECONDS = 30

/**
 * Sends a request, with up to `retries` retries. Only repeatable requests are retried: by their method, or with an `Idempotency-Key`. Waits as long
 * as `Retry-After` says; if that is more than a minute, the response is returned to the caller.
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
      const seconds = (response && secondsToWait(response)) ?? Math.min(0.5 * 2 ** attempt, MAX_PAUSE_SECONDS)
      if (response && seconds > MAX_WAIT_SECONDS) return response
      // An unread body would keep its connection occupied.
      await response?.body?.cancel()
      await pause(seconds * 1_000, request.signal)
    }
    return send(request)
  }
}

/** The value of `Retry-After` in seconds (from seconds or a date); null if it is absent or invalid. */
export function secondsToWait({ headers }: Response): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  const seconds = /^\s*\d/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

/** @throws the signal's reason if it is aborted */
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
