// The public catalogue endpoints: verbs to ready bytes, with entity tags.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CatalogueCtx } from '#catalogue/context.ts'
import { getItem } from '#catalogue/get-item.ts'
import { ItemSchema } from '#catalogue/item-schemas.ts'
import { type ItemPage, listItems } from '#catalogue/list-items.ts'
import { searchItems } from '#catalogue/search-items.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { ItemShape } from '#catalogue/snapshot/item-json.ts'
import { Type } from '#core/input.ts'
import type { Route } from '#http/routes.ts'

interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}

export function catalogueRoutes(catalogue: Catalogue): Route<CatalogueCtx>[] {
  const page = ({ rows, shape, pagination }: ItemPage, exchange: Exchange) => {
    const extra = pagination.total * 31 + pagination.current_page * 7 + pagination.per_page
    return tagged(catalogue.pageTag(rows, shape, extra), exchange, () =>
      catalogue.pageBytes(rows, shape, '{"success":true,"data":[', `],"pagination":${JSON.stringify(pagination)}}`),
    )
  }
  const item = ({ rows, shape }: { rows: Int32Array; shape: ItemShape }, exchange: Exchange) =>
    tagged(catalogue.pageTag(rows, shape, 0), exchange, () => catalogue.pageBytes(rows, shape, '{"success":true,"data":', '}'))
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
      errors: ['VALIDATION_ERROR'],
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
      errors: ['VALIDATION_ERROR'],
    },
    {
      method: 'GET',
      path: '/items/:id',
      verb: getItem,
      summary: 'Read an item',
      tag: 'Catalogue',
      answer: item,
      data: ItemSchema,
      errors: ['ITEM_NOT_FOUND', 'VALIDATION_ERROR'],
    },
  ]
}

/** Answers 304 without a body where the caller has this state already. */
function tagged(tag: string, { request, reply }: Exchange, bytes: () => Buffer): Buffer | null {
  reply.header('etag', tag)
  const known = request.headers['if-none-match']
  if (known === undefined || !matchesTag(known, tag)) return bytes()
  reply.code(304)
  return null
}

/** `If-None-Match` compares weakly: proxies that compress mark tags with `W/`. */
function matchesTag(header: string, tag: string): boolean {
  return header === '*' || header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
