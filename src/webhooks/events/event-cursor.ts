// Cursors of the feed: the account and the position of an event.
import { readCursor, writeCursor } from '#core/cursor.ts'
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'

const LIST = 'events'
const MAX_CURSOR_LENGTH = 100

/** A cursor as an input field. */
export function eventCursor(description: string) {
  return Type.Optional(Type.String({ maxLength: MAX_CURSOR_LENGTH, allowed: reason('event_cursor'), description }))
}

/** The cursor of the event at a position of an account's feed. */
export function cursorAt(accountId: number, position: number): string {
  return writeCursor([LIST, accountId, position])
}

/**
 * The position that a cursor names; null without a cursor.
 * @throws VALIDATION_ERROR naming the field if the cursor is malformed or belongs to another account
 */
export function positionOf(field: string, cursor: string | undefined, accountId: number): number | null {
  if (cursor === undefined) return null
  const [list, owner, position, ...rest] = readCursor(cursor) ?? []
  if (list !== LIST || owner !== accountId || rest.length > 0 || !isPosition(position)) throw invalid(field, 'event_cursor')
  return position
}

function isPosition(position: unknown): position is number {
  return Number.isSafeInteger(position) && (position as number) >= 0
}
