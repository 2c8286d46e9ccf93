// Validates input: a schema checks bodies and converts query and path values; every error names the field and what is allowed.
import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { Errors } from 'typebox/value'
import { invalidFields } from './errors.ts'
import { type Params, type Problem, problem, type Reason, reason } from './problems.ts'
import type { Rule } from './problem-texts/rules.ts'
import { STORABLE } from './text.ts'

export type { Static, TSchema }
export { Type }

/** Maximum number of invalid fields in an error; TypeBox itself stops at 8. */
const MAX_PROBLEMS = 50
Settings.Set({ maxErrors: MAX_PROBLEMS })

/** The part of JSON Schema that our declarations use and our errors are derived from. */
export interface Shape {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  /** of `Type.Record`: one pattern, which all names match */
  patternProperties?: Record<string, Shape>
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
  /** the rule for the error, if the keywords alone do not explain what is allowed */
  allowed?: Reason
  /** an empty flag is refused instead of false, because its sender meant something else */
  emptyRefused?: boolean
  /** allowed values in the reference, if the verb itself rejects all others */
  documentedValues?: string[]
}

/**
 * Compiles a body schema. Nested objects must be closed with `additionalProperties: false`, so that unknown fields are rejected
 * by name. The returned function returns the value, or throws `VALIDATION_ERROR` with a problem for each invalid field.
 * Fields that the caller passed elsewhere (`elsewhere`: in the path) are not listed as allowed in the body.
 */
export function bodyReader<T extends TSchema>(schema: T): (body: unknown, elsewhere?: readonly string[]) => Static<T> {
  const stored = storable(schema) as TSchema
  const compiled = Compile(stored)
  return (body, elsewhere = []) => {
    if (compiled.Check(body)) return body as Static<T>
    const meant = ofItsKind(schema, body)
    const errors = meant === schema ? compiled.Errors(body) : Errors(storable(meant) as TSchema, body)
    throw invalidFields(problemsOf(meant, errors, body, elsewhere))
  }
}

/** The schema with the pattern `STORABLE` for each text that has none: NUL and halves of surrogate pairs fail in SQL. */
function storable(shape: Shape): Shape {
  const { anyOf, properties, items } = shape
  if (anyOf) return { ...shape, anyOf: anyOf.map(storable) }
  if (properties) return { ...shape, properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, storable(field)])) }
  if (items) return { ...shape, items: storable(items) }
  return takesAnyText(shape) ? { ...shape, pattern: STORABLE } : shape
}

function takesAnyText({ type, enum: values, const: value, pattern }: Shape): boolean {
  return type === 'string' && values === undefined && value === undefined && pattern === undefined
}

/** The machine-readable part of a reason, next to its text. */
export const ReasonFields = {
  rule: Type.Optional(Type.String({ description: 'Machine-readable name of the rule', examples: ['integer'] })),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the rule', examples: [{ min: 1, max: 100 }] })),
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
        if (required) (problems ??= []).push(problem(name, 'required', { must: allowedAsText(property) }))
        else if (property.default !== undefined) value[name] = property.default
        continue
      }
      const result = read(text)
      if (result === REFUSED) (problems ??= []).push({ field: name, ...allowedAsText(property) })
      else if (result === UNSTORABLE) (problems ??= []).push(problem(name, 'storable'))
      else if (result === REPEATED) (problems ??= []).push(problem(name, 'only_once'))
      else if (result !== undefined) value[name] = result
      else if (required) (problems ??= []).push(problem(name, 'required', { must: allowedAsText(property) }))
      else if (property.default !== undefined) value[name] = property.default
    }
    if (problems) throw invalidFields(problems)
    return value as Static<T>
  }
}

/** What a parameter allows; flags are shown as `0` and `1`. */
function allowedAsText(shape: Shape): Reason {
  return shape.type === 'boolean' ? reason('one_of', { values: [1, 0] }) : allowed(shape)
}

const REFUSED = Symbol('refused')
const UNSTORABLE = Symbol('unstorable')
const REPEATED = Symbol('repeated')
type ReadValue = (text: string | string[]) => unknown

function valueReader(shape: Shape): ReadValue {
  if (shape.type === 'array') {
    const one = valueReader(shape.items ?? {})
    return (text) => {
      const values = (Array.isArray(text) ? text : [text]).filter((t) => t !== '').map((t) => one(t))
      if (values.includes(UNSTORABLE)) return UNSTORABLE
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
        if (text === '0' || text === 'false' || (text === '' && !shape.emptyRefused)) return false
        return REFUSED
      }
    default: {
      const { minLength = 0, maxLength = Infinity } = shape
      const pattern = new RegExp(shape.pattern ?? STORABLE, 'u')
      const mismatch = shape.pattern === undefined ? UNSTORABLE : REFUSED
      return (text) => {
        if (text === '' && minLength === 0) return undefined
        if (text.length > maxLength || text.trim().length < minLength) return REFUSED
        return pattern.test(text) ? text : mismatch
      }
    }
  }
}

interface SchemaError {
  keyword: string
  instancePath: string
  params: object
}

/**
 * Replaces each discriminated union of a schema by the branch that the value selects. If no branch matches, only the
 * discriminator is checked, so that errors do not name fields of other kinds.
 */
function ofItsKind(shape: Shape, value: unknown): Shape {
  const kinds = shape.anyOf && kindsOf(shape.anyOf)
  if (kinds) {
    if (typeof value !== 'object' || value === null) return { type: 'object' }
    const branch = kinds.branches.get((value as Record<string, unknown>)[kinds.name])
    if (branch) return ofItsKind(branch, value)
    return { type: 'object', properties: { [kinds.name]: { enum: [...kinds.branches.keys()] } }, required: [kinds.name] }
  }
  if (!shape.properties || typeof value !== 'object' || value === null) return shape
  const fields = Object.entries(shape.properties)
  const meant = fields.map(([name, field]) => [name, ofItsKind(field, (value as Record<string, unknown>)[name])] as const)
  return meant.every(([, field], i) => field === fields[i]![1]) ? shape : { ...shape, properties: Object.fromEntries(meant) }
}

/** Name and branches of a discriminated union, by the value of the discriminator; null for other unions. */
function kindsOf(union: readonly Shape[]): { name: string; branches: Map<unknown, Shape> } | null {
  const name = Object.keys(union[0]?.properties ?? {}).find((field) => union.every((branch) => branch.properties?.[field]?.const !== undefined))
  return name === undefined ? null : { name, branches: new Map(union.map((branch) => [branch.properties![name]!.const, branch])) }
}

function problemsOf(schema: Shape, errors: SchemaError[], body: unknown, elsewhere: readonly string[]): Problem[] {
  const problems = new Map<string, Problem>()
  const add = (field: string, why: Reason) => {
    if (!problems.has(field)) problems.set(field, { field, ...why })
  }
  for (const error of errors) {
    const path = error.instancePath.split('/').slice(1)
    if (error.keyword === 'required') {
      for (const name of (error.params as { requiredProperties: string[] }).requiredProperties) {
        add([...path, name].join('.'), reason('required', { must: allowed(shapeAt(schema, [...path, name], body)) }))
      }
    } else if (error.keyword === 'additionalProperties') {
      const properties = Object.keys(shapeAt(schema, path, body)?.properties ?? {})
      const fields = path.length === 0 ? properties.filter((name) => !elsewhere.includes(name)) : properties
      for (const name of (error.params as { additionalProperties: string[] }).additionalProperties) {
        add([...path, name].join('.'), reason('unknown_field', fields.length > 0 ? { fields } : {}))
      }
    } else if (error.keyword !== 'boolean') {
      const shape = shapeAt(schema, path, body)
      add(path.join('.') || 'body', error.keyword === 'pattern' && !hasPattern(shape) ? reason('storable') : allowed(shape))
    }
  }
  // If a branch of a union fits the value's type, its problem says more than a list of the branches.
  const within = (field: string) => [...problems.keys()].some((other) => other.startsWith(`${field}.`))
  return [...problems.values()].filter(({ field, rule }) => rule !== 'any_of' || !within(field)).slice(0, MAX_PROBLEMS)
}

function hasPattern(shape: Shape | undefined): boolean {
  return shape?.pattern !== undefined || (shape?.anyOf?.some(hasPattern) ?? false)
}

/** The schema of the value at a path, following the branch of a union that has the next property. */
function shapeAt(schema: Shape, path: string[], body: unknown): Shape | undefined {
  let shape: Shape | undefined = schema
  let value: unknown = body
  for (const step of path) {
    if (shape?.anyOf) shape = shape.anyOf.find((branch) => branch.properties?.[step] ?? branch.items)
    shape = shape?.properties?.[step] ?? shape?.items ?? Object.values(shape?.patternProperties ?? {})[0]
    value = (value as Record<string, unknown> | undefined)?.[step]
  }
  return shape
}

/** What a schema allows. */
function allowed(shape: Shape | undefined): Reason {
  if (!shape) return reason('invalid')
  if (shape.allowed) return shape.allowed
  if (shape.anyOf) return oneOf(shape.anyOf)
  if (shape.enum) return reason('one_of', { values: shape.enum.map(String) })
  switch (shape.type) {
    case 'integer':
      return bounds('integer', shape)
    case 'number':
      return bounds('number', shape)
    case 'boolean':
      return reason('boolean')
    case 'string':
      return textRule(shape)
    case 'array':
      return listRule(shape)
    case 'object':
      return ruleWith('object', { min: shape.minProperties })
    default:
      return reason('invalid')
  }
}

function oneOf(branches: readonly Shape[]): Reason {
  const options = branches.filter((branch) => branch.type !== 'null').map(allowed)
  const must = options.length === 1 ? options[0]! : reason('any_of', { options })
  return options.length < branches.length ? reason('or_null', { must }) : must
}

/** Bounds this large only keep numbers storable; naming them would not help a person. */
const UNTOLD = 2 ** 31

function bounds(rule: 'integer' | 'number', { minimum: min, exclusiveMinimum: above, maximum }: Shape): Reason {
  return ruleWith(rule, { min, above, max: maximum !== undefined && maximum < UNTOLD ? maximum : undefined })
}

function textRule({ format, minLength, maxLength: max, pattern }: Shape): Reason {
  return format === 'uri' ? reason('url') : ruleWith('text', { min: minLength || undefined, max, pattern })
}

function listRule({ minItems, maxItems: max, items }: Shape): Reason {
  return ruleWith('list', { min: minItems || undefined, max, each: items && allowed(items) })
}

/** A rule with those parameters that have a value. */
function ruleWith(rule: Rule, params: Record<string, Params[string] | undefined>): Reason {
  return { rule, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as Params }
}
