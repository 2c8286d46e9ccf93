// Calls verbs from mutations: translates names both ways and gives each mutation of a document its own context.
import { type GraphQLResolveInfo, getNamedType, isInputObjectType } from 'graphql'
import { ServiceError } from '#core/errors.ts'
import type { Shape, TSchema } from '#core/input.ts'
import type { FieldNaming } from '#core/problems.ts'
import { call, type Verb } from '#core/verb.ts'
import { idOf, marketOf, withoutNulls } from '../building/arguments.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import { camelCase, renameErrorFields } from '../execution/errors.ts'

/** The argument that REST has in the path: its name in the verb, its GraphQL argument and its value. */
type PathFields = Readonly<Record<string, readonly [argument: string, value: unknown]>>

/** The path of a mutation whose argument `id` is in the path over REST. */
export function pathOf({ id }: { id: string | number }): PathFields {
  return { id: ['id', idOf(id)] }
}

/**
 * Calls a verb with fields in GraphQL names. Fields that were not sent stay absent, and null stays null, except in nested objects.
 * @param input fields whose name in the verb is their own in snake_case; ids may be texts, markets may be names of the enum
 */
export async function callByFields<Ctx extends GraphqlCtx, In extends TSchema, Out>(
  target: Verb<Ctx, In, Out | Promise<Out>>,
  ctx: Ctx,
  info: GraphQLResolveInfo,
  input: object,
  path: PathFields = {},
): Promise<Out> {
  const ids = Object.fromEntries(Object.entries(path).map(([name, [, value]]) => [name, value]))
  try {
    const sent = { ...inputOf(target.input, input), ...ids, ...(ctx.dryRun && { dry_run: true }) }
    return await call(target, contextOfField(ctx, info), sent, [...Object.keys(path), 'dry_run'])
  } catch (error) {
    throw error instanceof ServiceError ? renameErrorFields(error, namingOf(info, path)) : error
  }
}

/** The fields in the names and values of a verb's input. */
function inputOf(shape: Shape, fields: object): object {
  const shapes = Object.assign({}, ...[shape, ...(shape.anyOf ?? [])].map(({ properties }) => properties)) as Record<string, Shape>
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      const name = snakeCase(field)
      return [name, inputValue(shapes[name] ?? {}, value)]
    }),
  )
}

function inputValue(shape: Shape, value: unknown): unknown {
  const alternatives = [shape, ...(shape.anyOf ?? [])]
  if (Array.isArray(value)) {
    const entries = alternatives.find(({ items }) => items)?.items ?? {}
    return value.map((entry) => inputValue(entries, entry))
  }
  if (typeof value === 'object' && value !== null) return inputOf(shape, withoutNulls(value))
  if (typeof value !== 'string') return value
  if (alternatives.some(({ type }) => type === 'integer')) return idOf(value)
  const market = marketOf(value)
  return alternatives.some(({ enum: values }) => values?.includes(market)) ? market : value
}

/** A document may contain several mutations: the result of each is stored as a part of the request. */
function contextOfField<Ctx extends GraphqlCtx>(ctx: Ctx, { path }: GraphQLResolveInfo): Ctx {
  return { ...ctx, idempotency: ctx.idempotency && { ...ctx.idempotency, part: String(path.key) } }
}

/** The GraphQL names of a verb's fields; errors list only those allowed fields that are in the mutation's own input. */
function namingOf(info: GraphQLResolveInfo, path: PathFields): FieldNaming {
  const inputFields = inputFieldsOf(info)
  return {
    nameOf: (field) => (field === 'body' ? 'input' : (path[field]?.[0] ?? camelCase(field))),
    isKnown: (name) => inputFields.has(name),
  }
}

/** Names of the fields of a mutation's input. */
function inputFieldsOf({ parentType, fieldName }: GraphQLResolveInfo): Set<string> {
  const types = parentType.getFields()[fieldName]?.args.map(({ type }) => getNamedType(type)) ?? []
  return new Set(types.flatMap((type) => (isInputObjectType(type) ? Object.keys(type.getFields()) : [])))
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
