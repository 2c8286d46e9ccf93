// JSON Schemas as HTML: the type of a value in words, and the fields of an object.
import { escapeHtml } from '../content/html.ts'
import { markdown } from '../content/markdown.ts'
import type { Schema } from './document.ts'

/** Writes schemas, and remembers which named ones the page refers to. */
export class SchemaWriter {
  readonly #named: Record<string, Schema>
  readonly #referred = new Set<string>()

  constructor(named: Record<string, Schema>) {
    this.#named = named
  }

  /** `integer, 1 to 100, default 20`; a named schema is a link to its section. */
  typeOf(schema: Schema): string {
    const { $ref, anyOf, enum: values, type, format, items, properties, additionalProperties } = schema
    if ($ref !== undefined) return this.#link($ref.split('/').at(-1)!)
    if (anyOf) return [...new Set(anyOf.map((one) => this.typeOf(one)))].join(' or ')
    if (schema.const !== undefined) return code(schema.const)
    if (values) return values.map(code).join(' ')
    if (Array.isArray(type)) return type.join(' or ')
    if (items) return [`list of ${this.typeOf(items)}`, ...limits(schema)].join(', ')
    if (properties === undefined && typeof additionalProperties === 'object') return `object with values of ${this.typeOf(additionalProperties)}`
    const noun = format === 'binary' ? 'file' : format === undefined ? (type ?? 'any value') : format
    return [noun, ...limits(schema)].join(', ')
  }

  /** The schema that a reference names. */
  resolve(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : this.#named[schema.$ref.split('/').at(-1)!]!
  }

  /** The fields of an object, or of the entries of a list; an empty text for other values. */
  fieldsOf(schema: Schema): string {
    const { properties, required = [] } = inner(schema)
    if (!properties) return ''
    const fields = Object.entries(properties).map(([name, field]) => {
      const must = required.includes(name) ? '' : ' <span class="type">(optional)</span>'
      const about = field.description === undefined ? '' : ` ${markdown.renderInline(field.description)}`
      return `<li><code>${escapeHtml(name)}</code> <span class="type">${this.typeOf(field)}</span>${must}${about}${this.fieldsOf(field)}</li>`
    })
    return `<ul class="fields">${fields.join('')}</ul>`
  }

  /** Sections of the named schemas that were referred to, and of those that they refer to. */
  sections(): string {
    const parts: string[] = []
    // The set grows while it is read.
    for (const name of this.#referred) {
      const schema = this.#named[name]!
      const about = schema.description === undefined ? '' : markdown.render(schema.description)
      const fields = this.fieldsOf(schema) || `<p class="type">${this.typeOf(schema)}</p>`
      parts.push(`<section id="schema-${name}"><h3>${name}</h3>${about}${fields}</section>`)
    }
    return parts.join('\n')
  }

  #link(name: string): string {
    this.#referred.add(name)
    return `<a href="#schema-${name}">${name}</a>`
  }
}

function inner(schema: Schema): Schema {
  if (schema.items) return inner(schema.items)
  return schema.anyOf?.map(inner).find(({ properties }) => properties) ?? schema
}

function limits({ minimum, maximum, minLength, maxLength, minItems, maxItems, default: preset, type }: Schema): string[] {
  // Integers beyond it are refused everywhere; it says nothing about the field.
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  const range = (from: number | undefined, to: number | undefined, of: string) => {
    if (from !== undefined && to !== undefined) return [`${from} to ${to}${of}`]
    if (to !== undefined) return [`at most ${to}${of}`]
    return from === undefined ? [] : [`at least ${from}${of}`]
  }
  return [
    ...(type === 'integer' || type === 'number' ? range(minimum, most, '') : []),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' entries'),
    ...(preset === undefined ? [] : [`default ${code(preset)}`]),
  ]
}

const code = (value: unknown) => `<code>${escapeHtml(String(value))}</code>`
