// Reasons in a form that tests compare: by field, rule and values, never by their text.
import type { Problem, Reason } from '#core/problems.ts'

/** `price integer 1 100`: the field if there is one, the rule and the values of its parameters. */
export function ruleOf(why: Reason | Problem): string {
  const values = Object.values(why.params).map((value) => (Array.isArray(value) ? value.map(told).join() : told(value)))
  return ['field' in why ? why.field : '', why.rule, ...values].filter((part) => part !== '').join(' ')
}

function told(value: unknown): string {
  return typeof value === 'object' && value !== null && 'rule' in value ? ruleOf(value as Reason) : String(value)
}

interface Refused {
  rule?: string
  params?: object
  details?: { field: string; rule: string; params: object }[]
}

/** The reason of a rejection in a response, in the form of `ruleOf`; several invalid fields are joined by `; `. */
export function rulesIn({ details, rule, params }: Refused = {}): string {
  return (details ?? [{ rule, params }]).map((why) => ruleOf(why as Problem)).join('; ')
}
