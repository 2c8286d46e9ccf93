// How a mutation calls a verb: names translated both ways, and a context of its own for each mutation of a document.
import { getNamedType, type GraphQLResolveInfo, isInputObjectType } from 'graphql'
import { type Problem, ServiceError } from '#core/errors.ts'
import type { TSchema } from '#core/input.ts'
import { call, type Verb } from '#core/verb.ts'
import type { GraphqlCtx } from './context.ts'

/** What a verb finds in the path over REST, by its name there: the GraphQL argument and its value. */
type PathFields = Readonly<Record<string, readonly [argument: string, value: unknown]>>

/**
 * Calls a verb with fields as GraphQL names them. Fields that were not sent stay absent, null stays null.
 * @param input fields whose name in the verb is their own in snake_case
 */
export async function callByFields<Ctx extends GraphqlCtx, In extends TSchema, Out>(
  target: Verb<Ctx, In, Promise<Out>>,
  ctx: Ctx,
  info: GraphQLResolveInfo,
  input: object,
  path: PathFields = {},
): Promise<Out> {
  const fields = Object.entries(input).map(([name, value]) => [snakeCase(name), value] as const)
  const ids = Object.entries(path).map(([name, [, value]]) => [name, value] as const)
  try {
    return await call(target, ofItsOwn(ctx, info), Object.fromEntries([...fields, ...ids]))
  } catch (error) {
    throw error instanceof ServiceError && error.details ? renamed(error, error.details, info, path) : error
  }
}

/** A document may hold several mutations: the result of each is kept as a part of the request. */
function ofItsOwn<Ctx extends GraphqlCtx>(ctx: Ctx, { path }: GraphQLResolveInfo): Ctx {
  return { ...ctx, idempotency: ctx.idempotency && { ...ctx.idempotency, part: String(path.key) } }
}

/** The message with another list of names at its end, where it has one. */
function withList(message: string, listed: (names: string) => string): string {
  const lead = /(?:possible are|at least one of) /.exec(message)
  const start = lead ? lead.index + lead[0].length : message.length
  return message.slice(0, start) + (start < message.length ? listed(message.slice(start)) : '')
}

/** The error with fields as GraphQL names them. */
function renamed(error: ServiceError, details: Problem[], info: GraphQLResolveInfo, path: PathFields): ServiceError {
  const possible = inputFieldsOf(info)
  const nameOf = (field: string) => path[field]?.[0] ?? camelCase(field)
  const listed = (names: string) => names.split(', ').filter((name) => !(name in path)).map(camelCase).filter((name) => possible.has(name)).join(', ')
  const problems = details.map(({ field, message }) => ({
    field: field === 'body' ? 'input' : nameOf(field),
    // Its fields are known to the schema, so that only what this mutation does not take is refused as unknown.
    message: withList(message.replace('is not a known field; known are', 'cannot be given here; possible are'), listed)
      .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, camelCase),
  }))
  const first = problems[0]
  const message = first ? `${first.field} ${first.message}` : error.message
  return new ServiceError(error.code, message, { details: problems, cause: error })
}

/** Names of the fields of a mutation's input. */
function inputFieldsOf({ parentType, fieldName }: GraphQLResolveInfo): Set<string> {
  const types = parentType.getFields()[fieldName]?.args.map(({ type }) => getNamedType(type)) ?? []
  return new Set(types.flatMap((type) => (isInputObjectType(type) ? Object.keys(type.getFields()) : [])))
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}
