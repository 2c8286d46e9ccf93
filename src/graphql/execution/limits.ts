// Size limits of GraphQL documents by plan.
import { type DocumentNode, Kind, type SelectionSetNode } from 'graphql'
import type { Plan } from '#core/plans.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { Caller } from '#core/verb.ts'
import { fragmentsOf } from './collect.ts'

export interface Limits {
  tokens: number
  /** fields inside fields */
  depth: number
  aliases: number
  /** values in a response, as estimated by `costOf` */
  cost: number
}

const LIMITS: Record<Plan, Limits> = {
  starter: { tokens: 1_000, depth: 16, aliases: 30, cost: 5_000 },
  professional: { tokens: 2_000, depth: 16, aliases: 60, cost: 10_000 },
  plus: { tokens: 2_000, depth: 16, aliases: 100, cost: 20_000 },
  enterprise: { tokens: 2_000, depth: 16, aliases: 100, cost: 40_000 },
}

/** Introspection is the same for every plan, so its limit is, too. */
export const INTROSPECTION_COST = 20_000
/** Bytes of a body. */
export const BODY_LIMIT = 128 * 1024
/** Characters of a document, including comments and strings. */
export const MAX_DOCUMENT = 32_768
/** Bytes of a response. */
export const MAX_ANSWER = 2_000_000

/** The limits of the largest plan: beyond them a document is not even validated. */
export const LARGEST_LIMITS: Limits = LIMITS.enterprise

export function limitsOf(viewer: Caller): Limits {
  return viewer.kind === 'operator' ? LARGEST_LIMITS : LIMITS[viewer.plan]
}

export type Size = Omit<Limits, 'cost'>

/** Size of a document; fragments are expanded, each counted once. */
export function sizeOf(document: DocumentNode): Size {
  const fragments = fragmentsOf(document)
  const depths = new Map<string, number>()
  let aliases = 0
  let depth = 0
  const depthOf = ({ selections }: SelectionSetNode): number => {
    let deepest = 0
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (selection.alias) aliases += 1
        deepest = Math.max(deepest, 1 + (selection.selectionSet ? depthOf(selection.selectionSet) : 0))
      } else if (selection.kind === Kind.INLINE_FRAGMENT) deepest = Math.max(deepest, depthOf(selection.selectionSet))
      else deepest = Math.max(deepest, fragmentDepth(selection.name.value))
    }
    return deepest
  }
  const fragmentDepth = (name: string): number => {
    const known = depths.get(name)
    if (known !== undefined) return known
    // A fragment that contains itself counts as 0 here; validation rejects it.
    depths.set(name, 0)
    const fragment = fragments.get(name)
    const found = fragment ? depthOf(fragment.selectionSet) : 0
    depths.set(name, found)
    return found
  }
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) depth = Math.max(depth, depthOf(definition.selectionSet))
    else if (definition.kind === Kind.FRAGMENT_DEFINITION) fragmentDepth(definition.name.value)
  }
  return { tokens: document.tokenCount ?? 0, depth, aliases }
}

/** Why a document is too large; null if it is not. */
export function tooLarge(size: Size, limits: Limits): Reason | null {
  if (size.tokens > limits.tokens) return reason('at_most', { part: 'document', units: 'tokens', max: limits.tokens, count: size.tokens })
  if (size.depth > limits.depth) return reason('at_most', { part: 'document', units: 'levels', max: limits.depth, count: size.depth })
  if (size.aliases > limits.aliases) return reason('at_most', { part: 'document', units: 'aliases', max: limits.aliases, count: size.aliases })
  return null
}
