// Hosts the console's built pages under /console, with headers that let them run nothing but themselves.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

const BUILT = fileURLToPath(new URL('../../dist/console/', import.meta.url))
const PAGE = 'index.html'

// Pictures of cards lie on their sources' servers; everything else is our own.
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: https: http:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mintmark console</title>
<h1>The console is not built</h1><p>Run <code>npm ci</code> in the checkout, which builds it, and start again.</p></html>`

/** Registers the pages; unknown paths below /console get the first page, which finds its own way. */
export function addConsole(app: FastifyInstance): void {
  const hide = { schema: { hide: true } as object }
  const built = existsSync(`${BUILT}${PAGE}`)
  const sendPage = (reply: FastifyReply): FastifyReply => {
    reply.header('cache-control', 'no-cache')
    return built ? reply.sendFile(PAGE, { cacheControl: false }) : reply.headers(HEADERS).type('text/html; charset=utf-8').send(NOT_BUILT)
  }
  app.get('/', hide, (_request, reply) => reply.redirect('/console'))
  app.register(async (pages) => {
    if (built) {
      await pages.register(fastifyStatic, {
        root: BUILT,
        prefix: '/console/',
        // Every file has a route of its own, and its packed forms are sent in its place.
        wildcard: false,
        index: false,
        globIgnore: [PAGE, '**/*.{br,gz}'],
        preCompressed: true,
        // Names of assets change with their content.
        immutable: true,
        maxAge: '365d',
        setHeaders: (reply) => reply.headers(HEADERS),
      })
    }
    pages.get('/console', hide, (_request, reply) => sendPage(reply))
    pages.get<{ Params: { '*': string } }>('/console/*', hide, (request, reply) =>
      request.params['*'].startsWith('assets/') ? reply.callNotFound() : sendPage(reply),
    )
  })
}
