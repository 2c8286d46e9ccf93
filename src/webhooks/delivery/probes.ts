// Notifications of a receiver check, some that it should accept and some that it should reject, and the evaluation of the responses.
import { createHmac } from 'node:crypto'
import { secretBytes } from '#core/process/secret-bytes.ts'
import { HOUR_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import type { Network } from '#outbound/dial.ts'
import { CHECK_MARK, NOTIFICATION_HEADERS } from '../events/notification.ts'
import { type Outcome, post } from './post.ts'
import { type Secrets, signatureHeaders } from './sign.ts'

export const CHECKS = ['valid', 'duplicate', 'second_signature', 'altered', 'reformatted', 'unsigned', 'empty_secret', 'stale'] as const
export type CheckName = (typeof CHECKS)[number]

/** Problems of a receiver that do not depend on the notification. */
const GENERAL_FIXES = ['not_sent', 'slow', 'unreachable', 'redirect', 'internal'] as const
const FIXES = namedValues('WebhookFix', [...GENERAL_FIXES, ...CHECKS])
type GeneralFix = (typeof GENERAL_FIXES)[number]

export const CheckSchema = Type.Object(
  {
    name: Type.Enum([...CHECKS]),
    expected: Type.String({ description: 'Expected response' }),
    got: Type.String({ description: 'Response received, and how long it took' }),
    ok: Type.Boolean({ description: 'Whether the response is correct' }),
    how_to_fix: orNull(Type.String(), { description: 'null if it is correct' }),
    fix: orNull(Type.Enum(FIXES), { description: 'Machine-readable name of `how_to_fix`' }),
  },
  { title: 'WebhookCheck', description: "One notification of a check and the receiver's response" },
)
export type Check = Static<typeof CheckSchema>

/** The valid notification that the others of a check are derived from. */
export interface CheckTarget {
  url: URL
  secrets: Secrets
  /** `webhook-id` of all its requests */
  id: string
  body: string
}

interface Probe {
  body: string
  headers: Record<string, string>
}

interface Kind {
  accepted: boolean
  probe: (checked: CheckTarget, at: Date) => Probe
  /** what is wrong with a receiver that responds otherwise */
  fix: string
}

const signed = ({ secrets, id, body }: CheckTarget, at: Date): Probe => ({ body, headers: signatureHeaders({ secrets, id, at, body }) })
const withBody = (probe: Probe, body: string): Probe => ({ ...probe, body })

const KINDS: Record<CheckName, Kind> = {
  valid: {
    accepted: true,
    probe: signed,
    fix:
      'Compute the HMAC-SHA256 of the raw body, keyed with the text of the secret. Compare X-Service-Signature in lower-case ' +
      'hexadecimal, or webhook-signature in standard base64 with padding.',
  },
  duplicate: {
    accepted: true,
    probe: signed,
    fix: 'Respond with 2xx if the same webhook-id arrives again, and process it once: any other response makes the service send it again.',
  },
  second_signature: {
    accepted: true,
    probe: (checked, at) => {
      const { body, headers } = signed(checked, at)
      const foreign = createHmac('sha256', secretBytes(32)).update(body).digest('base64')
      return { body, headers: { ...headers, 'webhook-signature': `v1,${foreign} ${headers['webhook-signature']}` } }
    },
    fix: 'Accept the notification when any of the signatures in webhook-signature matches, not only the first.',
  },
  altered: {
    accepted: false,
    probe: (checked, at) => withBody(signed(checked, at), checked.body.replace(/"unit_price":[\d.]+/, '"unit_price":1')),
    fix: 'Verify the signature of every notification before you respond, and respond with 401 if it does not match.',
  },
  reformatted: {
    accepted: false,
    probe: (checked, at) => withBody(signed(checked, at), JSON.stringify(JSON.parse(checked.body), null, 1)),
    fix: 'Verify the raw bytes of the body. Parsing and re-serialising the JSON before verification accepts bodies that were not signed.',
  },
  unsigned: {
    accepted: false,
    probe: (checked, at) => {
      const { body, headers } = signed(checked, at)
      const { 'X-Service-Signature': _own, 'webhook-signature': _standard, ...others } = headers
      return { body, headers: others }
    },
    fix: 'Respond with 401 to notifications without a signature.',
  },
  empty_secret: {
    accepted: false,
    probe: (checked, at) => signed({ ...checked, secrets: { current: '', previous: null } }, at),
    fix: 'The receiver verifies with an empty secret, or not at all: configure the secret from GET /plus/webhook, and refuse to start without one.',
  },
  stale: {
    accepted: false,
    probe: (checked, at) => signed(checked, new Date(at.getTime() - HOUR_MS)),
    fix:
      'Reject notifications whose webhook-timestamp is older than five minutes, and verify webhook-signature, which covers ' +
      'it: otherwise a recorded notification can be replayed.',
  },
}

/** A notification of a check and its result; the result is null if it was not sent. */
export interface ProbeResult {
  name: CheckName
  outcome: Outcome | null
  startedAt: Date
  finishedAt: Date
}

/**
 * Sends the notifications one after another and stops at the first without a response, because the others would time out, too.
 * @returns all kinds of checks, in order
 */
export async function sendProbes(checked: CheckTarget, now: () => Date, network: Network): Promise<ProbeResult[]> {
  const probed: ProbeResult[] = []
  let answers = true
  for (const name of CHECKS) {
    const startedAt = now()
    const outcome = answers ? await send(KINDS[name].probe(checked, startedAt), checked.url, network) : null
    if (outcome?.statusCode === null) answers = false
    probed.push({ name, outcome, startedAt, finishedAt: now() })
  }
  return probed
}

function send({ body, headers }: Probe, url: URL, network: Network): Promise<Outcome> {
  return post(url, { ...NOTIFICATION_HEADERS, ...headers, ...CHECK_MARK }, body, network)
}

/** The verdict on a response. */
export function judge({ name, outcome, startedAt, finishedAt }: ProbeResult): Check {
  const { accepted, fix } = KINDS[name]
  const expected = accepted ? '2xx within 5 seconds' : '401'
  if (!outcome) return { name, expected, got: 'not sent', ok: false, how_to_fix: textOfGeneral('not_sent', null), fix: 'not_sent' }
  const { statusCode, error, success } = outcome
  const ok = accepted ? success : statusCode === 401
  const got = error ?? `${statusCode} after ${finishedAt.getTime() - startedAt.getTime()} ms`
  if (ok) return { name, expected, got, ok, how_to_fix: null, fix: null }
  const general = generalFix(outcome)
  return { name, expected, got, ok, how_to_fix: general ? textOfGeneral(general, error) : fix, fix: general ?? name }
}

function generalFix({ statusCode, error }: Outcome): GeneralFix | null {
  if (error === 'timed out after 5 s') return 'slow'
  if (error !== null) return 'unreachable'
  if (statusCode! >= 300 && statusCode! < 400) return 'redirect'
  return statusCode! >= 500 ? 'internal' : null
}

function textOfGeneral(fix: GeneralFix, error: string | null): string {
  switch (fix) {
    case 'not_sent':
      return 'Repeat the check once the receiver responds.'
    case 'slow':
      return 'Respond with 2xx as soon as the signature is verified, and do long work afterwards.'
    case 'unreachable':
      return `The receiver cannot be reached (${error}): check the URL, DNS, certificate and firewall.`
    case 'redirect':
      return 'Redirects are not followed: save the URL this one redirects to.'
    case 'internal':
      return 'The receiver failed with an internal error; see its log.'
  }
}
