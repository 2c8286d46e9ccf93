// Adds the argument `dryRun` to every mutation, for the input field `dry_run` of its verb.
import { type GraphQLArgument, type GraphQLArgumentConfig, GraphQLBoolean, type GraphQLField, type GraphQLSchema, TypeMetaFieldDef } from 'graphql'
import { NOTHING_CHANGED } from '#db/changes/write-verb.ts'
import type { GraphqlCtx } from '../execution/context.ts'

const ARGUMENT = {
  description:
    'Changes nothing and returns what the mutation would return, with `forecast` where it has this field; ids of new objects do not exist.',
  type: GraphQLBoolean,
  defaultValue: false,
}

/** The package exports this class only as a type. */
const Argument = TypeMetaFieldDef.args[0]!.constructor as new (field: GraphQLField, name: string, config: GraphQLArgumentConfig) => GraphQLArgument

/** Resolvers get a context with `dryRun`, which `callByFields` passes to the verb. */
export function addDryRuns(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()!.getFields())) {
    const { resolve } = field
    field.args = [...field.args, new Argument(field, 'dryRun', ARGUMENT)]
    field.resolve = async (root, { dryRun, ...args }: Record<string, unknown>, ctx: GraphqlCtx, info) => {
      if (dryRun !== true) return resolve!(root, args, ctx, info)
      const result = (await resolve!(root, args, { ...ctx, dryRun }, info)) as object
      return 'message' in result ? { ...result, message: NOTHING_CHANGED } : result
    }
  }
}
