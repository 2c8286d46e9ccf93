// Pagination by page number: the parameters and the pagination object of every paged list, and the verbs that read one.
import { type Static, type TSchema, Type } from './input.ts'
import { type HasViewer, type Need, type Verb, verb } from './verb.ts'

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

/** The rows of a list to read: at most `limit`, after the first `offset`. */
export interface Range {
  limit: number
  offset: number
}

/** The rows of a range, and the number of all rows of the list. */
export interface Rows<T> {
  rows: T[]
  total: number
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

interface DeclaredList<Filters extends Type.TProperties> {
  /** as the verb is exported */
  name: string
  needs: Need
  /** the other fields of the input: filters, sort order, and the id of what the list belongs to */
  filters?: Filters
  perPage?: number
}

/**
 * Declares a verb that reads a list page by page.
 * @param read returns the rows of the range among those that the filters select
 */
export function listVerb<Ctx extends HasViewer, Filters extends Type.TProperties, Row>(
  { name, needs, filters, perPage }: DeclaredList<Filters>,
  read: (ctx: Ctx, filter: Static<Type.TObject<Filters>>, range: Range) => Promise<Rows<Row>>,
): Verb<Ctx, TSchema, Promise<Page<Row>>> {
  const input = Type.Object({ ...filters, ...pageParams(perPage) } as Type.TProperties)
  return verb<Ctx, TSchema, Promise<Page<Row>>>({ name, needs, input }, (ctx, sent) =>
    readPage(sent as PageInput, (filter, range) => read(ctx, filter as Static<Type.TObject<Filters>>, range), perPage),
  )
}

/**
 * Reads the page of a list that an input requests.
 * @param read returns the rows of the range among those that the other fields select
 * @param defaultPerPage the value passed to `pageParams`
 */
export async function readPage<Input extends PageInput, Row>(
  input: Input,
  read: (filter: Omit<Input, keyof PageInput>, range: Range) => Promise<Rows<Row>>,
  defaultPerPage = PER_PAGE,
): Promise<Page<Row>> {
  const { page = 1, per_page: perPage = defaultPerPage, ...filter } = input
  const { rows, total } = await read(filter, { limit: perPage, offset: offsetOf(page, perPage) })
  return { rows, pagination: pagination(page, perPage, total) }
}

/** Number of rows before a page; at most the largest number that SQL accepts, which is past the end of every list. */
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
    current_page: Type.Integer({ description: 'Page number, from 1' }),
    per_page: Type.Integer({ description: 'Entries per page' }),
    total: Type.Integer({ description: 'Exact number of entries on all pages' }),
    last_page: Type.Integer({ description: 'At least 1' }),
    has_more: Type.Boolean({ description: 'Whether there is a next page' }),
  },
  { title: 'Pagination', examples: [{ current_page: 1, per_page: 20, total: 412, last_page: 21, has_more: true }] },
)
