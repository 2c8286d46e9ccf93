// The form in which searches are counted.
import { fold } from './fold.ts'

const MAX_LENGTH = 100

/** The form in which the same searches are equal; undefined for one that is too long to be sent by several people. */
export function countedTerm(search: string): string | undefined {
  const term = fold(search).replaceAll('\u0000', '')
  return term === '' || term.length > MAX_LENGTH ? undefined : term
}
