// The mutation root (interface.md, "GraphQL"), assembled from the mutations of each module.
import type { Plan } from '#core/plans.ts'
import type { Builder } from '../building/builder.ts'
import { implementCollectionMutations } from './collection-mutations.ts'
import { implementListingMutations } from './listing-mutations.ts'
import { implementWebhookMutations } from './webhook-mutation.ts'

/** On a smaller plan, an operation that contains a mutation is rejected as a whole. */
export const MUTATIONS_NEED: Plan = 'plus'

/** Every mutation of the schema: each adds its fields to the mutation root. */
const MUTATIONS: readonly ((builder: Builder) => void)[] = [implementCollectionMutations, implementListingMutations, implementWebhookMutations]

export function implementMutations(builder: Builder): void {
  builder.mutationType({ description: 'Mutations; Plus and above.' })
  for (const implement of MUTATIONS) implement(builder)
}
