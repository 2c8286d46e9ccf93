// Quiet hours: the time of day in which e-mails wait, unless they are critical.
import type { QuietHours } from '#core/time.ts'
import type { Severity } from '#health/findings.ts'

/** When an e-mail may be sent: now, or at the end of the quiet hours. */
export function emailDueAt(severity: Severity, now: Date, quiet: QuietHours | null, zone: string): Date {
  if (quiet === null || severity === 'critical') return now
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone)
  const minute = local.hour * 60 + local.minute
  const { from, to } = quiet
  const isQuiet = from < to ? minute >= from && minute < to : minute >= from || minute < to
  if (!isQuiet) return now
  const day = minute < to ? local : local.add({ days: 1 })
  const end = day.withPlainTime({ hour: Math.floor(to / 60), minute: to % 60 })
  return new Date(end.epochMilliseconds)
}
