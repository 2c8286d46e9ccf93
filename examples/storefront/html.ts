// HTML from templates: every inserted value is escaped unless it is itself the result of a template.

export interface Html {
  readonly markup: string
}

/** Null, undefined and false insert nothing. */
type Inserted = Html | readonly Html[] | string | number | null | undefined | false

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function html(parts: TemplateStringsArray, ...values: Inserted[]): Html {
  return { markup: parts.map((part, i) => (i === 0 ? part : markupOf(values[i - 1]) + part)).join('') }
}

function markupOf(value: Inserted): string {
  if (value === null || value === undefined || value === false) return ''
  if (typeof value === 'string' || typeof value === 'number') return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]!)
  return 'markup' in value ? value.markup : value.map(markupOf).join('')
}
