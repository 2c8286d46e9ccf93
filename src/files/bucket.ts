// A bucket of an S3-compatible store, as dumps and archives use it: reads are tried again, and no answer is waited for without end.
import { setTimeout as delay } from 'node:timers/promises'
import { S3mini, S3ServiceError } from 's3mini'
import type { BucketSettings } from '#config.ts'
import { type Reason, reason } from '#core/problems.ts'

/** How long the store may take to begin an answer: to a read, and to a part that is sent to it. */
const ANSWER_MS = 10_000
const READ_ATTEMPTS = 3
const READ_AGAIN_MS = 200
const UPLOAD_MS = 300_000

/** Opens the bucket; nothing is asked of it yet. `prefix` of its keys is empty or ends with a slash. */
export function openBucket({ url, accessKey, secretKey, region }: BucketSettings): { bucket: S3mini; prefix: string } {
  const { origin, pathname } = new URL(url)
  const [name, ...parts] = pathname.slice(1).split('/')
  const prefix = parts.map((part) => `${decodeURIComponent(part)}/`).join('')
  return {
    bucket: new S3mini({ endpoint: `${origin}/${name}`, accessKeyId: accessKey, secretAccessKey: secretKey, region, fetch: answered }),
    prefix,
  }
}

/** A `fetch` that asks again where a read is answered 5xx, as clients of such stores do. */
async function answered(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const isRead = ['GET', 'HEAD'].includes(init.method ?? 'GET')
  for (let attempt = 1; ; attempt++) {
    const response = await answeredInTime(url, init)
    if (!isRead || response.status < 500 || attempt >= READ_ATTEMPTS) return response
    await response.body?.cancel()
    await delay(attempt * READ_AGAIN_MS)
  }
}

/** A `fetch` that breaks off where no answer begins; its body may take as long as its reader. */
async function answeredInTime(url: string | URL | Request, init: RequestInit): Promise<Response> {
  const stop = new AbortController()
  const ms = init.method === 'PUT' || init.method === 'POST' ? UPLOAD_MS : ANSWER_MS
  const timer = setTimeout(() => stop.abort(new Error(`no response within ${ms / 1_000} s`)), ms)
  try {
    return await fetch(url, { ...init, signal: stop.signal })
  } finally {
    clearTimeout(timer)
  }
}

/** What went wrong, for operators: without what the store sent as a body. */
export function whyOf(error: unknown): Reason {
  if (error instanceof S3ServiceError) return reason('store_answers', { answer: error.status, ...(error.serviceCode && { code: error.serviceCode }) })
  let inner = error as Error
  while (inner.cause instanceof Error) inner = inner.cause
  return reason('said', { text: inner.message || (inner as NodeJS.ErrnoException).code || inner.name })
}
