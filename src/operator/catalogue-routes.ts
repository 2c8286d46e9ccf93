// Operator API: categories, items and groups.
import { changeCategory } from '#catalogue/categories/change-category.ts'
import { changeItem } from '#catalogue/items/change-item.ts'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { completeQuery, CompletionsSchema } from '#catalogue/search/complete-query.ts'
import type { CatalogueNode } from '#catalogue/context.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import type { Completions } from '#catalogue/field-query/complete.ts'
import {
  explainStoredPrice,
  type StoredExplainCtx,
  type StoredPriceExplanation,
  StoredPriceExplanationSchema,
} from '#catalogue/items/explain-price.ts'
import { getStoredItem, type ListedItems, listItemSources, listStoredItems } from '#catalogue/items/read-stored-items.ts'
import { listStoredCategories } from '#catalogue/categories/list-stored-categories.ts'
import { type Group, GroupSchema, listGroups } from '#catalogue/categories/list-groups.ts'
import {
  ListedItemSchema,
  type PricedItem,
  PricedItemSchema,
  type StatedItemSource,
  StatedItemSourceSchema,
  type StoredCategory,
  StoredCategorySchema,
  type StoredItem,
  StoredItemSchema,
} from '#catalogue/stored-schemas.ts'
import { Type } from '#core/input.ts'
import { paged, type Route } from '#http/route.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

export const catalogueRoutes: Route<PriceWriteCtx & StoredExplainCtx & CatalogueNode>[] = [
  {
    method: 'POST',
    path: '/categories',
    verb: createCategory,
    summary: 'Create a category',
    tag: 'Catalogue',
    status: 201,
    answer: (category: StoredCategory) => ({ data: category, message: 'Category created' }),
    data: StoredCategorySchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    path: '/categories',
    ...paged(listStoredCategories, StoredCategorySchema),
    summary: 'List categories, oldest first',
    tag: 'Catalogue',
  },
  {
    method: 'PATCH',
    path: '/categories/:id',
    verb: changeCategory,
    summary: 'Change a category',
    description: 'Omitted fields stay unchanged. A category cannot be moved below itself or to another market.',
    tag: 'Catalogue',
    answer: (category: StoredCategory) => ({ data: category, message: 'Category updated' }),
    data: StoredCategorySchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
  {
    method: 'POST',
    path: '/items',
    verb: createItem,
    summary: 'Create an item',
    tag: 'Catalogue',
    status: 201,
    answer: (item: StoredItem) => ({ data: item, message: 'Item created' }),
    data: StoredItemSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    method: 'GET',
    path: '/items',
    verb: listStoredItems,
    summary: 'List items with their price, oldest first',
    tag: 'Catalogue',
    answer: ({ rows, pagination, query }: ListedItems) => ({ data: rows, pagination, ...(query !== undefined && { extra: { query } }) }),
    data: Type.Array(ListedItemSchema),
    paged: true,
    extra: { query: Type.Optional(Type.String({ description: 'Canonical form of the field query, if one was sent' })) },
  },
  {
    method: 'GET',
    path: '/query-completions',
    verb: completeQuery,
    summary: 'Complete a field query',
    description: 'Returns field names, and catalogue values for the field being typed.',
    tag: 'Catalogue',
    answer: (completions: Completions) => ({ data: completions }),
    data: CompletionsSchema,
  },
  {
    method: 'GET',
    path: '/items/:id',
    verb: getStoredItem,
    summary: 'Read an item with its current prices in all markets and its sources',
    description: 'An item combines the facts of its sources by precedence; `provenance` names the source of each fact.',
    tag: 'Catalogue',
    answer: (item: PricedItem) => ({ data: item }),
    data: PricedItemSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/items/:id/prices/explain',
    verb: explainStoredPrice,
    summary: 'Explain a price',
    description: 'Like `GET /api/v1/items/{id}/prices/explain`, with the held prices of the item.',
    tag: 'Catalogue',
    answer: (explanation: StoredPriceExplanation) => ({ data: explanation }),
    data: StoredPriceExplanationSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/items/:id/sources',
    verb: listItemSources,
    summary: 'List the facts each source states about an item, in order of precedence',
    tag: 'Catalogue',
    answer: (sources: StatedItemSource[]) => ({ data: sources }),
    data: Type.Array(StatedItemSourceSchema),
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/items/:id',
    verb: changeItem,
    summary: 'Change an item',
    description: 'Omitted fields stay unchanged; `images`, `attributes`, `groups`, `details` and `foreign_ids` are replaced as a whole.',
    tag: 'Catalogue',
    answer: (item: StoredItem) => ({ data: item, message: 'Item updated' }),
    data: StoredItemSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
  {
    method: 'GET',
    path: '/groups',
    verb: listGroups,
    summary: 'List groups and their grades',
    tag: 'Catalogue',
    answer: (groups: Group[]) => ({ data: groups }),
    data: Type.Array(GroupSchema),
  },
]
