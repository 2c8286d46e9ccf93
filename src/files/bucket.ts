// A bucket of an S3-compatible store, used by dumps and archives: reads are retried, and every request has a timeout.
import { S3mini, S3ServiceError } from 's3mini'
import { delay, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import { type Reason, reason } from '#core/problems.ts'

/** Maximum time until a read's response starts; uploads have their own. */
const ANSWER_MS = 10_000
const READ_ATTEMPTS = 3
const READ_AGAIN_MS = 200
const UPLOAD_MS = 300_000

/** Opens the bucket without contacting it. The `prefix` of its keys is empty or ends with a slash. */
export function openBucket({ url, accessKey, secretKey, region }: BucketSettings): { bucket: S3mini; prefix: string } {
  const { origin, pathname } = new URL(url)
  const [name, ...parts] = pathname.slice(1).split('/')
  const prefix = parts.map((part) => `${decodeURIComponent(part)}/`).join('')
  return {
    bucket: new S3mini({ endpoint: `${origin}/${name}`, accessKeyId: accessKey, secretAccessKey: secretKey, region, fetch: answered }),
    prefix,
  }
}

/** A `fetch` that retries reads after a 5xx response, as S3 clients usually do. */
async function answered(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const isRead = ['GET', 'HEAD'].includes(init.method ?? 'GET')
  for (let attempt = 1; ; attempt++) {
    const response = await answeredInTime(url, init)
    if (!isRead || response.status < 500 || attempt >= READ_ATTEMPTS) return response
    await response.body?.cancel()
    await delay(attempt * READ_AGAIN_MS)
  }
}

/** A `fetch` with a timeout until the response starts; reading its body has none. */
async function answeredInTime(url: string | URL | Request, init: RequestInit): Promise<Response> {
  const stop = new AbortController()
  const ms = init.method === 'PUT' || init.method === 'POST' ? UPLOAD_MS : ANSWER_MS
  const timer = startTimer(() => stop.abort(new Error(`no response within ${ms / 1_000} s`)), ms)
  try {
    return await fetch(url, { ...init, signal: stop.signal })
  } finally {
    stopTimer(timer)
  }
}

/** The cause of an error, for operators; without the body of the store's response. */
export function whyOf(error: unknown): Reason {
  if (error instanceof S3ServiceError) return reason('store_answers', { answer: error.status, ...(error.serviceCode && { code: error.serviceCode }) })
  let inner = error as Error
  while (inner.cause instanceof Error) inner = inner.cause
  return reason('said', { text: inner.message || (inner as NodeJS.ErrnoException).code || inner.name })
}
