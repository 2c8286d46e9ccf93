// Signatures, verified with the Standard Webhooks package like receivers do, and against the interface's own header.
import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signatureHeaders } from '#webhooks/delivery/sign.ts'

const body = '{"event":"sale","sent_at":"2026-11-21T12:00:00+03:00","data":{"item_name":"Pokémon ♀"}}'
const secret = randomBytes(36).toString('base64')
const headers = signatureHeaders({ secrets: { current: secret, previous: null }, id: 'evt_1', at: new Date(), body })

test.each([
  ['the secret as it is', () => new Webhook(secret)],
  ['the secret as raw text', () => new Webhook(secret, { format: 'raw' })],
  ['the secret encoded again', () => new Webhook(Buffer.from(secret).toString('base64'))],
])('a receiver that uses the package %s accepts the body and nothing else', (_how, open) => {
  expect(open().verify(body, headers)).toEqual(JSON.parse(body))
  expect(() => open().verify(body.replace('sale', 'sal3'), headers)).toThrow()
  expect(() => open().verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow()
})

test('another secret and an old attempt are rejected', () => {
  expect(() => new Webhook(randomBytes(36).toString('base64')).verify(body, headers)).toThrow()
  const old = signatureHeaders({ secrets: { current: secret, previous: null }, id: 'evt_1', at: new Date(Date.now() - 3_600_000), body })
  expect(() => new Webhook(secret).verify(body, old)).toThrow()
})

test('X-Service-Signature is the lower-case hexadecimal HMAC of the raw body, keyed with the secret', () => {
  expect(headers['X-Service-Signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'))
  expect(headers['X-Service-Signature']).toMatch(/^[0-9a-f]{64}$/)
})
