// Names the schemas of an OpenAPI document: each schema with a title, and each named list of values, is moved to
// `components.schemas` and is referenced from there.
import { isDeepStrictEqual } from 'node:util'
import { nameOfValues } from '#core/named-values.ts'

/** A JSON Schema as our declarations write it. */
interface Schema {
  title?: string
  type?: string
  enum?: unknown[]
  pattern?: string
  allowed?: string
  emptyRefused?: boolean
  documentedValues?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
}

type Content = Record<string, { schema?: Schema }>

export interface SchemaHolder {
  paths: Record<
    string,
    Record<string, { parameters?: { schema?: Schema }[]; requestBody?: { content?: Content }; responses?: Record<string, { content?: Content }> }>
  >
  webhooks?: SchemaHolder['paths']
  components?: { schemas?: object }
}

/**
 * Moves the schemas, in place.
 * @throws Error if two different schemas have the same title
 */
export function nameSchemas(document: SchemaHolder): void {
  const named: Record<string, Schema> = {}
  const component = ({ title, ...schema }: Schema): Schema => {
    if (title === undefined) return schema
    if (!/^[A-Z]\w*$/.test(title)) throw new Error(`The schema title ${title} must be a name such as CollectionRecord`)
    named[title] ??= schema
    if (!isDeepStrictEqual(named[title], schema)) throw new Error(`Two different schemas have the title ${title}`)
    return { $ref: `#/components/schemas/${title}` } as Schema
  }
  const referring = (declared: Schema): Schema => {
    const { documentedValues, ...schema } = declared
    // Used for our own checks and error messages only.
    delete schema.allowed
    delete schema.emptyRefused
    // Few tools compile patterns with Unicode classes.
    if (schema.pattern?.includes('\\p{')) delete schema.pattern
    if (documentedValues) schema.enum = documentedValues
    if (schema.enum?.every((value) => typeof value === 'string')) schema.type = 'string'
    if (schema.items) schema.items = referring(schema.items)
    if (schema.anyOf) schema.anyOf = schema.anyOf.map(referring)
    if (typeof schema.additionalProperties === 'object') schema.additionalProperties = referring(schema.additionalProperties)
    if (schema.properties)
      schema.properties = Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, referring(property)]))
    return schema.enum ? referringValues(schema) : component(schema)
  }
  // Annotations stay at the reference: description, default, examples.
  const referringValues = ({ enum: values = [], type, ...said }: Schema): Schema => {
    const title = nameOfValues(values)
    return { ...said, ...(title === undefined ? { enum: values, type } : component({ title, type, enum: values })) }
  }
  const visit = (holder: { schema?: Schema }) => {
    if (holder.schema) holder.schema = referring(holder.schema)
  }
  for (const operations of [...Object.values(document.paths), ...Object.values(document.webhooks ?? {})]) {
    for (const { parameters = [], requestBody, responses = {} } of Object.values(operations)) {
      const contents = [requestBody, ...Object.values(responses)].map((part) => part?.content ?? {})
      for (const holder of [...parameters, ...contents.flatMap((content) => Object.values(content))]) visit(holder)
    }
  }
  document.components = { ...document.components, schemas: Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))) }
}
