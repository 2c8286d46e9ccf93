// Pagination by page number: the parameters and the pagination object of every paged list.
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

/** Entries per page, unless the request or the list says otherwise. */
export const PER_PAGE = 20

/** `page` and `per_page` of a list; `per_page` is 1..100. */
export function pageParams(defaultPerPage = PER_PAGE) {
  return {
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1, description: 'Page number, from 1' })),
    per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: defaultPerPage, description: 'Entries per page' })),
  }
}

interface PageInput {
  page?: number
  per_page?: number
}

/**
 * Reads the page of a list that an input requests.
 * @param read returns the rows that the other fields select, at most `limit` from `offset`, and their total
 * @param defaultPerPage the value passed to `pageParams`
 */
export async function readPage<Input extends PageInput, Row>(
  input: Input,
  read: (filter: Omit<Input, keyof PageInput>, limit: number, offset: number) => Promise<{ rows: Row[]; total: number }>,
  defaultPerPage = PER_PAGE,
): Promise<Page<Row>> {
  const { page = 1, per_page: perPage = defaultPerPage, ...filter } = input
  const { rows, total } = await read(filter, perPage, offsetOf(page, perPage))
  return { rows, pagination: pagination(page, perPage, total) }
}

/** Number of rows before a page; larger numbers than SQL has become one that is past every end. */
export function offsetOf(page: number, perPage: number): number {
  return Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)
}

/** The pagination object of a page. */
export function pagination(page: number, perPage: number, total: number): Pagination {
  const lastPage = Math.max(1, Math.ceil(total / perPage))
  return { current_page: page, per_page: perPage, total, last_page: lastPage, has_more: page < lastPage }
}

export const PaginationSchema = Type.Object(
  {
    current_page: Type.Integer(),
    per_page: Type.Integer(),
    total: Type.Integer({ description: 'Exact number of entries on all pages' }),
    last_page: Type.Integer({ description: 'At least 1' }),
    has_more: Type.Boolean(),
  },
  { title: 'Pagination', examples: [{ current_page: 1, per_page: 20, total: 412, last_page: 21, has_more: true }] },
)
