// The notation of quiet hours in settings: 22:00-07:00.

/** Minutes since midnight; `to` is excluded, and before `from` if the hours pass midnight. */
export interface QuietHours {
  from: number
  to: number
}

/** Null if the text is not a time of day to another. */
export function parseQuietHours(text: string): QuietHours | null {
  const [, ...parts] = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (parts.length === 0) return null
  const [fromHour, fromMinute, toHour, toMinute] = parts.map(Number) as [number, number, number, number]
  const hours = { from: fromHour * 60 + fromMinute, to: toHour * 60 + toMinute }
  return hours.from === hours.to ? null : hours
}
