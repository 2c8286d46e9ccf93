// Serves pages that are built at installation, with headers that allow only their own scripts.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

const PAGE = 'index.html'

const headersFor = (pictures: string) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data:${pictures}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
})

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mintmark</title>
<h1>This page has not been built</h1><p>Run <code>npm ci</code> in the checkout to build it, then restart.</p></html>`

/**
 * Registers the pages of `dist/<name>` under `/<name>`; unknown paths below it return the first page, which handles routing in the
 * browser.
 * @param name of the pages, such as `console`
 * @param pictures sources of card pictures besides this service, for the content policy
 */
export function addBuiltPages(app: FastifyInstance, name: string, pictures: '' | ' https: http:'): void {
  const headers = headersFor(pictures)
  const hide = { schema: { hide: true } as object }
  const root = fileURLToPath(new URL(`../../dist/${name}/`, import.meta.url))
  const built = existsSync(`${root}${PAGE}`)
  const sendPage = (reply: FastifyReply): FastifyReply => {
    reply.header('cache-control', 'no-cache')
    return built ? reply.sendFile(PAGE, { cacheControl: false }) : reply.headers(headers).type('text/html; charset=utf-8').send(NOT_BUILT)
  }
  app.register(async (pages) => {
    if (built) {
      await pages.register(fastifyStatic, {
        root,
        prefix: `/${name}/`,
        // Every file has its own route, and its compressed forms are sent in its place.
        wildcard: false,
        index: false,
        globIgnore: [PAGE, '**/*.{br,gz}'],
        preCompressed: true,
        // Names of assets contain a hash of their content.
        immutable: true,
        maxAge: '365d',
        setHeaders: (reply) => reply.headers(headers),
      })
    }
    pages.get(`/${name}`, hide, (_request, reply) => sendPage(reply))
    pages.get<{ Params: { '*': string } }>(`/${name}/*`, hide, (request, reply) =>
      request.params['*'].startsWith('assets/') ? reply.callNotFound() : sendPage(reply),
    )
  })
}
