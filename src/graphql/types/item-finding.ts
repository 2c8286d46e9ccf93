// Item lookup by external ids and card suggestions, as under /items/lookup and /items/suggest over REST.
import { MAX_SUGGESTIONS, type Suggestion, SuggestionSchema, suggestItems, suggestionOf } from '#catalogue/search/suggest-items.ts'
import { call } from '#core/verb.ts'
import { type LookedUpItem, lookupItems } from '#identity/lookup-items.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, type Refs } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'
import type { GraphqlCtx, QueryCtx } from '../execution/context.ts'
import { itemSource, itemSources } from '../execution/item-source.ts'

/** A search scans the whole catalogue. */
export const SUGGESTIONS_COST = cost({ weight: 50, entries: MAX_SUGGESTIONS })

/** Each identifier has a result. */
export const LOOKUP_COST = { ...cost({ weight: 10, listed: 'ids' }), ...fromDatabase }

export interface IdentifierArgs {
  source?: string | null
  id?: string | null
  set?: string | null
  number?: string | null
  finish?: string | null
}

export function resolveSuggestions(args: { q?: string | null }, ctx: QueryCtx): Suggestion[] {
  return call(suggestItems, ctx, withoutNulls(args)).rows.map((row) => suggestionOf(ctx.catalogue, row))
}

/** @throws VALIDATION_ERROR as over REST */
export async function resolveLookup({ ids }: { ids: readonly IdentifierArgs[] }, ctx: GraphqlCtx): Promise<LookedUpItem[]> {
  return (await call(lookupItems, ctx, { ids: ids.map(withoutNulls) })).found
}

export function addItemFindingTypes(builder: Builder, refs: Refs) {
  const suggestion = objectFrom(builder, SuggestionSchema, { omit: ['category'] })
  builder.objectField(suggestion, 'category', (t) =>
    t.field({
      type: refs.category,
      description: 'Category of the card.',
      resolve: ({ category }, _args, { catalogue }) => category && catalogue.categories.get(category.id),
    }),
  )
  const lookedUpItem = builder.objectRef<LookedUpItem>('LookedUpItem').implement({
    description: 'Result for one identifier.',
    fields: (t) => ({
      state: t.exposeString('state', {
        nullable: false,
        description: '`found`, `ambiguous` (several items match) or `unknown`.',
      }),
      item: t.field({
        type: refs.item,
        description: 'The item; null unless the state is `found`.',
        resolve: (one) => (one.state === 'found' ? itemSource(one.rows[0]!) : null),
      }),
      candidates: t.field({
        type: [refs.item],
        description: 'Matching items; null unless the state is `ambiguous`.',
        resolve: (one) => (one.state === 'ambiguous' ? itemSources(one.rows) : null),
      }),
    }),
  })
  const identifier = builder.inputType('ItemIdentifierInput', {
    description: 'Identifier of an item: either `source` and `id`, or `set` and `number`.',
    fields: (t) => ({
      source: t.string({ description: 'Catalogue or shop that issued the id, such as `pokemontcg` or `cardmarket`.' }),
      id: t.string({ description: 'Id of the item in that source.' }),
      set: t.string({ description: 'Name, code, slug or id of a set.' }),
      number: t.string({ description: 'Collector number, with or without leading zeros and total.' }),
      finish: t.string({ description: 'Printing in any spelling, such as `Reverse Holofoil`; default: the plain one.' }),
    }),
  })
  return { suggestion, lookedUpItem, identifier }
}
