// The type Category (interface.md, "GraphQL Category").
import { childrenOf } from '#catalogue/categories/browse-categories.ts'
import { ITEMS_FIRST } from '#catalogue/items/page-items.ts'
import { cost, dependsOnOthers, type Refs } from '../building/builder.ts'
import { ITEMS_COST, itemsPage } from '../building/pages.ts'

export function implementCategory(refs: Refs): void {
  refs.category.implement({
    description: 'A set, series or other group of items. Categories form one tree per market.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique id.' }),
      name: t.exposeString('name', { nullable: false, description: 'Name, such as `Base Set`.' }),
      slug: t.exposeString('slug', { nullable: false, description: 'URL-friendly unique name.' }),
      image: t.string({
        description: 'URL of its image; null if there is none.',
        resolve: ({ id, image }, _args, { catalogue }) => image && catalogue.addresses.ofCategory(id, image),
      }),
      parent: t.field({
        type: refs.category,
        description: 'Parent category; null for a root.',
        resolve: ({ parentId }, _args, { catalogue }) => (parentId === null ? null : catalogue.categories.get(parentId)),
      }),
      children: t.field({
        type: [refs.category],
        description: 'Direct child categories, by id.',
        extensions: cost({ entries: 30 }),
        resolve: ({ id }, _args, { catalogue }) => childrenOf(catalogue.categories, id),
      }),
      items: t.field({
        type: refs.itemPage,
        description: 'Items of the category and all categories below it, by name.',
        extensions: ITEMS_COST,
        args: {
          first: t.arg.int({ defaultValue: ITEMS_FIRST.default, description: 'Items per page, 1 to 100.' }),
          after: t.arg.string({ description: 'The `endCursor` of the previous page.' }),
        },
        resolve: ({ id }, args, ctx) => itemsPage({ ...args, categoryId: id }, ctx),
      }),
      itemsCount: t.int({
        nullable: false,
        description: 'Number of items in it and in all categories below it.',
        extensions: { ...cost({ weight: 5 }), ...dependsOnOthers },
        resolve: ({ id }, _args, { catalogue }) => catalogue.items.countIn(catalogue.categories.subtree(id)),
      }),
    }),
  })
}
