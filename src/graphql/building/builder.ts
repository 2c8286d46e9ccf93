// Schema builder with our context, the mutually recursive types, and the query cost of fields.
import SchemaBuilder from '@pothos/core'
import type { CategorySlice } from '#catalogue/categories/browse-categories.ts'
import type { ItemSlice } from '#catalogue/items/page-items.ts'
import type { Plan } from '#core/plans.ts'
import type { Category } from '#catalogue/index/category-tree.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import type { ItemSource } from '../execution/item-source.ts'

export interface FieldCost {
  /** entries of a list that a query is charged for */
  entries?: number
  /** argument whose list has an entry for each entry of the field */
  listed?: string
  /** values that a field itself is charged for; 1 unless set */
  weight?: number
  /** bounds of `first`, or of another argument, which sets how many entries of the page below the field are charged for */
  first?: { default: number; max: number; argument?: string }
  /** whether the field is the list of such a page; `nodes` always is */
  ofPage?: boolean
}

/** A field's extensions with its cost. */
export function cost(fieldCost: FieldCost): { cost: FieldCost } {
  return { cost: fieldCost }
}

/** Extension of fields that are read from the database: queries with them are executed for each caller separately, and never cached. */
export const fromDatabase = { fromDatabase: true }

/** Extension of root fields from memory whose resolvers add what they read to `reads` of the context: changes of other prices leave a cached response valid. */
export const followed = { followed: true }

/** Extension of fields whose value changes with other items: an item with one of them is never cached as bytes. */
export const dependsOnOthers = { ofOthers: true }

/** Extension of fields that need this plan: on a smaller plan, an operation with one of them is rejected as a whole. */
export function requiresPlan(plan: Plan): { needs: Plan } {
  return { needs: plan }
}

export type Builder = ReturnType<typeof newBuilder>

export function newBuilder() {
  return new SchemaBuilder<{ Context: GraphqlCtx }>({})
}

export type Refs = ReturnType<typeof newRefs>

export function newRefs(builder: Builder) {
  return {
    item: builder.objectRef<ItemSource>('Item'),
    category: builder.objectRef<Category>('Category'),
    itemPage: builder.objectRef<ItemSlice>('ItemConnection'),
    categoryPage: builder.objectRef<CategorySlice>('CategoryConnection'),
    pageInfo: builder.objectRef<Pick<ItemSlice, 'hasNextPage' | 'endCursor'>>('PageInfo'),
  }
}
