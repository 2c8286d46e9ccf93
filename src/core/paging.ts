// Pages by number: the parameters every paged list takes, and the pagination object it answers with.
import { Type } from './input.ts'

/** `pagination` of the REST envelope (interface.md, "Response envelope"). */
export interface Pagination {
  current_page: number
  per_page: number
  total: number
  last_page: number
  has_more: boolean
}

export interface Page<T> {
  rows: T[]
  pagination: Pagination
}

/** `page` and `per_page` of a list; `per_page` is 1..100. */
export function pageParams(defaultPerPage: number) {
  return {
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1, description: 'Page number, from 1' }),
    ),
    per_page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: defaultPerPage, description: 'Entries on a page' }),
    ),
  }
}

export function pagination(page: number, perPage: number, total: number): Pagination {
  const lastPage = Math.max(1, Math.ceil(total / perPage))
  return { current_page: page, per_page: perPage, total, last_page: lastPage, has_more: page < lastPage }
}

export const PaginationSchema = Type.Object(
  {
    current_page: Type.Integer(),
    per_page: Type.Integer(),
    total: Type.Integer({ description: 'Exact number of entries over all pages' }),
    last_page: Type.Integer({ description: 'At least 1' }),
    has_more: Type.Boolean(),
  },
  { title: 'Pagination', examples: [{ current_page: 1, per_page: 20, total: 412, last_page: 21, has_more: true }] },
)
