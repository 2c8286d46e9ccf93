// The pages that anyone with the link of a shared collection may read, without a key: the collection, and the picture of its worth by day.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { paramReader, Type } from '#core/input.ts'
import { offsetOf, pageParams, pagination, type Range } from '#core/paging.ts'
import { type Language, languageInQuery, languageOf } from '#http/language.ts'
import type { RawQuery } from '#http/query.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { missingPage, sharedPage } from './page.ts'
import type { SharedDaysView, SharedView } from './shared-types.ts'
import { worthSvg } from './worth-svg.ts'

/** What the routes need of a node. */
export interface SharedNode {
  /** @throws NOT_FOUND for a link that leads nowhere, whatever the reason */
  read: (token: string, range: Range) => Promise<SharedView>
  /** @throws NOT_FOUND as `read` does */
  readDays: (token: string) => Promise<SharedDaysView>
}

const ITEMS_PER_PAGE = 60
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' https: http:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
const readPage = paramReader(Type.Object(pageParams(ITEMS_PER_PAGE)))

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/**
 * Marks all responses of a scope: a link that was revoked must end everywhere at once, and the address that contains it stays with its readers.
 * @param admit throws RATE_LIMITED
 */
export function guardShared(scope: FastifyInstance, admit: (request: FastifyRequest) => void): void {
  scope.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' })
    admit(request)
    done()
  })
}

/** Adds the pages to a guarded scope. */
export function addSharedPages(scope: FastifyInstance, { read, readDays }: SharedNode): void {
  const get = (path: string, answer: Answer) => {
    scope.get(path, { schema: { hide: true } as object }, answer)
    registerOtherMethods(scope, path, ['GET'])
  }
  const found = async (request: FastifyRequest) => {
    const { page = 1, per_page: perPage = ITEMS_PER_PAGE } = readPage(onlyPaging(request.query)) as { page?: number; per_page?: number }
    const collection = await read(tokenIn(request), { limit: perPage, offset: offsetOf(page, perPage) })
    return { collection, page, position: pagination(page, perPage, collection.items_count) }
  }
  get('/shared/:token', async (request, reply) => {
    const language = languageFor(request)
    reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).header('content-language', language)
    try {
      const { collection, page, position } = await found(request)
      allowIndexing(reply, collection)
      return sharedPage({ collection, language, path: `/shared/${tokenIn(request)}`, page, lastPage: position.last_page })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error
      return reply.code(404).send(missingPage(language))
    }
  })
  get('/shared/:token/worth.svg', async (request, reply) => {
    const days = await readDays(tokenIn(request))
    allowIndexing(reply, days)
    reply.type('image/svg+xml; charset=utf-8').header('content-security-policy', PICTURE_POLICY)
    // Pages of any origin may embed it.
    reply.header('cross-origin-resource-policy', 'cross-origin').header('x-content-type-options', 'nosniff')
    return worthSvg(days, languageFor(request))
  })
}

function tokenIn({ params }: FastifyRequest): string {
  return (params as { token: string }).token
}

/** Search engines may list only a collection that its owner has made public. */
function allowIndexing(reply: FastifyReply, { visibility }: Pick<SharedView, 'visibility'>): void {
  if (visibility === 'public') reply.removeHeader('x-robots-tag')
}

function onlyPaging(query: unknown): RawQuery {
  return Object.fromEntries(Object.entries(query as RawQuery).filter(([name]) => name === 'page' || name === 'per_page'))
}

/** The language in the query, otherwise the one that the browser prefers. */
function languageFor({ query, headers }: FastifyRequest): Language {
  return languageInQuery(query) ?? languageOf(headers['accept-language'])
}
