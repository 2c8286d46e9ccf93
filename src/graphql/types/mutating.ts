// Calls verbs from mutations: translates names both ways and gives each mutation of a document its own context.
import { getNamedType, type GraphQLResolveInfo, isInputObjectType } from 'graphql'
import { ServiceError } from '#core/errors.ts'
import type { TSchema } from '#core/input.ts'
import type { FieldNaming } from '#core/problems.ts'
import { call, type Verb } from '#core/verb.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import { camelCase, renameErrorFields } from '../execution/errors.ts'

/** The argument that REST has in the path: its name in the verb, its GraphQL argument and its value. */
type PathFields = Readonly<Record<string, readonly [argument: string, value: unknown]>>

/**
 * Calls a verb with fields in GraphQL names. Fields that were not sent stay absent, null stays null.
 * @param input fields whose name in the verb is their own in snake_case
 */
export async function callByFields<Ctx extends GraphqlCtx, In extends TSchema, Out>(
  target: Verb<Ctx, In, Out | Promise<Out>>,
  ctx: Ctx,
  info: GraphQLResolveInfo,
  input: object,
  path: PathFields = {},
): Promise<Out> {
  const fields = Object.entries(input).map(([name, value]) => [snakeCase(name), value] as const)
  const ids = Object.entries(path).map(([name, [, value]]) => [name, value] as const)
  try {
    const sent = Object.fromEntries([...fields, ...ids, ...(ctx.dryRun ? [['dry_run', true] as const] : [])])
    return await call(target, contextOfField(ctx, info), sent, [...Object.keys(path), 'dry_run'])
  } catch (error) {
    throw error instanceof ServiceError ? renameErrorFields(error, namingOf(info, path)) : error
  }
}

/** A document may contain several mutations: the result of each is stored as a part of the request. */
function contextOfField<Ctx extends GraphqlCtx>(ctx: Ctx, { path }: GraphQLResolveInfo): Ctx {
  return { ...ctx, idempotency: ctx.idempotency && { ...ctx.idempotency, part: String(path.key) } }
}

/** The GraphQL names of a verb's fields; errors list only those allowed fields that are in the mutation's own input. */
function namingOf(info: GraphQLResolveInfo, path: PathFields): FieldNaming {
  const known = inputFieldsOf(info)
  return {
    nameOf: (field) => (field === 'body' ? 'input' : (path[field]?.[0] ?? camelCase(field))),
    isKnown: (name) => known.has(name),
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
