// Verification of a webhook's signature, and its event as a type.

export type WebhookEvent =
  | {
      event: 'sale'
      sent_at: string
      data: {
        order_id: number
        listing_id: number
        item_name: string
        quantity: number
        unit_price: number
        seller_payout: number
        sold_at: string
      }
    }
  | { event: 'expire'; sent_at: string; data: { listing_id: number; title: string; expired_at: string } }

/**
 * Checks `X-Service-Signature` over the raw body.
 * @param body the body exactly as it came, before any parsing
 * @returns the event, or null when the signature is wrong: answer 401 then
 */
export async function verifyWebhook(
  body: string | Uint8Array<ArrayBuffer>,
  signature: string | null | undefined,
  secret: string,
): Promise<WebhookEvent | null> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const given = signature ? fromHex(signature) : null
  if (!given) return null
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify'])
  if (!(await crypto.subtle.verify('HMAC', key, given, bytes))) return null
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
}

function fromHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[0-9a-f]{64}$/.test(text)) return null
  return Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16))
}
