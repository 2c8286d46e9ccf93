// Gated fields of Item: null for Starter, without an error, as core/plans.ts lists them.
import { type GraphQLFieldResolver, GraphQLObjectType, type GraphQLSchema } from 'graphql'
import { shapeFor } from '#catalogue/context.ts'
import { GRAPHQL_ITEM_FIELDS_FROM_PROFESSIONAL } from '#core/plans.ts'
import type { GraphqlCtx } from '../execution/context.ts'

type Resolver = GraphQLFieldResolver<unknown, GraphqlCtx>

/** Adds the plan check to the resolvers of gated fields, and to their descriptions. */
export function gateItemFields(schema: GraphQLSchema): void {
  const item = schema.getType('Item')
  if (!(item instanceof GraphQLObjectType)) throw new Error('The schema has no type Item')
  for (const name of GRAPHQL_ITEM_FIELDS_FROM_PROFESSIONAL) {
    const field = item.getFields()[name]
    if (!field?.resolve) throw new Error(`Item has no field ${name} that could be gated`)
    const open: Resolver = field.resolve
    const gated: Resolver = (source, args, ctx, info) => (shapeFor(ctx.viewer) === 'full' ? open(source, args, ctx, info) : null)
    field.resolve = gated
    field.description = `${field.description} Professional and above; null for Starter.`
  }
}
