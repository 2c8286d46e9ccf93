// Verifies a notification: that the service signed it, and that it was sent recently.
import type { ExpireEvent, SaleEvent } from './api.ts'
import { webCrypto } from './web-crypto.ts'

export type WebhookEvent = SaleEvent | ExpireEvent

/** Headers of `fetch`, Node, Express or serverless functions. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

export interface VerifyOptions {
  /** maximum difference in seconds, in the past or future, between sending and now; default: 300; `Infinity` for any */
  toleranceSeconds?: number
}

/**
 * Verifies the signature over the raw body and the time of sending: `webhook-signature` with the `webhook-timestamp` of the attempt, or
 * `X-Service-Signature` with the body's `sent_at` if a proxy passed on only that header. Signatures are compared in constant time.
 * @param body the exact body as received, before any parsing
 * @param secret the webhook's secret, as returned by `GET /plus/webhook`
 * @returns the event, or null if it is forged, altered or too old: respond with 401 in that case
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<WebhookEvent | null> {
  const header = headerReader(headers)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const isSigned = await verifier(secret)
  const own = bytesOfHex(header('x-service-signature'))
  const timestamp = header('webhook-timestamp')
  if (own.length === 0) return null
  if (timestamp === '') {
    if (!(await isSigned(own, bytes))) return null
  } else {
    // Only this header has the signatures with both secrets after a rotation.
    const signed = joined(new TextEncoder().encode(`${header('webhook-id')}.${timestamp}.`), bytes)
    const signatures = header('webhook-signature').split(' ').map(bytesOfSignature)
    const found = await Promise.all(signatures.map((signature) => isSigned(signature, signed)))
    if (!found.includes(true)) return null
  }
  const event = JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
  const sentMs = timestamp === '' ? Date.parse(event.sent_at) : Number(timestamp) * 1_000
  return Math.abs(Date.now() - sentMs) <= toleranceSeconds * 1_000 ? event : null
}

/** Reads headers by lower-case name; one that is absent or was sent twice is empty. */
function headerReader(headers: WebhookHeaders): (name: string) => string {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? ''
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => {
    const value = values.get(name)
    return typeof value === 'string' ? value : ''
  }
}

type Bytes = Uint8Array<ArrayBuffer>

/** HMAC verification by Web Crypto, which compares in constant time. */
async function verifier(secret: string): Promise<(signature: Bytes, signed: Bytes) => Promise<boolean>> {
  const { subtle } = await webCrypto()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify'])
  return (signature, signed) => subtle.verify('HMAC', key, signature, signed)
}

/** The bytes of 64 lower-case hexadecimal digits; empty for any other text, so that it matches no signature. */
function bytesOfHex(text: string): Bytes {
  if (!/^[0-9a-f]{64}$/.test(text)) return new Uint8Array(0)
  return Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16))
}

/** The bytes of a signature of the form `v1,` and 32 bytes in base64; empty for any other text. */
function bytesOfSignature(text: string): Bytes {
  const [, base64] = /^v1,([0-9A-Za-z+/]{43}=)$/.exec(text) ?? []
  return base64 === undefined ? new Uint8Array(0) : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

function joined(head: Bytes, tail: Bytes): Bytes {
  const all = new Uint8Array(head.length + tail.length)
  all.set(head)
  all.set(tail, head.length)
  return all
}
