// Reading of what callers send: a schema checks bodies as they are and turns query and path text into values, and every
// refusal names the field and what is allowed.
import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { invalid, type Problem } from './errors.ts'

export type { Static, TSchema }
export { Type }

/** Wrong fields that a refusal names at most; TypeBox's own limit ends at 8. */
const MOST_PROBLEMS = 50
Settings.Set({ maxErrors: MOST_PROBLEMS })

/** The part of JSON Schema that our declarations use and our messages are made from. */
export interface Shape {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  pattern?: string
  format?: string
  default?: unknown
  examples?: unknown[]
  additionalProperties?: unknown
  /** what is allowed, in words, where the keywords alone would not tell a person */
  allowed?: string
  /** the values that the reference names where the verb itself refuses others, in words of the interface */
  documentedValues?: string[]
}

/**
 * Compiles a body schema. Objects must be closed with `additionalProperties: false`, so that unknown fields are refused
 * by name. The returned function gives the value back or throws `VALIDATION_ERROR` with a problem per wrong field; fields
 * that the caller gave elsewhere (`given`: in the path) are not among those it names as known.
 */
export function bodyReader<T extends TSchema>(schema: T): (body: unknown, given?: readonly string[]) => Static<T> {
  const compiled = Compile(schema)
  return (body, given = []) => {
    if (compiled.Check(body)) return body as Static<T>
    throw invalid(problemsOf(schema as Shape, compiled.Errors(body), body, given))
  }
}

type RawQuery = Record<string, string | string[] | undefined>

/**
 * Compiles a schema of query or path parameters (a flat object of integers, numbers, strings, enums, flags and arrays of
 * strings or integers). Unknown parameters are ignored; an empty text parameter counts as not sent; defaults are filled in.
 */
export function paramReader<T extends TSchema>(schema: T): (raw: RawQuery) => Static<T> {
  const shape = schema as Shape
  const readers = Object.entries(shape.properties ?? {}).map(([name, property]) => ({
    name,
    property,
    required: shape.required?.includes(name) ?? false,
    read: valueReader(property),
  }))
  return (raw) => {
    const value: Record<string, unknown> = {}
    let problems: Problem[] | null = null
    for (const { name, property, required, read } of readers) {
      const text = raw[name]
      if (text === undefined) {
        if (required) (problems ??= []).push({ field: name, message: `is required: it ${allowedAsText(property)}` })
        else if (property.default !== undefined) value[name] = property.default
        continue
      }
      const result = read(text)
      if (result === REFUSED) (problems ??= []).push({ field: name, message: allowedAsText(property) })
      else if (result === REPEATED) (problems ??= []).push({ field: name, message: 'may be given only once' })
      else if (result !== undefined) value[name] = result
      else if (required) (problems ??= []).push({ field: name, message: `is required: it ${allowedAsText(property)}` })
      else if (property.default !== undefined) value[name] = property.default
    }
    if (problems) throw invalid(problems)
    return value as Static<T>
  }
}

/** What a parameter allows: flags are written as the interface writes them. */
function allowedAsText(shape: Shape): string {
  return shape.type === 'boolean' ? 'must be 1 or 0' : allowed(shape)
}

const REFUSED = Symbol('refused')
const REPEATED = Symbol('repeated')
type ReadValue = (text: string | string[]) => unknown

function valueReader(shape: Shape): ReadValue {
  if (shape.type === 'array') {
    const one = valueReader(shape.items ?? {})
    return (text) => {
      const values = (Array.isArray(text) ? text : [text]).filter((t) => t !== '').map((t) => one(t))
      if (values.includes(REFUSED) || (shape.maxItems !== undefined && values.length > shape.maxItems)) return REFUSED
      return values
    }
  }
  const single = scalarReader(shape)
  return (text) => {
    if (!Array.isArray(text)) return single(text)
    return text.length === 1 ? single(text[0]!) : REPEATED
  }
}

function scalarReader(shape: Shape): (text: string) => unknown {
  if (shape.enum) {
    const values = new Set(shape.enum)
    return (text) => (values.has(text) ? text : REFUSED)
  }
  switch (shape.type) {
    case 'integer': {
      const { minimum = -Infinity, maximum = Infinity } = shape
      return (text) => {
        if (!/^[+-]?\d{1,400}$/.test(text)) return REFUSED
        const value = Number(text)
        return value >= minimum && value <= maximum ? value : REFUSED
      }
    }
    case 'number': {
      const { minimum = -Infinity, maximum = Infinity } = shape
      return (text) => {
        if (!/^[+-]?\d{1,300}(\.\d{1,300})?$/.test(text)) return REFUSED
        const value = Number(text)
        return value >= minimum && value <= maximum ? value : REFUSED
      }
    }
    case 'boolean':
      return (text) => {
        if (text === '1' || text === 'true') return true
        if (text === '0' || text === 'false' || text === '') return false
        return REFUSED
      }
    default: {
      const { minLength = 0, maxLength = Infinity } = shape
      const pattern = shape.pattern === undefined ? null : new RegExp(shape.pattern, 'u')
      return (text) => {
        if (text === '' && minLength === 0) return undefined
        if (text.length > maxLength || text.trim().length < minLength) return REFUSED
        return pattern === null || pattern.test(text) ? text : REFUSED
      }
    }
  }
}

interface SchemaError {
  keyword: string
  instancePath: string
  params: object
}

function problemsOf(schema: Shape, errors: SchemaError[], body: unknown, given: readonly string[]): Problem[] {
  const problems = new Map<string, string>()
  const add = (field: string, message: string) => {
    if (!problems.has(field)) problems.set(field, message)
  }
  for (const error of errors) {
    const path = error.instancePath.split('/').slice(1)
    if (error.keyword === 'required') {
      for (const name of (error.params as { requiredProperties: string[] }).requiredProperties) {
        add([...path, name].join('.'), `is required: it ${allowed(shapeAt(schema, [...path, name], body))}`)
      }
    } else if (error.keyword === 'additionalProperties') {
      const properties = Object.keys(shapeAt(schema, path, body)?.properties ?? {})
      const known = path.length === 0 ? properties.filter((name) => !given.includes(name)) : properties
      for (const name of (error.params as { additionalProperties: string[] }).additionalProperties) {
        add([...path, name].join('.'), `is not a known field; known are ${known.join(', ')}`)
      }
    } else if (error.keyword !== 'boolean') {
      add(path.join('.') || 'body', allowed(shapeAt(schema, path, body)))
    }
  }
  return [...problems].map(([field, message]) => ({ field, message })).slice(0, MOST_PROBLEMS)
}

/** The schema of the value at a path, stepping into the branch of a union that has the next property. */
function shapeAt(schema: Shape, path: string[], body: unknown): Shape | undefined {
  let shape: Shape | undefined = schema
  let value: unknown = body
  for (const step of path) {
    if (shape?.anyOf) shape = shape.anyOf.find((branch) => branch.properties?.[step] ?? branch.items)
    shape = shape?.properties?.[step] ?? shape?.items
    value = (value as Record<string, unknown> | undefined)?.[step]
  }
  return shape
}

/** What a schema allows, in words: `must be a whole number from 1 to 100`. */
export function allowed(shape: Shape | undefined): string {
  if (!shape) return 'is not allowed here'
  if (shape.allowed) return `must be ${shape.allowed}`
  if (shape.anyOf) {
    const branches = shape.anyOf.map((branch) => (branch.type === 'null' ? 'null' : allowed(branch).replace(/^must be /, '')))
    return `must be ${branches.join(' or ')}`
  }
  if (shape.enum) return `must be one of ${shape.enum.join(', ')}`
  switch (shape.type) {
    case 'integer':
      return `must be a whole number${bounds(shape)}`
    case 'number':
      return `must be a number${bounds(shape)}`
    case 'boolean':
      return 'must be true or false'
    case 'string':
      return `must be ${textRule(shape)}`
    case 'array':
      return `must be a list${listRule(shape)}`
    case 'object':
      return (shape.minProperties ?? 0) > 0 ? 'must be an object with at least one field' : 'must be an object'
    default:
      return 'is not valid'
  }
}

/** Bounds this large keep numbers storable; a person who sends a wrong one is not helped by them. */
const UNTOLD = 2 ** 31

function bounds({ minimum, exclusiveMinimum, ...shape }: Shape): string {
  const maximum = shape.maximum !== undefined && shape.maximum < UNTOLD ? shape.maximum : undefined
  if (exclusiveMinimum !== undefined) {
    return maximum === undefined ? ` above ${exclusiveMinimum}` : ` above ${exclusiveMinimum} and at most ${maximum}`
  }
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `, at least ${minimum}`
  return maximum === undefined ? '' : `, at most ${maximum}`
}

function textRule({ format, minLength = 0, maxLength, pattern }: Shape): string {
  if (format === 'uri') return 'a URL'
  return `text${lengthRule(minLength, maxLength)}${pattern ? ` matching ${pattern}` : ''}`
}

function lengthRule(least: number, most: number | undefined): string {
  if (least > 0) return most === undefined ? ` of at least ${least} characters` : ` of ${least} to ${most} characters`
  return most === undefined ? '' : ` of at most ${most} characters`
}

function listRule({ minItems, maxItems, items }: Shape): string {
  const of = items ? `, each ${allowed(items).replace(/^must be /, '')}` : ''
  if (minItems && maxItems) return ` of ${minItems} to ${maxItems} entries${of}`
  return maxItems === undefined ? of : ` of at most ${maxItems} entries${of}`
}
