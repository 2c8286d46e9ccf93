// Verification of a webhook's signature, and its event as a type.

import type { ExpireEvent, SaleEvent } from './api.ts'
import { webCrypto } from './web-crypto.ts'

export type WebhookEvent = SaleEvent | ExpireEvent

/**
 * Checks `X-Service-Signature` over the raw body.
 * @param body the body exactly as it came, before any parsing
 * @returns the event, or null when the signature is wrong: answer 401 then
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  signature: string | null | undefined,
  secret: string,
): Promise<WebhookEvent | null> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : (body as Uint8Array<ArrayBuffer>)
  const given = signature ? fromHex(signature) : null
  if (!given) return null
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const { subtle } = await webCrypto()
  const key = await subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify'])
  if (!(await subtle.verify('HMAC', key, given, bytes))) return null
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
}

function fromHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[0-9a-f]{64}$/.test(text)) return null
  return Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16))
}
