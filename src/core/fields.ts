// Input fields that several verbs share; each rule is defined once.
import { invalidFields, notFound } from './errors.ts'
import { Type } from './input.ts'
import { reason } from './problems.ts'
import type { Term } from './problem-texts/terms.ts'
import { LINE, VISIBLE_LINE } from './text.ts'
import { isTimeInRange, TIME_RANGE } from './time.ts'

/** The largest integer of a column: 32 bits. */
export const MAX_INTEGER = 2 ** 31 - 1

const SEARCHED_TEXT = '^[^\\p{Cc}\\p{Cs}]*$'

/** The id of a row. Unbounded, so that an id that cannot exist is "not found" and not "invalid"; see `existing`. */
export function id(of: string) {
  return Type.Integer({ description: `Id of the ${of}` })
}

/** An id in a filter or a body; larger values are rejected. */
export function boundedId(description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description }))
}

/** A schema that also allows null. */
export function orNull<T extends Type.TSchema>(schema: T, options?: Type.TSchemaOptions) {
  return Type.Union([schema, Type.Null()], options)
}

/** Text with at least one visible character; stored trimmed. */
export function name(description: string, max = 200) {
  const rule = {
    minLength: 1,
    maxLength: max,
    pattern: VISIBLE_LINE,
    allowed: reason('text', { min: 1, max, form: 'on one line, with a visible character and without bidirectional controls' }),
  }
  return Type.String({ ...rule, description })
}

/** Text that may be empty; stored trimmed. */
export function remark(description: string) {
  const rule = { maxLength: 200, pattern: LINE, allowed: reason('text', { max: 200, form: 'on one line, without bidirectional controls' }) }
  return Type.Optional(Type.String({ ...rule, default: '', description }))
}

/** Text that a list is filtered by. */
export function filter(description: string) {
  return Type.Optional(
    Type.String({ maxLength: 300, pattern: SEARCHED_TEXT, allowed: reason('text', { max: 300, form: 'on one line' }), description }),
  )
}

const MOMENT = reason('time', { ...TIME_RANGE, example: '2026-01-31T12:00:00Z' })

/** A time, such as 2026-01-31T12:00:00Z; parse it with `momentOf`. */
export function moment(description: string) {
  return Type.String({ format: 'date-time', maxLength: 40, allowed: MOMENT, description })
}

/** A calendar day, such as 2026-01-31. */
export function day(description?: string) {
  const rule = { format: 'date', pattern: '^(19[7-9]|[2-9]\\d\\d)\\d-', allowed: reason('date', { ...TIME_RANGE, format: 'YYYY-MM-DD' }) }
  return Type.String({ ...rule, examples: ['2026-01-31'], ...(description && { description }) })
}

/**
 * The id for SQL, which has 32-bit integers only.
 * @throws NOT_FOUND if no row can have it
 */
export function existing(what: Term, rowId: number): number {
  if (rowId < 1 || rowId > MAX_INTEGER) throw missing(what, rowId)
  return rowId
}

/** The id for SQL, where an id that no row can have finds nothing: it becomes 0. */
export function idForSql(rowId: number): number {
  return rowId >= 1 && rowId <= MAX_INTEGER ? rowId : 0
}

/** 404 for a row that does not exist. */
export function missing(thing: Term, id: number) {
  return notFound('not_found', { thing, id })
}

/**
 * Parses a time in the format `date-time`.
 * @throws VALIDATION_ERROR for leap seconds, times out of range and other texts that are not a time
 */
export function momentOf(field: string, text: string): Date {
  const at = new Date(text)
  if (!isTimeInRange(at.getTime())) throw invalidFields([{ field, ...MOMENT }])
  return at
}

/** Filter by time; parse it with `periodOf`. */
export const PeriodFields = {
  from: Type.Optional(moment('Start of the range, inclusive')),
  to: Type.Optional(moment('End of the range, exclusive')),
}

/** @throws VALIDATION_ERROR as `momentOf` does */
export function periodOf({ from, to }: { from?: string; to?: string }): { from: Date | undefined; to: Date | undefined } {
  return {
    from: from === undefined ? undefined : momentOf('from', from),
    to: to === undefined ? undefined : momentOf('to', to),
  }
}
