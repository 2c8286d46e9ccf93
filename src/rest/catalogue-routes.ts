// The public catalogue endpoints: verbs to ready bytes, with entity tags.
import type { CatalogueNode } from '#catalogue/context.ts'
import { getItem } from '#catalogue/get-item.ts'
import { ItemSchema } from '#catalogue/item-schemas.ts'
import { type ItemPage, listItems } from '#catalogue/list-items.ts'
import { searchItems } from '#catalogue/search-items.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { ItemShape } from '#catalogue/snapshot/item-json.ts'
import { Type } from '#core/input.ts'
import type { HasViewer } from '#core/verb.ts'
import type { ReadyAnswer, Route } from '#http/route.ts'

/** Items from memory, as ready bytes. */
export function catalogueRoutes(catalogue: Catalogue): Route<CatalogueNode & HasViewer>[] {
  const ready = (rows: Int32Array, shape: ItemShape, state: number, head: string, tail: string): ReadyAnswer => ({
    tag: catalogue.pageTag(rows, shape, state),
    bytes: () => catalogue.pageBytes(rows, shape, head, tail),
  })
  const page = ({ rows, shape, pagination }: ItemPage): ReadyAnswer => {
    const state = pagination.total * 31 + pagination.current_page * 7 + pagination.per_page
    return ready(rows, shape, state, '{"success":true,"data":[', `],"pagination":${JSON.stringify(pagination)}}`)
  }
  const item = ({ rows, shape }: { rows: Int32Array; shape: ItemShape }): ReadyAnswer =>
    ready(rows, shape, 0, '{"success":true,"data":', '}')
  return [
    {
      method: 'GET',
      path: '/items',
      verb: listItems,
      summary: 'List items',
      description:
        'Starter gets `id`, `name`, `code`, `category` (`id`, `name`), `prices` and `groups` (`id`, `name`); Professional and above get all fields.',
      tag: 'Catalogue',
      answer: page,
      data: Type.Array(ItemSchema),
      paged: true,
    },
    {
      method: 'GET',
      path: '/items/search',
      verb: searchItems,
      summary: 'Search items',
      description: 'Ranked: exact code, exact name, name prefix, word prefix, infix, one typo; ties by name.',
      tag: 'Catalogue',
      answer: page,
      data: Type.Array(ItemSchema),
      paged: true,
    },
    {
      method: 'GET',
      path: '/items/:id',
      verb: getItem,
      summary: 'Read an item',
      tag: 'Catalogue',
      answer: item,
      cheap: true,
      data: ItemSchema,
      errors: ['ITEM_NOT_FOUND'],
    },
  ]
}
