// Writes the client's types from the service's OpenAPI document: node client/types-from-openapi.ts openapi.json > client/src/api.ts
import { readFileSync } from 'node:fs'

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  description?: string
}

interface Parameter {
  in: string
  name: string
  required?: boolean
  schema: Schema
}

interface Operation {
  summary?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete']

/** The TypeScript text of `interface paths`. */
export function typesOf(document: OpenApi): string {
  const lines = ["// Types of the API, written from its OpenAPI document by types-from-openapi.ts. Do not edit.", '', 'export interface paths {']
  for (const [path, operations] of Object.entries(document.paths)) {
    lines.push(`  '${path}': {`)
    for (const method of METHODS) {
      const operation = operations[method]
      if (operation) lines.push(...operationLines(method, operation).map((line) => `    ${line}`))
    }
    lines.push('  }')
  }
  lines.push('}', '')
  return lines.join('\n')
}

function operationLines(method: string, operation: Operation): string[] {
  const lines = [...(operation.summary ? [`/** ${operation.summary} */`] : []), `${method}: {`]
  const sections = ['path', 'query'].flatMap((place) => {
    const parameters = operation.parameters?.filter((parameter) => parameter.in === place) ?? []
    if (parameters.length === 0) return []
    const needed = parameters.some((parameter) => parameter.required)
    const fields = parameters.map(({ name, required, schema }) => `${fieldName(name)}${required ? '' : '?'}: ${typeOf(schema)}`)
    return [`${place}${needed ? '' : '?'}: { ${fields.join('; ')} }`]
  })
  if (sections.length > 0) lines.push(`  parameters: { ${sections.join('; ')} }`)
  const body = operation.requestBody?.content['application/json']?.schema
  if (body) {
    const needed = operation.requestBody?.required || (body.required?.length ?? 0) > 0
    lines.push(`  requestBody${needed ? '' : '?'}: { content: { 'application/json': ${typeOf(body)} } }`)
  }
  const answers = Object.entries(operation.responses).flatMap(([status, { content }]) => {
    const schema = content?.['application/json']?.schema
    return schema ? [`${status}: { content: { 'application/json': ${typeOf(schema)} } }`] : []
  })
  lines.push(`  responses: { ${answers.join('; ')} }`, '}')
  return lines
}

function typeOf(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'string':
      return 'string'
    case 'null':
      return 'null'
    case 'array':
      return `(${schema.items ? typeOf(schema.items) : 'unknown'})[]`
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(([name, value]) => {
        return `${fieldName(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(value)}`
      })
      return fields.length > 0 ? `{ ${fields.join('; ')} }` : 'Record<string, unknown>'
    }
    default:
      return 'unknown'
  }
}

function fieldName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
}

if (process.argv[2]) process.stdout.write(typesOf(JSON.parse(readFileSync(process.argv[2], 'utf8')) as OpenApi))
