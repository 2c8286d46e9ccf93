// How a mutation calls a verb: names translated both ways, and a context of its own for each mutation of a document.
import type { GraphQLResolveInfo } from 'graphql'
import { type Problem, ServiceError } from '#core/errors.ts'
import type { TSchema } from '#core/input.ts'
import { call, type Verb } from '#core/verb.ts'
import type { GraphqlCtx } from './context.ts'

/**
 * Calls a verb with fields as GraphQL names them. Fields that were not sent stay absent, null stays null.
 * @param names of fields whose name in the verb is not their own in snake_case
 */
export async function callByFields<Ctx extends GraphqlCtx, In extends TSchema, Out>(
  target: Verb<Ctx, In, Promise<Out>>,
  ctx: Ctx,
  info: GraphQLResolveInfo,
  fields: Record<string, unknown>,
  names: Readonly<Record<string, string>> = {},
): Promise<Out> {
  const input = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [names[name] ?? snakeCase(name), value]),
  )
  try {
    return await call(target, ofItsOwn(ctx, info), input)
  } catch (error) {
    throw error instanceof ServiceError && error.details ? renamed(error, error.details, names) : error
  }
}

/** A document may hold several mutations: an idempotency key stands for each of them by its place. */
function ofItsOwn<Ctx extends GraphqlCtx>(ctx: Ctx, { path }: GraphQLResolveInfo): Ctx {
  const { idempotency } = ctx
  // If-Match is about one thing, a document may change many.
  return {
    ...ctx,
    precondition: null,
    idempotency: idempotency && { ...idempotency, key: `${idempotency.key} ${path.key}` },
  }
}

/** The error with fields as GraphQL names them. */
function renamed(error: ServiceError, details: Problem[], names: Readonly<Record<string, string>>): ServiceError {
  const ours = new Map(Object.entries(names).map(([name, field]) => [field, name]))
  const problems = details.map(({ field, message }) => ({
    field: ours.get(field) ?? camelCase(field),
    message: message.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, camelCase),
  }))
  const first = problems[0]
  const message = first ? `${first.field} ${first.message}` : error.message
  return new ServiceError(error.code, message, { details: problems, cause: error })
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}
