// Signatures of a notification over the raw body: the service's own header and those of Standard Webhooks.
import { createHmac } from 'node:crypto'

/** The secret of a webhook, and the one before it while that is still valid. */
export interface Secrets {
  current: string
  previous: string | null
}

export interface Signing {
  secrets: Secrets
  /** whether this is the second attempt of a round */
  second?: boolean
  /** `webhook-id` of the event, the same in every attempt */
  id: string
  /** time of the attempt */
  at: Date
  body: string
}

/**
 * `X-Service-Signature` is keyed with the secret's text (interface.md, "Authentication" 6). `webhook-signature` lists
 * the signature with that key and, for libraries that decode every secret as base64, the one with the decoded key; after a
 * rotation, those of both secrets. `X-Service-Signature` can hold only one: the previous secret's, so that no receiver breaks
 * before it switches, and the current one's in the second attempt, so that receivers that have switched accept that.
 */
export function signatureHeaders({ secrets: { current, previous }, second = false, id, at, body }: Signing): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const content = `${id}.${timestamp}.${body}`
  const secrets = previous === null ? [current] : [previous, current]
  const keys = secrets.flatMap((secret) => [Buffer.from(secret, 'utf8'), Buffer.from(secret, 'base64')])
  return {
    'X-Service-Signature': signatureOf(second ? current : secrets[0]!, body),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' '),
  }
}

/** Lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the secret. */
export function signatureOf(secret: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}
