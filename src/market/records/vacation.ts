// When a seller is on vacation, and how it pauses publication periods and highlights. Pure.

/** From its first moment (inclusive) to its last (exclusive). */
export interface Vacation {
  from: Date
  to: Date
}

export function isOnVacation(vacation: Vacation | null, at: Date): vacation is Vacation {
  return vacation !== null && vacation.from <= at && at < vacation.to
}

/** End of a period that would end at `end` without the vacation: the period is paused during the rest of the vacation. */
export function withVacation(end: Date, vacation: Vacation | null, now: Date): Date {
  const start = startLeft(vacation, now)
  return start === null || end <= start ? end : shifted(end, vacation!.to.getTime() - start.getTime())
}

/** End of a period that ends at `end`, as if the rest of the vacation did not take place: reverses `withVacation`. */
export function withoutVacation(end: Date, vacation: Vacation | null, now: Date): Date {
  const start = startLeft(vacation, now)
  if (start === null || end <= start) return end
  return shifted(end, start.getTime() - Math.min(end.getTime(), vacation!.to.getTime()))
}

/** Start of the remaining part of a vacation; null if none remains. */
function startLeft(vacation: Vacation | null, now: Date): Date | null {
  if (vacation === null || vacation.to <= now) return null
  return vacation.from > now ? vacation.from : now
}

function shifted(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms)
}
