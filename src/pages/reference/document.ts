// The parts of a finished OpenAPI document that the reference pages show.

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
}

export interface Parameter {
  in: 'path' | 'query' | 'header'
  name: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}

export interface Media {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

interface Response {
  description: string
  content?: Record<string, Media>
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: [string]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response>
  /** empty: no credential is needed */
  security?: object[]
  'x-error-codes'?: string[]
}

export interface Document {
  info: { title: string; description: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, { post: Pick<Operation, 'requestBody'> & { summary?: string; description?: string } }>
  components?: { schemas?: Record<string, Schema> }
}

/** An operation with its place. */
export interface Endpoint {
  method: string
  path: string
  operation: Operation
}

/** By tag, in the order of the document's tags. */
export function endpointsByTag({ tags, paths }: Document): Map<string, Endpoint[]> {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Endpoint => ({ method: method.toUpperCase(), path, operation })),
  )
  return new Map(tags.map(({ name }) => [name, all.filter(({ operation }) => operation.tags[0] === name)]))
}

/** The successful response with a body, and its status. */
export function successOf({ responses }: Operation): { status: string; type: string; media: Media } | null {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const [type, media] = Object.entries(content).find(([, { example }]) => example !== undefined) ?? Object.entries(content)[0] ?? []
    if (Number(status) < 300 && type !== undefined && media !== undefined) return { status, type, media }
  }
  return null
}
