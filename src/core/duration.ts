// Durations as people write them in settings and on the command line: 500ms, 30s, 5m, 24h, 7d.

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds of a number with a unit, null when the text is none. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,6}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text)
  return match ? Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]) : null
}
