// Signatures of a notification over the raw body: the service's own header and those of Standard Webhooks.
import { createHmac } from 'node:crypto'

export interface Signing {
  secret: string
  /** `webhook-id` of the event, the same in every attempt */
  id: string
  /** time of the attempt */
  at: Date
  body: string
}

/**
 * `X-Service-Signature` is keyed with the secret's text (interface.md, "Authentication" 6). `webhook-signature` lists
 * the signature with that key and, for libraries that decode every secret as base64, the one with the decoded key.
 */
export function signatureHeaders({ secret, id, at, body }: Signing): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const content = `${id}.${timestamp}.${body}`
  const keys = [Buffer.from(secret, 'utf8'), Buffer.from(secret, 'base64')]
  return {
    'X-Service-Signature': signatureOf(secret, body),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' '),
  }
}

/** Lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the secret. */
export function signatureOf(secret: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}
