// Notifications as their audience reads them.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import type { Params } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import { type FindingRule, FINDINGS, SEVERITIES, type Severity, textsOf } from '#health/findings.ts'

const Time = Type.String({ format: 'date-time' })

export const NOTIFICATION_STATES = namedValues('NotificationState', ['open', 'resolved'])

export const NotificationSchema = Type.Object(
  {
    id: Type.Integer(),
    kind: Type.String({ description: 'Machine-readable code of the finding, as `rule` in `GET /health`', examples: ['source_late'] }),
    subject: Type.String({
      description: 'What it is about: the check, for a price source its market, for a key `key` and its id',
      examples: ['source_a'],
    }),
    node: orNull(Type.String({ description: 'Machine that it is about; null for the whole service' })),
    severity: Type.Enum([...SEVERITIES]),
    state: Type.Enum([...NOTIFICATION_STATES]),
    since: Time,
    changed_at: Type.String({ format: 'date-time', description: 'When it was raised, changed or resolved' }),
    resolved_at: orNull(Time),
    read: Type.Boolean({ description: 'Whether the caller has read it since it changed' }),
    params: Type.Record(Type.String(), Type.Unknown(), { description: 'Values in the text' }),
    found: Type.String(),
    advice: orNull(Type.String({ description: 'How to fix it' })),
  },
  { title: 'Notification' },
)
export type Notification = Static<typeof NotificationSchema>

/** A row of the table, as its statements return it. */
export interface StoredNotification {
  id: number
  account_id: number | null
  subject: string
  node: string
  kind: string
  severity: Severity
  params: object
  version: number
  since: Date
  changed_at: Date
  resolved_at: Date | null
}

export type ReadNotification = StoredNotification & { read?: boolean }

/** @param zone for local times; default: UTC */
export function notificationOf({ id, subject, node, kind, severity, params, since, ...row }: ReadNotification, zone?: string): Notification {
  const time = (at: Date) => (zone === undefined ? at.toISOString() : localTime(at, zone))
  const { resolved_at: resolvedAt, changed_at: changedAt, read = false } = row
  // A later release may have written a kind that this one does not know.
  const isKnown = Object.hasOwn(FINDINGS, kind)
  const { found, advice } = isKnown ? textsOf(FINDINGS[kind as FindingRule], params as Params) : { found: kind, advice: '' }
  return {
    id,
    kind,
    subject,
    node: node === '' ? null : node,
    severity,
    state: resolvedAt === null ? 'open' : 'resolved',
    since: time(since),
    changed_at: time(changedAt),
    resolved_at: resolvedAt && time(resolvedAt),
    read,
    params: params as Record<string, unknown>,
    found,
    advice: advice || null,
  }
}
