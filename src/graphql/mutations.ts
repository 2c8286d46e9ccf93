// The place of the mutation root (interface.md, "GraphQL"). There are no mutations yet, and a schema may have no empty
// type, so `Mutation` appears with the first one.
import type { Plan } from '#core/plans.ts'
import type { Builder } from './builder.ts'

/** An operation that contains a mutation is refused whole below this plan. */
export const MUTATIONS_NEED: Plan = 'plus'

/** Every mutation of the schema: each adds its fields to the mutation root. */
const MUTATIONS: readonly ((builder: Builder) => void)[] = []

export function implementMutations(builder: Builder): void {
  if (MUTATIONS.length === 0) return
  builder.mutationType({ description: 'What can be changed; Plus and above.' })
  for (const implement of MUTATIONS) implement(builder)
}
