// What a language has to say for the reasons of errors.
import type { Rule } from './rules.ts'
import type { Term } from './terms.ts'

/** The texts of one language. */
export interface Words {
  rules: Readonly<Record<Rule, string>>
  /** in English a term is its own text */
  terms?: Readonly<Record<Term, string>>
  /** the decimal separator; a point in English */
  decimal?: string
}
