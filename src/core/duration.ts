// Durations: their units, and their notation in settings and on the command line: 500ms, 30s, 5m, 24h, 7d.

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

const UNIT_MS = { ms: 1, s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const

/** Milliseconds of a number with a unit; null if the text is not a duration. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,6}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text)
  return match ? Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]) : null
}
